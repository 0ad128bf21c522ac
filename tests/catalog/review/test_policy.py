"""A team's own rules: what touches them, and in which words."""

from __future__ import annotations

from dataclasses import replace

from catalog.review.types import KnownReader, Policy, Rule
from tests.catalog.review.pairs import build, known, node, reviewed, sync

BEFORE = build(node("a", "select 1 as id"), node("b", "select 1 as id"))
AFTER = build(node("a", "select 1 as id where 1 = 0"), node("b", "select 1 as id"))
"""Of two tables, a changes."""


def required(rule: Rule, *readers: KnownReader) -> tuple[str, ...]:
    return reviewed(BEFORE, AFTER, known(*readers), Policy((rule,))).required


def test_a_rule_of_one_hidden_reader_is_not_touched_by_a_change_that_reaches_another() -> None:
    one, other = sync("Secret one", "a", hidden=True), sync("Secret other", "b", hidden=True)
    assert required(Rule("Secret other"), one, other) == ()
    assert len(required(Rule("Secret one"), one, other)) == 1


def test_a_rule_of_a_reader_is_not_touched_through_another_that_is_called_the_same() -> None:
    shared = sync("team/Copy", "a"), sync("b.Copy", "b")
    assert required(Rule("b.Copy"), *(replace(one, hidden=True) for one in shared)) == ()
    assert len(required(Rule("team/Copy"), *shared)) == 1


def test_the_reason_of_a_rule_ends_its_sentence_once() -> None:
    for reason in ("money", "money.", "money.."):
        assert required(Rule("a", reason)) == ("A change of a has to be acknowledged: money.",)
    assert required(Rule("a")) == ("A change of a has to be acknowledged.",)


def test_a_rule_that_means_nothing_here_is_told_once() -> None:
    found = reviewed(BEFORE, AFTER, known(), Policy((Rule("gone"), Rule("gone", "why"))))
    assert [note for note in found.notes if "gone" in note] == [
        "the rule of gone was not applied: no table here has this name"
    ]
