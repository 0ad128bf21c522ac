"""A comment stays within its budget, whole at each cut, and says what is left out."""

from __future__ import annotations

import re
import time
from dataclasses import replace

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from catalog.diff.row_set_types import RowSetChange
from catalog.lints.types import Finding, Place
from catalog.review.comment.budget import ROOM, Sheet, size
from catalog.review.comment.markdown import SMALLEST, render
from catalog.review.types import Change, Check, Person, Reached, Review
from tests.catalog.review.comments import assert_whole, links
from tests.catalog.review.reviews import FILTER, REVIEW, SYNC, of_many

pytestmark = pytest.mark.real

LINK = "https://spell.example.com/reviews/3"


def units(text: str) -> int:
    """UTF-16 code units, as JavaScript counts."""
    return len(text.encode("utf-16-le")) // 2


def test_two_thousand_changes_fit_quickly_with_the_summary_whole_and_the_rest_counted() -> None:
    review = of_many(2_000)
    started = time.perf_counter()
    text = render(review, link=LINK)
    assert time.perf_counter() - started < 1
    assert units(text) <= ROOM
    assert text.startswith(render(REVIEW).partition("3 changes")[0])
    assert "2,000 changes: 20 dangerous, 1,980 safe." in text
    assert "**Next reader:** Mirror sync" in text
    rows = len(re.findall(r"^\| (?:⛔|✅)", text, re.MULTILINE))
    left = re.search(r"^([\d,]+) more changes did not fit into this table \(([\d,]+) safe\)\.", text, re.MULTILINE)
    assert left is not None
    assert int(left[1].replace(",", "")) == 2_000 - rows
    assert links(text) == [LINK, LINK]
    assert_whole(text)


def test_details_that_do_not_fit_are_counted() -> None:
    review = replace(REVIEW, changes=tuple(replace(FILTER, name=f"m{number}") for number in range(2_000)))
    text = render(review)
    told = text.count("<details")
    assert f"The details of {2_000 - told:,} more changes did not fit into this comment." in text
    assert told > 10
    assert units(text) <= ROOM
    assert_whole(text)


@pytest.mark.parametrize("letter", ["a", "é", "|", "`", "<", "@", "𐍈", "😀", "\u202e", "$"])
def test_names_of_ten_thousand_letters_are_shortened_and_letters_of_four_bytes_fit(letter: str) -> None:
    long = letter * 10_000
    reader = replace(
        SYNC, name=long, tool=long, through=(long,) * 9, consequence=long, people={"operator": (long,) * 9}
    )
    change = replace(
        FILTER, name=long, unique_id=long, path=long, reasons=(long,) * 9, readers=(reader,) * 30, kinds=(long,) * 20,
        row_set=(RowSetChange(long, long, predicate=long, before=long, columns=((long, long),) * 9, note=long),) * 20,
        findings=(Finding(long, long, Place(3, long), long, (long,) * 9, long),) * 20, nearest=(long,) * 9,
        people=(Person(long, long),) * 9, checks=(Check(long, long, (long,), "", long),) * 20,
    )  # fmt: skip
    review = Review(
        "dangerous", (long,) * 9, (change,) * 300, (reader,) * 30, True, (long,) * 9, (Person(long, long),) * 9,
        (long,) * 50, (long,) * 9, long, REVIEW.at,
    )  # fmt: skip
    text = render(review, link=LINK)
    assert units(text) <= ROOM
    assert len(text) <= ROOM
    assert letter * 400 not in text
    assert "did not fit" in text
    assert_whole(text)


@pytest.mark.parametrize("budget", [2_000, 2_500, 4_000, 8_000, 16_000, 65_535])
@pytest.mark.parametrize("review", [REVIEW, of_many(500), Review("safe", (), ())], ids=["small", "large", "empty"])
def test_any_budget_is_kept_and_begins_with_the_verdict(budget: int, review: Review) -> None:
    text = render(review, budget=budget, link=LINK, acknowledged="Dana Reyes: " + "it is planned " * 20)
    assert units(text) <= budget
    assert text.startswith("## ")
    assert_whole(text)
    if review.changes:
        assert "**Next reader:**" in text


def test_a_budget_that_holds_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 2,000"):
        render(REVIEW, budget=SMALLEST - 1)


WORDS = st.text(max_size=30) | st.sampled_from(["</details>", "```", "|", "\n\n", "<summary>", "- x\n# y", "a" * 5_000])
WORD_LISTS = st.lists(WORDS, max_size=8).map(tuple)
READERS = st.builds(
    Reached, WORDS, WORDS, st.integers(0, 5), WORD_LISTS, WORDS, WORDS, WORDS, zone=WORDS, consequence=WORDS,
    people=st.dictionaries(WORDS, WORD_LISTS, max_size=2), hidden=st.booleans(), certain=st.booleans(),
)  # fmt: skip
CHANGES = st.builds(
    Change, WORDS, WORDS, WORDS, WORDS, st.sampled_from(["safe", "look", "dangerous"]), WORD_LISTS, WORDS, WORDS,
    WORD_LISTS,
    st.lists(st.builds(RowSetChange, WORDS, WORDS, predicate=WORDS, before=WORDS, note=WORDS), max_size=3).map(tuple),
    WORDS,
    st.lists(
        st.builds(Finding, WORDS, WORDS, st.builds(Place, st.none() | st.integers(1, 9), WORDS), WORDS, WORD_LISTS,
                  st.none() | WORDS),
        max_size=3,
    ).map(tuple),
    readers=st.lists(READERS, max_size=3).map(tuple),
    checks=st.lists(st.builds(Check, WORDS, WORDS, WORD_LISTS, WORDS, WORDS), max_size=3).map(tuple),
)  # fmt: skip
REVIEWS = st.builds(
    Review, st.sampled_from(["safe", "look", "dangerous"]), WORD_LISTS, st.lists(CHANGES, max_size=4).map(tuple),
    st.lists(READERS, max_size=3).map(tuple), st.booleans(), WORD_LISTS, st.just(()), WORD_LISTS, WORD_LISTS, WORDS,
)  # fmt: skip


@settings(max_examples=60, deadline=None, phases=[Phase.generate])
@given(REVIEWS, st.sampled_from([2_000, 5_000, ROOM]), WORDS)
def test_no_text_of_others_breaks_a_comment(review: Review, budget: int, acknowledged: str) -> None:
    text = render(review, budget=budget, link=LINK, acknowledged=acknowledged)
    assert units(text) <= budget
    assert set(links(text)) <= {LINK}
    assert_whole(text)


def test_the_size_is_that_of_utf_16() -> None:
    for text in ("abc", "é…", "😀a", "\U000e0041", ""):
        assert size(text) == units(text)


def test_a_block_that_does_not_fit_is_left_out_whole() -> None:
    sheet = Sheet(20)
    assert sheet.add("12345678")
    assert not sheet.add("123456789012")
    assert sheet.add_lines("head", ["1", "2", "3"], keep=2) == 1
    assert sheet.text() == "12345678\n\nhead\n1\n"
