"""The rows of a lineage: what is shown of each asset, and what is hidden of those in restricted domains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catalog.graph.answering import Who, everybody, first
from catalog.graph.damage_time import Reading
from catalog.graph.lineage_assets import Known
from catalog.graph.neighbours import Nodes
from catalog.graph.walks import Walk
from catalog.models import Asset
from foundation.canonical import timestamp

ROLES = ("owner", "operator")


@dataclass(frozen=True)
class LineageRow:
    """One asset of a lineage; `via` is the id of the asset before it on one shortest way from the start.

    Of a reader: `status` (standing, suggested), times, `mode`, `tool` (None where it is no sync), `delete_rule` (empty:
    not known, to be taken as the worst), `consequence`, `through`, the reader by whose copy it reads. `cycle`: a way
    leads from it back to itself. `hidden`: its name is not for the eyes that asked.
    """

    asset_id: int
    name: str
    namespace: str
    kind: str
    hops: int
    via: int
    via_name: str
    domain: str | None
    owner: str | None
    operator: str | None
    reader: bool
    status: str | None
    next_read: datetime | None
    last_useful_minute: datetime | None
    tool: str | None
    mode: str | None
    delete_rule: str
    consequence: str
    through: str | None
    cycle: bool
    hidden: bool

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON."""
        times = {name: getattr(self, name) for name in ("next_read", "last_useful_minute")}
        return {**vars(self), **{name: timestamp(at) if at else None for name, at in times.items()}}


class Rows:
    """Makes the rows of a walk's nodes; one query for every 500 says who answers for them."""

    def __init__(
        self, walk: Walk, readings: Mapping[int, Reading], is_reader: NDArray[np.bool_], hidden: frozenset[int]
    ) -> None:
        self.walk, self.readings, self.is_reader, self.hidden = walk, readings, is_reader, hidden

    def of(self, nodes: Nodes, found: Mapping[int, Known]) -> list[LineageRow]:
        """One row for each node, in their order; `found` has their assets and those before them."""
        graph = self.walk.graph
        ids, vias = graph.ids[nodes].tolist(), self.walk.via_of(nodes).tolist()
        people = everybody(ids, ROLES)
        hops, cyclic = self.walk.distance[nodes].tolist(), graph.cyclic[nodes].tolist()
        places = zip(nodes.tolist(), ids, vias, hops, cyclic, strict=True)
        return [
            self._row(node, found[pk], found[via], hop, cycle, people.get(pk, {}))
            for node, pk, via, hop, cycle in places
        ]

    def _row(
        self, node: int, asset: Known, via: Known, hops: int, cycle: bool, answers: Mapping[str, Sequence[Who]]
    ) -> LineageRow:
        owner, operator = (first(answers, role) for role in ROLES)
        reading, hidden = self.readings.get(node), asset.domain_id in self.hidden
        return LineageRow(
            asset_id=asset.pk,
            name=name_of(asset, self.hidden),
            namespace="" if hidden else asset.namespace,
            kind=asset.kind,
            hops=hops,
            via=via.pk,
            via_name=name_of(via, self.hidden),
            domain=None if hidden else asset.domain,
            owner=owner.name if owner else None,
            operator=operator.name if operator else None,
            cycle=cycle,
            hidden=hidden,
            **_reading(reading, hidden),
            through=name_of(via, self.hidden) if reading and self._copied(node) else None,
        )

    def _copied(self, node: int) -> bool:
        """Whether every shortest way comes by another reader: no table on one feeds it directly."""
        walk = self.walk
        near = (walk.graph.up if walk.direction == "down" else walk.graph.down).of_node(node)
        before = near[walk.distance[near] == walk.distance[node] - 1]
        return bool(walk.distance[node] > 1 and self.is_reader[before].all())


def name_of(asset: Known | Asset, hidden: frozenset[int]) -> str:
    """The name of an asset, or what it is where its domain is in `hidden`."""
    return f"a {asset.kind} of a restricted domain" if asset.domain_id in hidden else asset.name


def _reading(one: Reading | None, hidden: bool) -> dict[str, Any]:
    """What is shown of a reader; of a restricted one kind, mode and times stay, and what people wrote of it goes."""
    return {
        "reader": one is not None,
        "status": one.said.status if one else None,
        "next_read": one.next_read if one else None,
        "last_useful_minute": one.last_useful_minute if one else None,
        "tool": None if one is None or one.said.tool is None else "a tool" if hidden else one.said.tool,
        "mode": one.said.mode if one else None,
        "delete_rule": one.said.delete_rule or "" if one and not hidden else "",
        "consequence": one.said.consequence if one and not hidden else "",
    }
