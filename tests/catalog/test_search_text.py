"""Folding, words, trigrams and distance."""

from __future__ import annotations

import doctest
import random
from itertools import product

import pytest

from catalog.search import text as search_text
from catalog.search.text import LONGEST, distance, fold, name_words, trigrams, words


def test_the_examples_of_the_docstrings_hold() -> None:
    failed, tried = doctest.testmod(search_text)
    assert tried >= 5
    assert failed == 0


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", ()), (" - _ . ", ()), ("Orders ORDERS orders", ("orders",)), ("Überweisungen", ("uberweisungen",)),
        ("straße", ("strasse",)), ("売上高", ("売", "上", "高")), ("sum売上", ("sum", "売", "上")),
        ("заказы", ("заказы",)),
        ("हिन्दी", ("हिन्दी",)), ("한국어", ("한국어",)), ("a\0b", ("a", "b")), ("e-mail's", ("e", "mail", "s")),
        ("２０２６", ("2026",)),
    ],
)  # fmt: skip
def test_words_are_what_people_would_say(text: str, found: tuple[str, ...]) -> None:
    assert words(text) == found


def test_a_digest_as_a_word_is_cut() -> None:
    assert words("x" * 5000) == ("x" * LONGEST,)


def test_humps_of_a_name_are_words_of_their_own() -> None:
    assert name_words("dbo.HTTPServerLogs") == ("dbo", "httpserverlogs", "http", "server", "logs")
    assert name_words("ORDERS") == ("orders",)


def test_what_is_asked_folds_like_what_is_kept() -> None:
    letters = random.Random(3)  # noqa: S311
    for _ in range(500):
        text = "".join(
            chr(letters.choice((letters.randrange(32, 0x250), letters.randrange(0x300, 0x3100)))) for _ in range(12)
        )
        assert words(fold(text)) == words(text)
        assert all(" " not in word and '"' not in word and "'" not in word and "@" not in word for word in words(text))


def test_distance_is_that_of_a_plain_search_through_all_edits() -> None:
    for one, other in product(["", "a", "ab", "ba", "abc", "acb", "abd", "order"], repeat=2):
        assert distance(one, other, 2) == min(_plain(one, other), 3)


def _plain(one: str, other: str) -> int:
    if not one or not other:
        return len(one) + len(other)
    found = min(
        _plain(one[1:], other) + 1, _plain(one, other[1:]) + 1, _plain(one[1:], other[1:]) + (one[0] != other[0])
    )
    if len(one) > 1 and len(other) > 1 and one[0] == other[1] and one[1] == other[0]:
        found = min(found, _plain(one[2:], other[2:]) + 1)
    return found


def test_a_word_shares_trigrams_with_its_typo() -> None:
    assert len(trigrams("customers") & trigrams("custmers")) >= 4
