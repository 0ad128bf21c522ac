"""What a check run says on the lines of a pull request."""

from __future__ import annotations

from dataclasses import replace

from catalog.code_hosts.github.types import Annotation
from catalog.lints.types import Finding, Place
from catalog.review.comment.annotations import FAILURE, NOTICE, WARNING, line_annotations
from tests.catalog.review.reviews import COLUMN, FILTER, FINDING, REVIEW, TEXT


def test_a_finding_stands_on_its_line_and_a_change_without_one_on_the_first() -> None:
    assert line_annotations(REVIEW) == (
        Annotation(
            "models/staging/stg_app__accounts.sql",
            14,
            FAILURE,
            "Dangerous: stg_app__accounts can only drop rows",
            "(not a.is_internal) is NULL, not TRUE, where a.is_internal is NULL, and drops such rows silently.\n"
            "3,912 of 48,210 rows of app.accounts had NULL in is_internal, measured 2026-09-28 01:05 UTC\n"
            "Instead: a.is_internal is distinct from true",
        ),
        Annotation(
            "models/marts/dim_plan.sql",
            1,
            WARNING,
            "Look: dim_plan keeps the same rows",
            "The column tier is made of something else, and a dashboard reads it.",
        ),
    )


def test_paths_start_at_the_repository_when_the_project_is_in_a_folder() -> None:
    for folder in ("warehouse/dbt", "/warehouse/dbt/"):
        assert line_annotations(REVIEW, folder=folder)[0].path == "warehouse/dbt/models/staging/stg_app__accounts.sql"


def test_the_gravest_are_kept_when_there_are_too_many() -> None:
    changes = (*(replace(COLUMN, path=f"m{number}.sql") for number in range(30)), FILTER)
    found = line_annotations(replace(REVIEW, changes=changes), most=3)
    assert [one.level for one in found] == [FAILURE, WARNING, WARNING]


def test_no_line_is_graver_than_the_verdict_of_its_change() -> None:
    info = Finding("x", "info", Place(2, ""), "For information.")
    found = line_annotations(
        replace(
            REVIEW,
            changes=(replace(FILTER, verdict="look", findings=(info, FINDING)), replace(TEXT, findings=(FINDING,))),
        )
    )
    assert [one.level for one in found] == [WARNING, NOTICE, NOTICE]


def test_a_change_without_a_file_and_a_safe_one_without_a_finding_have_none() -> None:
    assert line_annotations(replace(REVIEW, changes=(replace(FILTER, path=""), TEXT))) == ()


def test_a_finding_whose_line_is_not_known_stands_on_the_first() -> None:
    found = line_annotations(replace(REVIEW, changes=(replace(FILTER, findings=(replace(FINDING, place=Place()),)),)))
    assert found[0].line == 1


def test_texts_stay_within_the_limits_and_are_masked_and_visible() -> None:
    long = replace(
        FILTER,
        name="n" * 10_000,
        findings=(replace(FINDING, sentence="sam@store.example \u202e" + "x" * 200_000, evidence=("y" * 9_000,) * 50),),
    )
    one = line_annotations(replace(REVIEW, changes=(long,)))[0]
    assert len(one.title) <= 255
    assert len(one.message.encode()) <= 64 * 1024
    assert one.message.startswith("s***@store… ⟨U+202E⟩x")
