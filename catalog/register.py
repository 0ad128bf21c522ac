"""The register of all readers, syncs first of all: what is known of each, and what is missing.

What an upper floor alone knows (which tables have a baseline) it gives as a function.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, TypeAlias

from catalog.damage_order import LIVE, urgency
from catalog.declared_readers import standing
from catalog.graph.answering import everybody
from catalog.models import Asset, Consumer, EdgeClaim, NodeClaim
from foundation import canonical
from foundation.bulk import chunks
from foundation.errors import BadInput
from foundation.people import display_name
from foundation.schedule import next_time

GAPS: Final = {
    "unknown_table": "reads a table that nobody knows",
    "no_times": "nobody said when it reads",
    "no_owner": "nobody answers for it",
    "no_operator": "nobody is named who can turn it off",
    "no_mode": "nobody said how it writes, so it counts as the worst",
    "no_delete_rule": "nobody said what it deletes, so it counts as the worst",
    "no_baseline": "a table that it reads has no baseline, so a wrong one would not be noticed",
    "suggested": "an agent suggested it, and nobody of the domain answered",
}
"""What may be missing, in words."""
ORDERS: Final = ("next", "name", "kind", "gaps")
SYNC_ONLY: Final = frozenset({"no_operator", "no_mode", "no_delete_rule"})
CHUNK: Final = 500

Baselines: TypeAlias = Callable[[Collection[int]], Collection[int]]
"""From ids of tables to those among them that have a baseline."""


@dataclass(frozen=True)
class Times:
    """When a reader reads next (UTC, None where that is not known), and what it does then; `tool` None: no sync."""

    next_read: datetime | None
    last_useful_minute: datetime | None
    tool: str | None
    mode: str | None
    delete_rule: str


@dataclass(frozen=True)
class RegisterRow:
    """One reader. `reads` are assets one edge above, `tables` the ids of the tables that it reads in the end, through
    other readers; `people` maps each role to who has it, persons by name, or as a label."""

    asset: Asset
    consumer: Consumer
    times: Times
    reads: tuple[Asset, ...]
    tables: frozenset[int]
    unmatched: tuple[str, ...]
    people: Mapping[str, tuple[str, ...]]
    gaps: tuple[str, ...]


@dataclass(frozen=True)
class RegisterPage:
    """`total` readers fit the question, of `every` that there are; `counts` says how many of all have each gap."""

    rows: tuple[RegisterRow, ...]
    total: int
    truncated: bool
    every: int
    syncs: int
    counts: Mapping[str, int]


def register(
    at: datetime,
    *,
    baselines: Baselines,
    gap: str = "",
    syncs: bool = False,
    order: str = "next",
    descending: bool = False,
    offset: int = 0,
    limit: int | None = 100,
) -> RegisterPage:
    """The readers that stand or are suggested, with next reads after `at`; `limit` None gives all.

    `gap` keeps those in which it is missing, `syncs` the syncs. A constant number of queries for each 500 readers.
    BadInput for an unknown gap or order.
    """
    if gap and gap not in GAPS:
        raise BadInput(f"What may be missing is one of {', '.join(GAPS)}, not {gap[:60]}.")
    if order not in ORDERS:
        raise BadInput(f"The readers are ordered by one of {', '.join(ORDERS)}, not {order[:60]}.")
    every = _rows(at, baselines)
    fits = [row for row in every if (not gap or gap in row.gaps) and (not syncs or row.times.tool is not None)]
    fits.sort(key=lambda row: _order(row, order), reverse=descending)
    end = None if limit is None else offset + limit
    return RegisterPage(
        rows=tuple(fits[offset:end]),
        total=len(fits),
        truncated=end is not None and end < len(fits),
        every=len(every),
        syncs=sum(row.times.tool is not None for row in every),
        counts={name: sum(name in row.gaps for row in every) for name in GAPS},
    )


def row_as_dict(row: RegisterRow, *, named: Callable[[Asset], str]) -> dict[str, Any]:
    """Plain JSON of one reader; `named` says what an asset is called to whoever reads it."""
    seen = named(row.asset) == row.asset.name
    consumer, times = row.consumer, row.times
    return {
        "asset_id": row.asset.pk,
        "name": named(row.asset),
        "kind": row.asset.kind,
        "domain": row.asset.domain.key if row.asset.domain and seen else None,
        "status": consumer.status,
        "origin": consumer.origin,
        "tool": times.tool if seen else None,
        "mode": times.mode,
        "delete_rule": times.delete_rule if seen else None,
        "cron": consumer.cron or None,
        "zone": consumer.zone,
        "triggered_by_api": consumer.triggered_by_api,
        "next_read": canonical.timestamp(times.next_read) if times.next_read else None,
        "last_useful_minute": canonical.timestamp(times.last_useful_minute) if times.last_useful_minute else None,
        "consequence": consumer.consequence if seen else None,
        "contact": consumer.contact if seen else None,
        "reads": [named(asset) for asset in row.reads],
        "unmatched": list(row.unmatched) if seen else [],
        "people": {role: list(names) for role, names in row.people.items()},
        "approved_by": display_name(consumer.approved_by.principal) if consumer.approved_by else None,
        "approved_at": canonical.timestamp(consumer.approved_at) if consumer.approved_at else None,
        "suggested_by": display_name(consumer.suggested_by) if consumer.suggested_by else None,
        "gaps": list(row.gaps),
    }


def _rows(at: datetime, baselines: Baselines) -> list[RegisterRow]:
    present = NodeClaim.objects.filter(removed_in__isnull=True, asset__consumer__status__in=LIVE)
    consumers = _consumers(sorted(set(present.values_list("asset_id", flat=True))))
    times = _times(consumers, at)
    above, assets = _edges()
    people, missing = everybody(list(consumers)), _unmatched()
    tables = {pk: _tables(pk, above, times.keys()) for pk in consumers}
    guarded = set(baselines(set().union(*tables.values())))
    rows = []
    for pk, consumer in consumers.items():
        who = {role: tuple(one.name for one in listed) for role, listed in people.get(pk, {}).items()}
        reads = tuple(assets[one] for one in sorted(above.get(pk, ())))
        lost = tuple(missing.get(pk, ()))
        gaps = _gaps(consumer, times[pk], who, reads, lost, tables[pk], guarded)
        rows.append(RegisterRow(consumer.asset, consumer, times[pk], reads, tables[pk], lost, who, gaps))
    return rows


def _gaps(
    consumer: Consumer,
    times: Times,
    who: Mapping[str, Sequence[str]],
    reads: Sequence[Asset],
    lost: Sequence[str],
    tables: frozenset[int],
    guarded: Collection[int],
) -> tuple[str, ...]:
    missing = {
        "unknown_table": bool(lost) or not reads,
        "no_times": not consumer.cron and not consumer.triggered_by_api,
        "no_owner": "owner" not in who,
        "no_operator": "operator" not in who,
        "no_mode": times.mode in (None, "unknown"),
        "no_delete_rule": not times.delete_rule and times.mode != "append",  # what is appended removes nothing
        "no_baseline": not tables or any(pk not in guarded for pk in tables),
        "suggested": consumer.status == "suggested",
    }
    sync = times.tool is not None or consumer.asset.kind == "sync"
    return tuple(name for name in GAPS if missing[name] and (sync or name not in SYNC_ONLY))


def _order(row: RegisterRow, order: str) -> tuple[Any, ...]:
    name = (row.asset.name.casefold(), row.asset.pk)
    if order == "next":
        times = row.times
        late = urgency(times.next_read, times.mode, row.asset.kind, row.consumer.consequence, times.last_useful_minute)
        return (*late, *name)
    return {"name": name, "kind": (row.asset.kind, *name), "gaps": (-len(row.gaps), *name)}[order]


def _consumers(ids: Sequence[int]) -> dict[int, Consumer]:
    related = (
        "asset__domain", "sync", "approved_by__principal__name_row",
        "suggested_by__name_row",
    )  # fmt: skip
    found: dict[int, Consumer] = {}
    for chunk in chunks(ids, CHUNK):
        rows = Consumer.objects.filter(asset__in=chunk).select_related(*related)
        found.update({row.asset_id: row for row in rows})
    return found


def _times(consumers: Mapping[int, Consumer], at: datetime) -> dict[int, Times]:
    known: dict[tuple[str, str], datetime | None] = {}
    found = {}
    for pk, one in consumers.items():
        schedule, sync = (one.cron, one.zone), getattr(one, "sync", None)
        if schedule not in known:
            known[schedule] = next_time(*schedule, at)
        read = None if one.triggered_by_api else known[schedule]
        until = read - timedelta(seconds=one.lead_seconds) if read else None
        tool, mode, rule = (sync.tool, sync.mode, sync.delete_rule) if sync else (None, None, "")
        found[pk] = Times(read, until, tool, mode, rule)
    return found


def _edges() -> tuple[dict[int, set[int]], dict[int, Asset]]:
    """What stands one edge above each reader, by asset id, and the assets that stand there."""
    rows = EdgeClaim.objects.filter(removed_in__isnull=True, to_asset__consumer__status__in=LIVE)
    above: dict[int, set[int]] = defaultdict(set)
    for start, end in rows.values_list("from_asset_id", "to_asset_id"):
        above[end].add(start)
    fed = Asset.objects.filter(
        edges_out__removed_in__isnull=True, edges_out__to_asset__consumer__status__in=LIVE
    ).distinct()
    return dict(above), {asset.pk: asset for asset in fed.select_related("domain")}


def _tables(pk: int, above: Mapping[int, Collection[int]], readers: Collection[int]) -> frozenset[int]:
    """The tables that a reader reads in the end: readers between are passed through, cycles end."""
    seen, waiting, found = {pk}, [pk], set()
    while waiting:
        for one in above.get(waiting.pop(), ()):
            if one in seen:
                continue
            seen.add(one)
            if one in readers:
                waiting.append(one)
            else:
                found.add(one)
    return frozenset(found)


def _unmatched() -> dict[int, list[str]]:
    found: dict[int, list[str]] = defaultdict(list)
    for pk, names in _names(standing().values_list("asset_id", "attributes")):
        found[pk] += [name for name in names if name not in found[pk]]
    return found


def _names(rows: Iterable[tuple[int, Mapping[str, Any]]]) -> Iterable[tuple[int, list[str]]]:
    return ((pk, attributes.get("unmatched", [])) for pk, attributes in rows)
