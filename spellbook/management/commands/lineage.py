from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from catalog.graph.adjacency import Direction
from catalog.models import Asset
from catalog.selectors import ancestors, descendants, full_name, version_for
from foundation.audit import Actor
from spellbook import asking
from spellbook.eyes import eyes_of, named
from spellbook.management import base
from spellbook.sentences import counted
from spellbook.sight import Sight


class Command(base.Command):
    help = "Lists what feeds an asset (up), what it feeds (down), or both, nearest first; with --column of one column."

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("asset", metavar="ASSET")
        parser.add_argument("--direction", choices=["up", "down", "both"], default="both")
        parser.add_argument("--hops", metavar="N", type=base.at_least_one, help="no further than this")
        parser.add_argument("--column", metavar="NAME", help="what this column is made of, and what is made of it")

    def run(self, actor: Actor, **options: Any) -> base.Answer:
        if options["column"] is not None:
            return _of_column(options, actor)
        sight = eyes_of(actor)
        asset = named(options["asset"], sight)
        direction = options["direction"]
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
            "nodes": [_node(*one, sight) for one in near],
        }

    def text(self, answer: base.Answer) -> str:
        if "column" in answer:
            return "\n".join(_column_lines(answer))
        head = f"{answer['asset']}: {counted(answer['total'], 'asset')} {answer['direction']}"
        rows = [f"  {one['direction']}  {one['hops']}  {one['kind']}  {one['name']}" for one in answer["nodes"]]
        return "\n".join([head, *rows])


def _node(direction: str, asset: Asset, hops: int, sight: Sight) -> dict[str, Any]:
    name = sight.name(asset)
    return {"asset_id": asset.pk, "name": name, "kind": asset.kind, "hops": hops, "direction": direction}


def _of_column(options: dict[str, Any], actor: Actor) -> base.Answer:
    """One direction: the walk as it is; both: their lists under `up` and `down`, totals together."""
    wanted: list[Direction] = ["up", "down"] if options["direction"] == "both" else [options["direction"]]
    asked = options["asset"], options["column"]
    answers = [asking.column_lineage(*asked, way, actor=actor, hops=options["hops"]) for way in wanted]
    if len(answers) == 1:
        return answers[0]
    up, down = answers
    shared = {name: down[name] for name in ("asset", "asset_id", "column", "graph_version", "reason")}
    truncated = up["truncated"] or down["truncated"]
    total = up["total"] + down["total"]
    return {**shared, "direction": "both", "total": total, "truncated": truncated, "up": up, "down": down}


def _column_lines(answer: base.Answer) -> list[str]:
    found = counted(answer["total"], "column")
    lines = [f"{answer['asset']}, column {answer['column']}: {found} {answer['direction']}"]
    for one in [answer[way] for way in ("up", "down") if way in answer] or [answer]:
        way = one["direction"]
        lines += [f"  {way}  {step['hops']}  {_column(step)}  {_how(step)}" for step in one["nodes"]]
        lines += [
            f"  {way}  {row['hops']}  rows of {_name(row)} are decided by {_column(row['by'])}" for row in one["rows"]
        ]
        lines += [
            f"  {way}  {other['hops']}  {_name(other)}, only the table: {other['reason']}" for other in one["fallback"]
        ]
    return [*lines, *([answer["reason"]] if answer["reason"] else [])]


def _how(step: dict[str, Any]) -> str:
    sure = f", {step['confidence']} % sure" if step["confidence"] < 100 else ""
    return f"{step['kind']}{sure}"


def _column(one: dict[str, Any]) -> str:
    return f"{_name(one)}.{one['column'] or '?'}" if one["name"] else _name(one)


def _name(one: dict[str, Any]) -> str:
    return str(one["name"] or "an asset of a restricted domain")
