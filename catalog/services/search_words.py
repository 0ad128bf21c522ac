"""The words that a typo may have meant, each with its trigrams; only what is new is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from catalog.models import SearchTrigram, SearchWord
from catalog.search.source import Row
from catalog.search.text import trigrams
from foundation import bulk

SHORTEST, LONGEST, DIGITS = 3, 40, 3


def learn(changed: Sequence[Row], before: Mapping[int, Row]) -> None:
    """Keep the words of names and columns that entries have now and did not have before. Inside a transaction."""
    old = {word for row in changed if row.asset_id in before for word in _of(before[row.asset_id])}
    told = {word for row in changed for word in _of(row)} - old
    wanted = sorted(word for word in told if is_spelled(word))
    known = set(SearchWord.objects.filter(word__in=bulk.among(wanted)).values_list("word", flat=True))
    _keep([word for word in wanted if word not in known])


def is_spelled(word: str) -> bool:
    """Whether somebody may type it wrong: digests, numbers and very short words are not what people try to spell."""
    return SHORTEST <= len(word) <= LONGEST and sum(map(str.isdigit, word)) <= DIGITS and not word.isdigit()


def _of(row: Row) -> set[str]:
    return {*row.name_words.split(), *row.column_words.split()}


def _keep(new: Sequence[str]) -> None:
    if not new:
        return
    bulk.insert(SearchWord, ["word"], [(word,) for word in new], ignore=True)
    ids = dict(SearchWord.objects.filter(word__in=bulk.among(new)).values_list("word", "pk"))
    rows = [(gram, len(word), ids[word]) for word in new for gram in sorted(trigrams(word))]
    bulk.insert(SearchTrigram, ["gram", "size", "word_id"], rows, ignore=True)
