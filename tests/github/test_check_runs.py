"""Check runs with their remarks on lines, and commit statuses."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from catalog.code_hosts.github import checks
from catalog.code_hosts.github.checks import Report
from catalog.code_hosts.github.types import Annotation
from foundation.errors import BadInput, NotAllowed, NotFound, Unavailable
from tests.github.double import Double, Trouble
from tests.github.fixtures import by_app, by_token, open_github
from tests.github.world import Check

NOTE = Annotation("models/ümläut 名.sql", 3, "warning", "Rows vanish", "`is_internal` is NULL in 3 rows.")
ZERO = "0" * 40


@pytest.fixture
def sha(github: Double) -> str:
    """The head of pull request 1."""
    github.world.commit("main", {"a": "1"})
    return github.world.head_of(github.world.open_pull({"a": "2"}))


def report(**said: Any) -> Report:
    """A report; `annotations` as a list."""
    return Report(**{**said, "annotations": tuple(said.get("annotations", ()))})


def check_of(github: Double, check_id: int) -> Check:
    return github.world.checks[check_id]


def test_a_check_run_carries_its_report_and_is_found_again(github: Double, sha: str) -> None:
    with open_github(by_app(github)) as client:
        assert client.may_check
        assert client.find_check_run(sha, "Spellbook", "digest-1") is None
        made = client.create_check_run(
            sha,
            report(
                conclusion="failure",
                title="Dangerous",
                summary="Why",
                annotations=[NOTE],
                details_url="https://spellbook.example.org/reviews/1",
            ),
            name="Spellbook",
            external_id="digest-1",
        )
        assert client.find_check_run(sha, "Spellbook", "digest-1") == made
        assert client.find_check_run(sha, "Spellbook", "digest-2") is None
        assert client.find_check_run(sha, "Other", "digest-1") is None
        client.update_check_run(made, report(conclusion="neutral", title="Acknowledged", summary="By somebody"))
    check = check_of(github, made)
    assert (check.head_sha, check.values["external_id"], check.values["status"]) == (sha, "digest-1", "completed")
    assert (check.values["conclusion"], check.values["output"]["title"]) == ("neutral", "Acknowledged")
    assert check.annotations == [
        {
            "path": "models/ümläut 名.sql", "start_line": 3, "end_line": 3, "annotation_level": "warning",
            "title": "Rows vanish", "message": "`is_internal` is NULL in 3 rows.",
        }
    ]  # fmt: skip


def test_a_check_run_in_progress_has_no_conclusion_and_no_report(github: Double, sha: str) -> None:
    with open_github(by_app(github)) as client:
        made = client.create_check_run(sha, report(status="in_progress"), name="Spellbook")
    assert check_of(github, made).values == {"name": "Spellbook", "head_sha": sha, "status": "in_progress"}


@pytest.mark.parametrize(("count", "requests"), [(50, 1), (51, 2), (123, 3)])
def test_annotations_are_sent_in_fifties_each_once_and_in_order(
    github: Double, sha: str, count: int, requests: int
) -> None:
    notes = [replace(NOTE, line=line) for line in range(1, count + 1)]
    with open_github(by_app(github)) as client:
        made = client.create_check_run(
            sha, report(conclusion="failure", title="t", summary="s", annotations=notes), name="Spellbook"
        )
    assert [note["start_line"] for note in check_of(github, made).annotations] == list(range(1, count + 1))
    assert check_of(github, made).values["output"]["summary"] == "s"
    assert len(github.asked("/check-runs")) == requests


def test_texts_too_long_for_github_are_cut_and_say_so(
    github: Double, sha: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checks, "MOST", 60)
    long = replace(NOTE, title="名" * 300, message="名" * 40_000)
    notes = [long] + [NOTE] * 64
    with open_github(by_app(github)) as client:
        made = client.create_check_run(
            sha, report(conclusion="failure", title="t" * 300, summary="s" * 70_000, annotations=notes), name="x"
        )
    output = check_of(github, made).values["output"]
    assert len(output["summary"]) == 65_535
    assert output["summary"].endswith("(The rest does not fit here.)\n\n(5 more annotations do not fit here.)")
    assert len(output["title"]) == 255
    first = check_of(github, made).annotations[0]
    assert len(first["message"].encode()) <= 64 * 1024
    assert first["message"].endswith("(The rest does not fit here.)")
    assert len(first["title"]) == 255
    assert len(check_of(github, made).annotations) == 60


def test_an_annotation_whose_path_leads_nowhere_is_left_out_and_said(github: Double, sha: str) -> None:
    """A manifest of a stranger, or of Windows, does not keep the verdict from being said."""
    notes = [replace(NOTE, path=path) for path in ("../etc/passwd", "/a", "", "models\\b.sql", "a\0b", "models/c.sql")]
    with open_github(by_app(github)) as client:
        made = client.create_check_run(
            sha, report(conclusion="failure", title="t", summary="s", annotations=notes), name="x"
        )
    assert [note["path"] for note in check_of(github, made).annotations] == ["models/b.sql", "models/c.sql"]
    summary = check_of(github, made).values["output"]["summary"]
    assert summary == "s\n\n(4 annotations name no file of the repository.)"


def test_text_that_is_not_unicode_is_not_sent(github: Double, sha: str) -> None:
    with open_github(by_token(github)) as client, pytest.raises(BadInput, match="not Unicode"):
        client.create_comment(1, "half \ud800")
    assert github.seen == []


@pytest.mark.parametrize(
    "said",
    [
        {"conclusion": "bad"}, {"status": "done"}, {"status": "completed"}, {"conclusion": None},
        {"status": "queued", "conclusion": "success"}, {"conclusion": "stale"},
        {"conclusion": "success", "summary": "without a title"},
        {"conclusion": "success", "title": "t", "annotations": [replace(NOTE, level="error")]},
        {"conclusion": "success", "title": "t", "annotations": [replace(NOTE, line=0)]},
        {"conclusion": "success", "title": "t", "annotations": [replace(NOTE, message=" ")]},
        {"conclusion": "success", "title": "t", "annotations": [NOTE] * 60 + [replace(NOTE, level="")]},
    ],
)  # fmt: skip
def test_a_report_that_github_would_refuse_is_refused_before_anything_is_sent(
    github: Double, sha: str, said: dict[str, Any]
) -> None:
    with open_github(by_app(github)) as client:
        with pytest.raises(BadInput):
            client.create_check_run(sha, report(**said), name="x")
        with pytest.raises(BadInput):
            client.update_check_run(1, report(**said))
        with pytest.raises(BadInput):
            client.create_check_run("main", report(conclusion="success"), name="x")
        with pytest.raises(BadInput):
            client.create_check_run(sha, report(conclusion="success"), name="")
    assert github.seen == []


def test_a_commit_that_github_does_not_know_is_said_in_its_words(github: Double, sha: str) -> None:
    with open_github(by_app(github)) as client:
        with pytest.raises(BadInput, match=f"Validation Failed; No commit found for SHA: {ZERO}"):
            client.create_check_run(ZERO, report(conclusion="success"), name="x")
        with pytest.raises(NotFound):
            client.update_check_run(77, report(conclusion="success"))


def test_a_check_run_of_another_app_is_not_ours(github: Double, sha: str) -> None:
    github.world.checks[5] = Check(5, 1, sha, {"name": "Spellbook", "external_id": "digest-1"})
    with open_github(by_app(github)) as client:
        assert client.find_check_run(sha, "Spellbook", "digest-1") is None


def test_a_token_writes_no_check_run_but_a_status(github: Double, sha: str) -> None:
    with open_github(by_token(github)) as client:
        assert not client.may_check
        assert client.find_check_run(sha, "x", "y") is None
        with pytest.raises(NotAllowed, match="GitHub App"):
            client.create_check_run(sha, report(conclusion="success"), name="x")
        client.set_status(sha, state="failure", context="Spellbook", description="d" * 200, details_url="https://x.y/z")
        with pytest.raises(BadInput):
            client.set_status(sha, state="bad", context="Spellbook", description="")  # type: ignore[arg-type]
        with pytest.raises(BadInput):
            client.set_status(sha, state="success", context="", description="")
    status = {"state": "failure", "context": "Spellbook", "target_url": "https://x.y/z", "sha": sha}
    assert github.world.statuses == [{**status, "description": "d" * 139 + "…"}]


def test_what_is_cut_off_after_fifty_is_found_again(github: Double, sha: str) -> None:
    github.troubles.append(Trouble(502, on="PATCH"))
    with open_github(by_app(github)) as client:
        with pytest.raises(Unavailable, match="not known whether it was done"):
            client.create_check_run(
                sha, report(conclusion="failure", title="t", annotations=[NOTE] * 60), name="x", external_id="e"
            )
        found = client.find_check_run(sha, "x", "e")
    assert found is not None
    assert len(check_of(github, found).annotations) == 50
    assert len(github.asked("PATCH")) == 1
