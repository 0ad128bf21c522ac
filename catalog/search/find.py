"""Searching the catalogue by names, columns, descriptions, owners and tags, with help against typos.

Order: the exact name, names that begin so, names that hold the words, then what holds them elsewhere; within each by
name, but the last, of more than 5000 hits, as they came into the catalogue: whoever gets so many asks for more words,
and sorting them takes longer than finding them. A word matches at its beginning. Every answer tells how many there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from django.db.models import F, QuerySet

from catalog.models import Asset
from catalog.search.asked import Asked, asked
from catalog.search.pool import Pool, pool
from catalog.search.rows import Found, found
from catalog.search.spelling import suggestions
from foundation.errors import BadInput
from foundation.models import Person

__all__ = ["SORTS", "Found", "SearchPage", "Sort", "find"]

Sort = Literal["", "name", "-name", "kind", "-kind", "domain", "-domain"]
SORTS: tuple[Sort, ...] = ("", "name", "-name", "kind", "-kind", "domain", "-domain")
MOST = 500  # rows of one page
MANY = 5000  # hits of which the last ones are not worth sorting


@dataclass(frozen=True)
class SearchPage:
    """One page of what was found.

    `total` counts everything that this person may see; `truncated` says that there is more than these rows. `named`:
    whether anything has the words in its name. `did_you_mean` holds texts that find something, when this one does not.
    `behind`: something was changed that the index has not read yet; it is found by its plain name and description.
    """

    total: int
    truncated: bool
    rows: tuple[Found, ...]
    did_you_mean: tuple[str, ...] = ()
    named: bool = False
    behind: bool = False
    offset: int = field(default=0)


def find(
    text: str,
    person: Person | None,
    *,
    kinds: Sequence[str] = (),
    domains: Sequence[str] = (),
    owner: Person | None = None,
    sort: Sort = "",
    offset: int = 0,
    limit: int = 50,
) -> SearchPage:
    """What `person` may see and `text` describes; an empty text means everything.

    `person` None is the installation itself, which sees everything. `kinds` and `domains` (keys; "" is none) and
    `owner` narrow; `sort` orders by a column in place of relevance, "-" turns it round. At most 500 rows. BadInput for
    a text that no name could hold, an unknown order, or a page that cannot be.
    """
    if sort not in SORTS or offset < 0 or not 0 <= limit <= MOST:
        raise BadInput(f"A page begins at 0 or later, has at most {MOST} rows, and is ordered by name, kind or domain.")
    wanted = asked(text)
    among = pool(person, kinds=kinds, domains=domains, owner=owner)
    total = among.count(wanted)
    ids = _sorted(wanted, among, sort, offset, limit) if sort else _ranked(wanted, among, total, offset, limit)
    rows = found(ids, wanted)
    told = not total or (bool(rows) and not offset and not sort)  # a name that matches stands on top of the first page
    return SearchPage(
        total=total,
        truncated=offset + len(rows) < total,
        rows=rows,
        did_you_mean=suggestions(wanted, among) if not total and wanted.text else (),
        named=any(row.named for row in rows) or (not told and bool(wanted.text) and among.names_hold(wanted)),
        behind=among.behind,
        offset=offset,
    )


def _ranked(wanted: Asked, among: Pool, total: int, offset: int, limit: int) -> list[int]:
    """One tier after the other: the first ones come from indexes in order, so most pages need no sorting at all."""
    ids: list[int] = []
    skip = offset
    for tier in among.tiers(wanted, many=total > MANY):
        room = limit - len(ids)
        if not room:
            break
        got: list[int] = list(tier[skip : skip + room])
        ids += got
        skip = 0 if got or not skip else max(0, skip - tier.count())
    return ids


def _sorted(wanted: Asked, among: Pool, sort: Sort, offset: int, limit: int) -> list[int]:
    back = sort.startswith("-")
    keys = {"name": [], "kind": [F("kind")], "domain": [F("domain__key")]}[sort.lstrip("-")]
    first = [key.desc(nulls_last=True) if back else key.asc(nulls_last=True) for key in keys]
    name = F("search_entry__name")
    names = name.desc(nulls_last=True) if back and not keys else name.asc(nulls_last=True)
    rows: QuerySet[Asset] = among.assets(wanted).order_by(*first, names, "pk")
    return list(rows.values_list("pk", flat=True)[offset : offset + limit])
