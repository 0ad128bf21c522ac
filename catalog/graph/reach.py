"""The blast radius of an asset: everything that it feeds, and when the next reader reads.

The answer is one frozen value with the graph version it was computed on; floors above store it with its digest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np

from catalog import selectors
from catalog.damage_order import LIVE, urgency
from catalog.graph.adjacency import adjacency
from catalog.graph.answering import Who, everybody, first
from catalog.graph.walks import Walk
from catalog.models import Asset, Consumer
from catalog.next_reads import last_useful_minute, next_read
from foundation import canonical
from foundation.bulk import chunks
from foundation.errors import BadInput
from foundation.models import Person
from foundation.people import display_name

MOST_NODES = 2000
"""More assets than this are counted, not listed; readers are always listed."""

CHUNK = 500
ROLES = ("operator", "owner", "business_owner", "tool_admin")


@dataclass(frozen=True)
class Reach:
    """What an asset reaches. `total` counts all assets reached; `truncated` says that not all of them are listed."""

    asset: str
    asset_id: int
    graph_version: int
    total: int
    truncated: bool
    next_read: str | None
    nodes: tuple[Mapping[str, Any], ...]
    edges: tuple[tuple[int, int], ...]
    consumers: tuple[Mapping[str, Any], ...]

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON of integers, text, true, false and null."""
        return {
            "asset": self.asset,
            "asset_id": self.asset_id,
            "graph_version": self.graph_version,
            "total": self.total,
            "truncated": self.truncated,
            "next_read": self.next_read,
            "nodes": [dict(node) for node in self.nodes],
            "edges": [list(edge) for edge in self.edges],
            "consumers": [dict(consumer) for consumer in self.consumers],
        }

    @property
    def digest(self) -> str:
        """SHA-256 of the RFC 8785 form of `as_dict()`."""
        return canonical.digest(self.as_dict())


def reach(asset: Asset, *, at: datetime, hops: int | None = None) -> Reach:
    """Everything that `asset` feeds within `hops` edges (default: all), with the next reads after `at`.

    Nodes come nearest first, then by id; `via` is the asset before it on one shortest way. Consumers come by time to
    damage (`catalog.graph.damage_time`), those whose time is not known last. An asset that was removed from the graph
    is answered for as of the last version that knew it. BadInput for a hop limit below 1.
    """
    if hops is not None and hops < 1:
        raise BadInput("The number of hops is at least 1.")
    walk = adjacency(selectors.version_for(asset)).walk(asset.pk, "down", hops)
    listed = walk.nodes[:MOST_NODES]
    ids = walk.graph.ids[listed].tolist()
    assets = selectors.assets_by_id(ids)
    near = list(zip(ids, walk.hops.tolist(), walk.via_of(listed).tolist(), strict=False))
    consumers = _consumers(walk, at)
    return Reach(
        asset=selectors.full_name(asset),
        asset_id=asset.pk,
        graph_version=walk.graph.version,
        total=walk.total,
        truncated=len(ids) < walk.total,
        next_read=next((consumer["next_read"] for consumer in consumers), None),
        nodes=tuple(_node(assets[pk], hop, via) for pk, hop, via in near),
        edges=tuple(walk.graph.edges(np.concatenate([walk.found[:1], listed]))),
        consumers=tuple(consumers),
    )


def _node(asset: Asset, hops: int, via: int) -> dict[str, Any]:
    return {"asset_id": asset.pk, "name": asset.name, "kind": asset.kind, "hops": hops, "via": via}


def _consumers(walk: Walk, at: datetime) -> list[dict[str, Any]]:
    found = _reached(walk)
    names = {pk: consumer.asset.name for pk, consumer in found.items()}
    people = everybody(list(found))
    nodes = walk.graph.nodes(np.array(list(found), dtype=np.int64))
    ways = zip(found, walk.distance[nodes].tolist(), walk.via_of(nodes).tolist(), strict=True)
    described = [
        _consumer(found[pk], hop, via, through(walk, pk, names), people.get(pk, {}), at) for pk, hop, via in ways
    ]
    return sorted(described, key=_order)


def _reached(walk: Walk) -> dict[int, Consumer]:
    """The live readers in the walk by asset id, in ascending order of it."""
    live = Consumer.objects.filter(status__in=LIVE)
    ids = np.array(live.order_by("asset_id").values_list("asset_id", flat=True), dtype=np.int64)
    nodes = walk.graph.nodes(ids)
    reached = ids[(nodes >= 0) & (walk.distance[nodes] > 0)].tolist() if len(walk) else []
    related = ("asset__domain", "sync", "approved_by__principal__name_row")
    found: dict[int, Consumer] = {}
    for chunk in chunks(reached, CHUNK):
        rows = live.filter(asset__in=chunk).select_related(*related)
        found.update({row.asset_id: row for row in rows.order_by("asset_id")})
    return found


def through(walk: Walk, pk: int, readers: Mapping[int, str]) -> str | None:
    """The reader through which a shortest way reaches this one; None when a table on such a way feeds it directly.

    `readers` maps the asset ids of the readers to their names.
    """
    before = walk.before(pk)
    if not before or any(one not in readers for one in before):
        return None
    return readers[before[0]]


def _order(one: Mapping[str, Any]) -> tuple[Any, ...]:
    harm = urgency(one["next_read"], one["mode"], one["kind"], one["consequence"], one["last_useful_minute"])
    return (*harm, one["hops"], one["name"], one["asset_id"])


def _consumer(
    consumer: Consumer, hops: int, via: int, by: str | None, people: Mapping[str, Sequence[Who]], at: datetime
) -> dict[str, Any]:
    read = next_read(consumer, at)
    last = last_useful_minute(consumer, read)
    sync = getattr(consumer, "sync", None)
    return {
        **_node(consumer.asset, hops, via),
        "status": consumer.status,
        "through": by,
        "tool": sync.tool if sync else None,
        "mode": sync.mode if sync else None,
        "delete_rule": sync.delete_rule if sync else None,
        "consequence": consumer.consequence,
        "next_read": canonical.timestamp(read) if read else None,
        "lead_seconds": consumer.lead_seconds,
        "last_useful_minute": canonical.timestamp(last) if last else None,
        **{role: _person(first(people, role)) for role in ROLES},
        "approved_by": _approver(consumer.approved_by),
    }


def _person(who: Who | None) -> dict[str, Any] | None:
    return {"person_id": who.person_id, "name": who.name} if who is not None and who.person_id is not None else None


def _approver(person: Person | None) -> dict[str, Any] | None:
    return None if person is None else {"person_id": person.pk, "name": display_name(person.principal)}
