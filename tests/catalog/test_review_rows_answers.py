"""What a pull request is told: never longer than its host takes, and nothing that others wrote does anything there."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from catalog.models import PullRequest, Review
from catalog.review.comment.budget import size
from catalog.services.reviewing import answers
from catalog.services.reviewing.answers import Acknowledged
from catalog.services.reviewing.keeping import digest_of
from catalog.services.reviewing.storable import storable

ROW = PullRequest(number=7, head_sha="a" * 40)
HOSTILE = "@channel [x](http://evil.example) <img src=x> $$ a@b.example.org \u202e `"


def review(verdict: str = "dangerous", **more: Any) -> Review:
    fields: dict[str, Any] = {"needs_answer": verdict == "dangerous", "markdown": "## All", "document": {}} | more
    return Review(pull_request=ROW, verdict=verdict, **fields)


@pytest.mark.parametrize(
    ("verdict", "answered", "conclusion", "state"),
    [
        ("safe", False, "success", "success"),
        ("look", False, "neutral", "success"),
        ("dangerous", False, "failure", "failure"),
        ("dangerous", True, "neutral", "success"),
    ],
)
def test_a_verdict_becomes_a_conclusion_and_a_status(verdict: str, answered: bool, conclusion: str, state: str) -> None:
    found = answers.reviewed(ROW, review(verdict), answered, [])
    assert (found.conclusion, found.state, found.status) == (conclusion, state, "completed")


def test_a_rule_fails_the_check_of_a_safe_change_until_it_is_answered() -> None:
    assert answers.reviewed(ROW, review("look", needs_answer=True), False, []).conclusion == "failure"
    assert answers.reviewed(ROW, review("look", needs_answer=True), True, []).conclusion == "neutral"


def test_what_is_not_known_never_succeeds() -> None:
    waiting, failed = answers.waiting(ROW, "http://x"), answers.failed(ROW, "No manifest.", "http://x")
    assert (waiting.conclusion, waiting.status, waiting.state) == (None, "in_progress", "pending")
    assert (failed.conclusion, failed.state) == ("failure", "failure")
    assert (waiting.comment, failed.comment) == ("", "")  # nothing was said before that would have to be corrected


def test_the_longest_review_with_many_acknowledgements_fits_a_comment() -> None:
    people = [Acknowledged(HOSTILE * 5, "now", "$" * 500)] * 20
    found = answers.reviewed(ROW, review(markdown="🙂" * 30_600), False, people)
    assert size(found.comment) <= answers.LONGEST
    assert len(found.summary) < answers.LONGEST
    assert "and 17 more" in found.comment
    assert found.comment.startswith(answers.marker(ROW))


def test_words_of_others_neither_notify_nor_link_nor_hide() -> None:
    said = review(document={"reasons": [HOSTILE]})
    found = answers.reviewed(ROW, said, False, [Acknowledged(HOSTILE, "now", HOSTILE)])
    assert "@channel" not in found.comment
    assert "x](http" not in found.comment
    assert " <img" not in found.comment
    assert "a@b.example.org" not in found.comment
    for text in (found.comment, found.title):
        assert "\u202e" not in text
        assert "a@b.example.org" not in text
    assert len(found.title) <= answers.TITLE


def test_the_answer_is_posted_again_when_anything_of_it_differs() -> None:
    found = answers.reviewed(ROW, review(), False, [])
    same = answers.reviewed(ROW, review(), False, [])
    assert found.digest("a") == same.digest("a")
    assert found.digest("b") != found.digest("a")
    assert replace(found, conclusion="neutral").digest("a") != found.digest("a")
    assert replace(found, comment="x").digest("a") != found.digest("a")
    assert found.remarks("a") != found.remarks("b")


def test_times_and_sentences_do_not_make_another_review_and_facts_do() -> None:
    one = {"verdict": "look", "at": "1", "changes": [{"name": "a", "reasons": ["in 5 min"], "direction": "x"}]}
    two = {"verdict": "look", "at": "2", "changes": [{"name": "a", "reasons": ["in 4 min"], "direction": "x"}]}
    assert digest_of(one) == digest_of(two)
    assert digest_of(one | {"verdict": "safe"}) != digest_of(one)
    assert digest_of({"share": 0.5}) != digest_of({"share": 0.25})


def test_what_no_database_takes_is_written_otherwise() -> None:
    assert storable({"a\0": ["\ud800", ("b",), 1, None]}) == {"a\ufffd": ["?", ["b"], 1, None]}
