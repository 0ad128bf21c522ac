"""Joins: what they add to FROM, the columns of USING, and the conditions that decide rows."""

from __future__ import annotations

from sqlglot import exp

from catalog.column_lineage.expressions import sources_in
from catalog.column_lineage.frames import Frame
from catalog.column_lineage.from_items import take
from catalog.column_lineage.values import Value, either


def take_all(item: exp.Expr, frame: Frame) -> list[str]:
    """Take `item` with what is joined to it inside its own brackets; the aliases of all."""
    inner = item.this if isinstance(item, exp.Subquery) and isinstance(item.this, exp.Table) else item
    before = set(frame.relations)
    take(inner, frame)
    for one in [*(inner.args.get("joins") or ()), *((item.args.get("joins") or ()) if inner is not item else ())]:
        join(one, frame)
    return [name for name in frame.relations if name not in before]


def join(node: exp.Expr, frame: Frame) -> None:
    """Take the joined relation into `frame`."""
    if str(node.args.get("kind")) == "ARRAY":  # ClickHouse: an array of the rows so far
        frame.aliases[node.this.alias_or_name.casefold()] = frame.unqualified(node.this.unalias().name) or Value()
        return
    before = list(frame.relations)
    added = take_all(node.this, frame)
    if {str(node.args.get(name, "")).upper() for name in ("kind", "side")} & {"SEMI", "ANTI"}:
        frame.hidden |= set(added)
    for name in _using(node, before, added, frame):
        _merge(name, node, before, added, frame)
    on = node.args.get("on")
    if on is not None:
        frame.rows |= sources_in([on], frame)


def _using(node: exp.Expr, before: list[str], added: list[str], frame: Frame) -> list[str]:
    given = [one.name for one in node.args.get("using") or ()]
    if given or str(node.args.get("method", "")).upper() != "NATURAL":
        return given
    left = {name.casefold() for alias in before for name, _ in frame.relations[alias].columns}
    return [name for alias in added for name, _ in frame.relations[alias].columns if name.casefold() in left]


def _merge(name: str, node: exp.Expr, before: list[str], added: list[str], frame: Frame) -> None:
    """The one column that USING makes of two: the side's that always has it, both for a full join."""
    key = name.casefold()
    left = [frame.merged[key]] if key in frame.merged else _columns(name, before, frame)
    right = _columns(name, added, frame)
    side = str(node.args.get("side", "")).upper()
    kept = right if side == "RIGHT" else [*left, *right] if side == "FULL" else left
    frame.rows |= {source for value in [*left, *right] for source in value.sources}
    if kept or left or right:
        frame.merged[key] = either(kept or left or right)


def _columns(name: str, aliases: list[str], frame: Frame) -> list[Value]:
    """The column of that name in these relations; one that is listed goes before one that may be there."""
    relations = [frame.relations[alias] for alias in aliases]
    listed = [value for relation in relations if (value := relation.known(name)) is not None]
    return listed or [value for relation in relations if (value := relation.column(name)) is not None]
