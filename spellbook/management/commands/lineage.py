from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from catalog.models import Asset
from catalog.selectors import ancestors, descendants, find_asset, full_name, version_for
from foundation.audit import Actor
from spellbook.management import base


class Command(base.Command):
    help = "Lists what feeds an asset (up), what it feeds (down), or both, nearest first."

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("asset", metavar="ASSET")
        parser.add_argument("--direction", choices=["up", "down", "both"], default="both")
        parser.add_argument("--hops", metavar="N", type=base.at_least_one, help="no further than this")

    def run(self, actor: Actor, **options: Any) -> base.Answer:
        asset, direction = find_asset(options["asset"]), options["direction"]
        found = [("up", *pair) for pair in ancestors(asset)] if direction != "down" else []
        found += [("down", *pair) for pair in descendants(asset)] if direction != "up" else []
        near = [one for one in found if options["hops"] is None or one[2] <= options["hops"]]
        return {
            "asset": full_name(asset),
            "asset_id": asset.pk,
            "graph_version": version_for(asset),
            "direction": direction,
            "total": len(found),
            "truncated": len(near) < len(found),
            "nodes": [_node(*one) for one in near],
        }

    def text(self, answer: base.Answer) -> str:
        head = f"{answer['asset']}: {answer['total']} assets {answer['direction']}"
        rows = [f"  {one['direction']}  {one['hops']}  {one['kind']}  {one['name']}" for one in answer["nodes"]]
        return "\n".join([head, *rows])


def _node(direction: str, asset: Asset, hops: int) -> dict[str, Any]:
    return {"asset_id": asset.pk, "name": asset.name, "kind": asset.kind, "hops": hops, "direction": direction}
