"""One found asset, and where in it the words were."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from catalog.models import Asset, ColumnList, SearchEntry
from catalog.search.asked import Asked
from catalog.search.text import name_words

Rank = Literal["", "exact", "prefix", "name", "columns", "text", "unread"]


@dataclass(frozen=True)
class Found:
    """An asset, by what it was found, and the columns that hold a word which its name does not.

    `rank`: exact (the name is the text), prefix (it begins so), name (it holds the words), columns, text (description,
    owner, domain, tag or namespace), unread (the index does not know it yet), or nothing when everything was asked for.
    """

    asset: Asset
    rank: Rank
    columns: tuple[str, ...] = ()

    @property
    def named(self) -> bool:
        """Whether the name alone holds what was asked."""
        return self.rank in ("exact", "prefix", "name")


def found(ids: Sequence[int], asked: Asked) -> tuple[Found, ...]:
    """The assets of `ids` in their order, with their domains; three queries."""
    assets = Asset.objects.select_related("domain__owner").in_bulk(ids)
    entries = SearchEntry.objects.in_bulk(ids) if asked.text else {}
    ranks = {pk: _rank(pk, entries.get(pk), asked) for pk in ids}
    missing = {pk: _missing(entries[pk], asked) for pk in entries if ranks[pk] == "text"}
    lists = dict(ColumnList.objects.filter(asset__in=missing).values_list("asset_id", "items")) if missing else {}
    columns = {pk: _columns(lists.get(pk, []), words) for pk, words in missing.items()}
    return tuple(_found(assets[pk], ranks[pk], columns.get(pk, ())) for pk in ids if pk in assets)


def _found(asset: Asset, rank: Rank, columns: tuple[str, ...]) -> Found:
    return Found(asset, "columns" if columns else rank, columns)


def _rank(pk: int, entry: SearchEntry | None, asked: Asked) -> Rank:
    if not asked.text:
        return ""
    if entry is None:
        return "unread"
    if pk in asked.whole or asked.folded in (entry.tail, entry.name):
        return "exact"
    if entry.tail.startswith(asked.folded) or entry.name.startswith(asked.folded):
        return "prefix"
    return "text" if _missing(entry, asked) else "name"


def _missing(entry: SearchEntry, asked: Asked) -> list[str]:
    """The words that the name does not hold."""
    held = entry.name_words.split()
    return [word for word in asked.words if not any(one.startswith(word) for one in held)]


def _columns(items: Sequence[Mapping[str, Any]], words: Sequence[str]) -> tuple[str, ...]:
    names = [str(item["name"]) for item in items]
    return tuple(name for name in names if any(one.startswith(word) for one in name_words(name) for word in words))
