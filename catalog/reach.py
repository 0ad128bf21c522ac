"""The blast radius of an asset: everything that it feeds, and when the next reader reads.

The answer is one frozen value with the graph version it was computed on; floors above store it with its digest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from catalog import selectors
from catalog.adjacency import Adjacency, adjacency
from catalog.models import Asset, AssetRole, Consumer
from catalog.selectors import DECLARED
from catalog.services.next_reads import last_useful_minute, next_read
from foundation import canonical
from foundation.errors import BadInput
from foundation.models import Person
from foundation.people import display_name

MOST_NODES = 2000
"""More assets than this are counted, not listed; readers are always listed."""


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

    Consumers are sorted by next read, those whose time is not known last. An asset that was removed from the graph is
    answered for as of the last version that knew it. BadInput for a hop limit below 1.
    """
    if hops is not None and hops < 1:
        raise BadInput("The number of hops is at least 1.")
    graph = adjacency(selectors.version_for(asset))
    walk = graph.walk(asset.pk, "down")
    distance = dict(zip(walk.ids.tolist(), walk.hops.tolist(), strict=True))
    near = {pk: hop for pk, hop in distance.items() if hops is None or hop <= hops}
    listed = list(near)[:MOST_NODES]
    consumers = _consumers(graph, near, at)
    assets = selectors.assets_by_id(listed)
    return Reach(
        asset=selectors.full_name(asset),
        asset_id=asset.pk,
        graph_version=graph.version,
        total=len(distance),
        truncated=len(listed) < len(distance),
        next_read=next((consumer["next_read"] for consumer in consumers), None),
        nodes=tuple(_node(assets[pk], near[pk]) for pk in listed),
        edges=_edges(graph, [asset.pk, *listed]),
        consumers=tuple(consumers),
    )


def _node(asset: Asset, hops: int) -> dict[str, Any]:
    return {"asset_id": asset.pk, "name": asset.name, "kind": asset.kind, "hops": hops}


def _edges(graph: Adjacency, ids: Sequence[int]) -> tuple[tuple[int, int], ...]:
    inside = set(ids)
    return tuple((pk, child) for pk in ids for child in graph.neighbours(pk, "down") if child in inside)


def _consumers(graph: Adjacency, distance: Mapping[int, int], at: datetime) -> list[dict[str, Any]]:
    found = {consumer.asset_id: consumer for consumer in _declared(list(distance))}
    names = {pk: consumer.asset.name for pk, consumer in found.items()}
    people = _people([consumer.asset for consumer in found.values()])
    described = [
        _consumer(consumer, distance[pk], _through(graph, pk, distance, names), people.get(pk, {}), at)
        for pk, consumer in found.items()
    ]
    return sorted(
        described, key=lambda one: (one["next_read"] is None, one["next_read"] or "", one["hops"], one["name"])
    )


def _declared(ids: Sequence[int]) -> list[Consumer]:
    found: list[Consumer] = []
    related = ("asset__domain__owner__principal", "sync", "approved_by__principal")
    for start in range(0, len(ids), 500):
        found += Consumer.objects.filter(asset__in=ids[start : start + 500]).select_related(*related)
    return found


def _through(graph: Adjacency, pk: int, distance: Mapping[int, int], consumers: Mapping[int, str]) -> str | None:
    """The reader through which a shortest way reaches this one; None when a table on such a way feeds it directly."""
    before = [one for one in graph.neighbours(pk, "up") if distance.get(one, 0) == distance[pk] - 1]
    if distance[pk] == 1 or any(one not in consumers for one in before):
        return None
    return consumers[before[0]]


def _people(assets: Sequence[Asset]) -> dict[int, dict[str, Person]]:
    """The first active person of each role of each asset; its domain's owner where nobody is named."""
    found: dict[int, dict[str, Person]] = {
        asset.pk: {"owner": asset.domain.owner}
        for asset in assets
        if asset.domain is not None and asset.domain.owner is not None and asset.domain.owner.is_active
    }
    for start in range(0, len(assets), 500):
        roles = AssetRole.objects.filter(asset__in=assets[start : start + 500], person__is_active=True)
        for role in sorted(
            roles.select_related("person__principal"), key=lambda one: (one.source == DECLARED, -one.pk)
        ):
            if role.person is not None:
                found.setdefault(role.asset_id, {})[role.role] = role.person
    return found


def _consumer(
    consumer: Consumer, hops: int, through: str | None, people: Mapping[str, Person], at: datetime
) -> dict[str, Any]:
    read = next_read(consumer, at)
    sync = getattr(consumer, "sync", None)
    return {
        **_node(consumer.asset, hops),
        "through": through,
        "tool": sync.tool if sync else None,
        "mode": sync.mode if sync else None,
        "delete_rule": sync.delete_rule if sync else None,
        "consequence": consumer.consequence,
        "next_read": canonical.timestamp(read) if read else None,
        "lead_seconds": consumer.lead_seconds,
        "last_useful_minute": canonical.timestamp(last_useful_minute(consumer, read)) if read else None,
        "operator": _person(people.get("operator")),
        "owner": _person(people.get("owner")),
        "business_owner": _person(people.get("business_owner")),
        "tool_admin": _person(people.get("tool_admin")),
        "approved_by": _person(consumer.approved_by),
    }


def _person(person: Person | None) -> dict[str, Any] | None:
    return None if person is None else {"person_id": person.pk, "name": display_name(person.principal)}
