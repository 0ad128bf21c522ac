"""Every word of ours has words for people, and times are told so that nobody has to count."""

from __future__ import annotations

import ast
import inspect
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from catalog.diff import compare, manifests, row_set_types
from catalog.diff.row_set_types import RowSetChange
from catalog.lints import types as lint_types
from catalog.review import words
from catalog.review.comment.rows import row_set_line
from catalog.review.moments import distance, moment
from catalog.review.types import VERDICTS
from catalog.words import MODES, ROLES

AT = datetime(2026, 9, 28, 5, 13, tzinfo=UTC)
DIRECTIONS = [value for name, value in vars(row_set_types).items() if name.isupper() and isinstance(value, str)]


def documented_kinds() -> list[str]:
    """The kinds that the classifier's docstring lists."""
    listed = inspect.getdoc(RowSetChange) or ""
    start = listed.index("`kind`:")
    return re.findall(r"\b[a-z]+(?:_[a-z]+)+\b|unknown", listed[start : listed.index("`direction`", start)])


def kinds_in_code() -> set[str]:
    """Every string in the classifier's modules that has the form of a kind."""
    folder = Path(inspect.getfile(row_set_types)).parent
    ends = ("_added", "_removed", "_changed", "_renamed", "_retyped", "_reexpressed", "_reordered")
    found = set()
    for path in folder.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.endswith(ends):
                found.add(node.value)
    return {kind for kind in found if not kind.startswith("_") and re.fullmatch("[a-z_]+", kind)}


def test_every_kind_of_difference_that_is_documented_or_used_has_words() -> None:
    assert len(documented_kinds()) > 25
    assert set(documented_kinds()) | kinds_in_code() == set(words.ROW_SET)


def test_every_direction_has_words() -> None:
    assert set(DIRECTIONS) == set(words.DIRECTIONS)


def test_every_kind_of_change_of_an_entry_has_words() -> None:
    listed = (inspect.getdoc(compare.node_changes) or "").partition("Kinds: ")[2].partition(", which dbt")[0]
    kinds = {kind.removeprefix("and ").split(" ")[0] for kind in re.split(r",\s+", listed)}
    yielded = set(re.findall(r'yield "(\w+)"', inspect.getsource(compare)))
    assert kinds | yielded | manifests.BEYOND_DBT | {"macro", "file"} == set(words.CHANGES)


def test_every_verdict_severity_certainty_mode_and_role_has_words() -> None:
    assert set(VERDICTS) == set(words.VERDICTS)
    assert {lint_types.DANGEROUS, lint_types.LOOK, lint_types.INFO} == set(words.SEVERITIES)
    assert {lint_types.CERTAIN, lint_types.POSSIBLE} == set(words.CERTAINTIES)
    assert set(MODES) - {"unknown"} == set(words.MODES)
    assert set(ROLES) == set(words.ROLES)


@pytest.mark.parametrize("kind", sorted(words.ROW_SET))
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_no_difference_is_told_in_our_own_words(kind: str, direction: str) -> None:
    line = row_set_line(RowSetChange(kind=kind, direction=direction))
    assert "_" not in line
    assert line[0].isupper()
    assert line.endswith(".")


def test_an_unknown_word_is_told_by_its_letters_alone() -> None:
    assert words.said(words.ROW_SET, "pivot_<b>added") == "pivot b added"
    assert words.signed(words.VERDICTS, "odd_one") == ("❔", "Odd one")
    assert words.signed(words.VERDICTS, "") == ("❔", "Unknown")


def test_numbers_have_separators_and_the_right_plural() -> None:
    assert words.counted(1, "reader") == "1 reader"
    assert words.counted(2_000, "reader") == "2,000 readers"
    assert words.counted(0, "entry", "entries") == "0 entries"


@pytest.mark.parametrize(
    ("hour", "zone", "said"),
    [
        (6, "America/New_York", "Mon 28 Sep 02:00 America/New_York (06:00 UTC)"),
        (2, "America/New_York", "Sun 27 Sep 22:00 America/New_York (Mon 28 Sep 02:00 UTC)"),
        (6, "UTC", "Mon 28 Sep 06:00 UTC"),
        (6, "Africa/Abidjan", "Mon 28 Sep 06:00 Africa/Abidjan"),
        (6, "Nowhere/Else", "Mon 28 Sep 06:00 UTC"),
        (6, "../../etc/passwd", "Mon 28 Sep 06:00 UTC"),
        (6, "", "Mon 28 Sep 06:00 UTC"),
        (22, "Asia/Tokyo", "Tue 29 Sep 07:00 Asia/Tokyo (Mon 28 Sep 22:00 UTC)"),
    ],
)
def test_a_time_is_told_there_and_in_utc_with_its_day(hour: int, zone: str, said: str) -> None:
    assert moment(datetime(2026, 9, 28, hour, tzinfo=UTC), zone) == said


@pytest.mark.parametrize(
    ("away", "said"),
    [
        (timedelta(seconds=20), "0 min"),
        (timedelta(minutes=119), "119 min"),
        (timedelta(hours=2), "2 h"),
        (timedelta(hours=5, minutes=10, seconds=59), "5 h 10 min"),
        (timedelta(days=3, hours=2), "3 days"),
        (timedelta(days=1_500), "1,500 days"),
    ],
)
def test_a_distance_is_told_in_the_unit_that_a_person_takes(away: timedelta, said: str) -> None:
    assert distance(away) == said
