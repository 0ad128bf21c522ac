"""`*` and `t.*` in a select list, with what is left out, put in another's place or renamed."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeAlias

from sqlglot import exp

from catalog.column_lineage.expressions import value_of
from catalog.column_lineage.frames import Frame
from catalog.column_lineage.relations import Relation, Rest, merged
from catalog.column_lineage.values import Value, of_tables

Outputs: TypeAlias = tuple[list[tuple[str, Value]], Rest | None]


def expand(item: exp.Expr, frame: Frame) -> Outputs:
    """The columns that a starred select item stands for, and the rest of those whose columns are not known."""
    star = item.this if isinstance(item, exp.Column) else item
    columns, rest = _all(item.table if isinstance(item, exp.Column) else "", frame)
    if not any(star.args.values()):  # most are; a wide table must not be gone through again
        frame.context.spend(len(columns))
        return columns, rest
    left_out = {one.name.casefold() for one in star.args.get("except_") or ()}
    renames = {one.this.name.casefold(): one for one in star.args.get("rename") or ()}
    replaced = {one.alias.casefold(): (one.alias, value_of(one, frame)) for one in star.args.get("replace") or ()}
    frame.context.spend(len(columns))
    keyed = [(name.casefold(), name, value) for name, value in columns]
    listed = [
        (renames[key].alias if key in renames else name, replaced.get(key, (name, value))[1])
        for key, name, value in keyed
        if key not in left_out
    ]
    if rest is None:
        return listed, None
    names = {key for key, _, _ in keyed}
    found = {one.alias: rest.named(one.this.name) for key, one in renames.items() if key not in names}
    found |= {name: value for key, (name, value) in replaced.items() if key not in names}
    listed += [(name, value) for name, value in found.items() if value is not None]
    return listed, replace(rest, without=rest.without | left_out | set(renames) | set(replaced))


def _all(alias: str, frame: Frame) -> Outputs:
    if alias:
        return _of_alias(alias, frame)
    shown = {name: one for name, one in frame.relations.items() if name not in frame.hidden}
    columns: list[tuple[str, Value]] = []
    once: set[str] = set()
    for relation in shown.values():
        for name, value in relation.columns:
            key = name.casefold()
            if key in frame.merged and key in once:
                continue
            once.add(key)
            columns.append((name, frame.merged.get(key, value)))
    # A column of USING belongs to both sides, also where neither side's columns are listed.
    columns += [(name, value) for name, value in frame.merged.items() if name not in once]
    return columns, merged((one.rest for one in shown.values()), frozenset(frame.merged))


def _of_alias(alias: str, frame: Frame) -> Outputs:
    relation = frame.relation(alias) or _struct(alias, frame)
    return list(relation.columns), merged([relation.rest])


def _struct(name: str, frame: Frame) -> Relation:
    """`s.*` of a struct column: its fields are not known, but all of them are in that column."""
    value = frame.unqualified(name)
    if value is None:
        value = of_tables((), 20, f"{name[:100]}.* was not found")
    return Relation(rest=Rest(value=value))
