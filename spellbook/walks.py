"""Lineage and blast radius as machines get them: JSON of integers and text, names as the eyes allow.

Of what stands in a restricted domain the name, and what people wrote of it, are hidden; count, kind, owner and next
read never are (D1).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from catalog.graph import lineage
from catalog.graph.adjacency import Direction
from catalog.graph.reach import reach
from catalog.models import Asset
from catalog.selectors import assets_by_id
from spellbook.sight import Sight

MOST_READERS = 1000
WRITTEN = {"tool": "a tool", "consequence": "", "delete_rule": "", "contact": ""}
"""What people wrote of a reader, and what stands there instead when its name is hidden."""


def walk(
    asset: Asset,
    direction: Direction,
    *,
    at: datetime,
    sight: Sight,
    hops: int | None = None,
    kinds: Sequence[str] = (),
    offset: int = 0,
    limit: int = 100,
) -> dict[str, Any]:
    """One page of `catalog.graph.lineage` as plain JSON."""
    page = lineage.page(
        asset, direction=direction, at=at, hops=hops, kinds=tuple(kinds), offset=offset, limit=limit,
        hidden=sight.hidden_domains,
    )  # fmt: skip
    found: dict[str, Any] = page.as_dict()
    return found


def blast_radius(
    asset: Asset, *, at: datetime, sight: Sight, hops: int | None = None, limit: int | None = None
) -> dict[str, Any]:
    """`catalog.graph.reach` with at most `limit` nodes and the edges between them, and the first MOST_READERS readers,
    which `readers` counts."""
    whole = veiled(reach(asset, at=at, hops=hops).as_dict(), sight)
    nodes = whole["nodes"][:limit]
    kept = {asset.pk, *(one["asset_id"] for one in nodes)}
    return {
        **whole,
        "nodes": nodes,
        "readers": len(whole["consumers"]),
        "consumers": whole["consumers"][:MOST_READERS],
        "truncated": whole["truncated"] or len(nodes) < len(whole["nodes"]) or len(whole["consumers"]) > MOST_READERS,
        "edges": [edge for edge in whole["edges"] if set(edge) <= kept],
    }


def veiled(reached: Mapping[str, Any], sight: Sight) -> dict[str, Any]:
    """A reach with the names hidden that these eyes may not read."""
    if not sight.hidden_domains:
        return dict(reached)
    ids = [one["asset_id"] for part in ("nodes", "consumers") for one in reached[part]]
    hidden = {pk: one for pk, one in assets_by_id(ids).items() if not sight.sees(one)}
    names = {one.name: sight.name(one) for one in hidden.values()}
    return {
        **reached,
        "nodes": [_hidden(one, hidden, sight) for one in reached["nodes"]],
        "consumers": [
            _hidden({**one, "through": names.get(one["through"], one["through"])}, hidden, sight)
            for one in reached["consumers"]
        ],
    }


def _hidden(one: Mapping[str, Any], hidden: Mapping[int, Asset], sight: Sight) -> dict[str, Any]:
    asset = hidden.get(one["asset_id"])
    if asset is None:
        return dict(one)
    return {**one, "name": sight.name(asset), **{key: text for key, text in WRITTEN.items() if one.get(key)}}
