"""A review as JSON fits its schema, and the schema names every field."""

from __future__ import annotations

import json
from dataclasses import fields
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from catalog.diff.row_set_types import RowSetChange
from catalog.lints.types import Finding, Place
from catalog.review.as_document import as_dict
from catalog.review.engine import review
from catalog.review.known.knowledge import gather
from catalog.review.types import Change, Check, Person, Reached, Review
from catalog.sources.manifest import read
from tests.catalog.review.reviews import BOARD, FINDING, SYNC
from tests.spellbook.package_repo import shop

SCHEMA: dict[str, Any] = json.loads((Path(__file__).parents[3] / "docs" / "schemas" / "review-1.json").read_bytes())
VALID = Draft202012Validator(SCHEMA, format_checker=Draft202012Validator.FORMAT_CHECKER)
DEFS = SCHEMA["$defs"]


@pytest.mark.parametrize(
    ("found", "kind"),
    [
        (SCHEMA, Review), (DEFS["change"], Change), (DEFS["row_set"], RowSetChange), (DEFS["finding"], Finding),
        (DEFS["finding"]["properties"]["place"], Place), (DEFS["reader"], Reached), (DEFS["person"], Person),
        (DEFS["check"], Check),
    ],
)  # fmt: skip
def test_the_schema_names_every_field(found: dict[str, Any], kind: Any) -> None:
    names = {one.name for one in fields(kind)}
    assert set(found["properties"]) - {"format"} == names
    assert set(found["required"]) - {"format"} == names


def test_a_review_of_two_manifests_is_plain_json_that_fits_the_schema() -> None:
    base, head = read(shop()), read(shop("where not is_internal"))
    found = as_dict(review(base, head, gather(base, head), at=datetime(2026, 9, 28, 5, tzinfo=UTC)))
    VALID.validate(found)
    assert json.loads(json.dumps(found)) == found
    assert found["changes"][0]["findings"]


def test_times_are_in_utc_and_sets_are_sorted() -> None:
    east = datetime(2026, 9, 28, 7, tzinfo=timezone(timedelta(hours=2)))
    change = Change("model.a.b", "b", "model", "modified", "look", ("why",), only_columns=frozenset("cab"))
    found = as_dict(Review("look", ("why",), (change,), (SYNC, BOARD), at=east))
    assert (found["at"], found["changes"][0]["only_columns"]) == ("2026-09-28T05:00:00+00:00", ["a", "b", "c"])
    assert found["readers"][0]["people"] == {"operator": ["Sam Okafor"]}
    assert as_dict(Review("safe", (), ()))["at"] is None
    VALID.validate(found)
    VALID.validate(
        as_dict(Review("dangerous", (), (Change("a", "a", "model", "added", "safe", (), findings=(FINDING,)),)))
    )
