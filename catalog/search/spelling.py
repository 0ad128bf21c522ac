"""What a text that finds nothing may have meant: near words by shared trigrams, tried until something is found.

The trigrams are rows of our own, one code for both engines, since neither the embedded PostgreSQL nor SQLite has an
extension for it. A suggestion is only made when it finds something that this person may see.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice, product

from django.db.models import Count

from catalog.models import SearchTrigram, SearchWord
from catalog.search.asked import Asked
from catalog.search.engine import Wanted
from catalog.search.pool import Pool
from catalog.search.text import distance, trigrams

SHOWN = 3
NEAR = 60  # words that share most trigrams and are compared letter by letter
EACH = 4  # ways to write one word
TRIES = 12  # texts that are tried
TYPED = 6  # words of a text that are looked at


def suggestions(asked: Asked, among: Pool) -> tuple[str, ...]:
    """Up to three texts near `asked` that find something in `among`, the nearest first."""
    words = asked.words
    if not 0 < len(words) <= TYPED:
        return ()
    tries = islice(_ways(asked, among), TRIES)
    told = (_written(asked.folded, words, way) for way in tries if among.holds(_wanted(asked, way)))
    return tuple(islice(dict.fromkeys(told), SHOWN))


def near(word: str) -> list[str]:
    """Known words that may be meant by `word`, the nearest first; the word itself is not among them."""
    most = 1 if len(word) <= 4 else 2
    shared = Count("pk")
    rows = SearchTrigram.objects.filter(
        gram__in=trigrams(word), size__gte=len(word) - most, size__lte=len(word) + most
    ).values("word").annotate(shared=shared).order_by("-shared", "word")[:NEAR]  # fmt: skip
    known = SearchWord.objects.filter(pk__in=[row["word"] for row in rows]).values_list("word", flat=True)
    steps = {one: distance(word, one, most) for one in known if one != word}
    return sorted((one for one, far in steps.items() if far <= most), key=lambda one: (steps[one], one))


def _ways(asked: Asked, among: Pool) -> Iterator[tuple[str, ...]]:
    """The words of the text, with near ones in place of those that find nothing by themselves."""
    choices = [
        [one.word] if _is_known(one.word) or among.holds([one]) else [*near(one.word), *_apart(one.word)][:EACH]
        for one in asked.wanted
    ]
    yield from sorted(product(*choices), key=lambda way: sum(map(_far, asked.words, way)))


def _wanted(asked: Asked, way: Sequence[str]) -> list[Wanted]:
    """What the index is asked for a way; a word that stays keeps its marks, and two in place of one are two."""
    pairs = zip(asked.wanted, way, strict=True)
    return [one for old, text in pairs for one in ([old] if old.word == text else map(Wanted, text.split()))]


def _far(word: str, other: str) -> int:
    return distance(word, other, 3)


def _is_known(word: str) -> bool:
    """Whether a name or column begins with it, which costs less to ask than what holds it."""
    return SearchWord.objects.filter(word__startswith=word).exists()


def _apart(word: str) -> Iterator[str]:
    """The word as two known ones."""
    pairs = [(word[:place], word[place:]) for place in range(3, len(word) - 2)]
    parts = {part for pair in pairs for part in pair}
    known = set(SearchWord.objects.filter(word__in=parts).values_list("word", flat=True))
    yield from (f"{one} {other}" for one, other in pairs if one in known and other in known)


def _written(text: str, words: Sequence[str], way: Sequence[str]) -> str:
    """The text with the words of `way` in the places of its own."""
    for word, other in zip(words, way, strict=True):
        text = re.sub(rf"(?<![^\W_]){re.escape(word)}(?![^\W_])", other.replace("\\", ""), text, count=1)
    return text
