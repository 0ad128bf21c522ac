"""Joins that were added, removed or changed between two SELECTs at the same place."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from catalog.diff.row_set_types import CAN_MULTIPLY, CAN_ONLY_ADD, CAN_ONLY_DROP, UNKNOWN, RowSetChange
from catalog.diff.selects import columns_in, conjuncts, hollow, key

_ADDED = {"left": CAN_MULTIPLY, "semi": CAN_ONLY_DROP, "anti": CAN_ONLY_DROP}
_REMOVED = {"left": CAN_ONLY_DROP, "semi": CAN_ONLY_ADD, "anti": CAN_ONLY_ADD}
_RETYPED = {
    ("inner", "left"): CAN_ONLY_ADD, ("left", "inner"): CAN_ONLY_DROP, ("left", "full"): CAN_ONLY_ADD,
    ("full", "left"): CAN_ONLY_DROP, ("right", "full"): CAN_ONLY_ADD, ("full", "right"): CAN_ONLY_DROP,
    ("inner", "right"): CAN_ONLY_ADD, ("right", "inner"): CAN_ONLY_DROP, ("inner", "full"): CAN_ONLY_ADD,
    ("full", "inner"): CAN_ONLY_DROP,
}  # fmt: skip
_NOTES = {
    "left": "every row stays, and comes once for each match",
    "inner": "a row without a match goes, a row with several matches comes several times",
    "cross": "every row comes once for each row of the joined relation",
    "semi": "rows without a match go",
    "anti": "rows with a match go",
}


def join_changes(old: exp.Select, new: exp.Select, dialect: str) -> Iterator[RowSetChange]:
    """The changes of joins from `old` to `new`, matched by the name that the joined relation has in the query.

    `direction` is left unknown: only the caller sees the whole query; `local_direction` is that of the SELECT.
    """
    before, after = _by_name(old), _by_name(new)
    for name, join in after.items():
        if name not in before:
            yield _change("join_added", join, new, _ADDED.get(join_kind(join), UNKNOWN), dialect)
        else:
            yield from _changed(before[name], join, new, dialect)
    for name, join in before.items():
        if name not in after:
            yield _change("join_removed", join, old, _REMOVED.get(join_kind(join), UNKNOWN), dialect)


def join_kind(join: exp.Join) -> str:
    """inner, left, right, full, cross, semi, anti, or what else the query writes."""
    side, kind = join.side.lower(), join.kind.lower()
    if kind in ("semi", "anti"):
        return kind if side in ("", "left") else f"{side} {kind}"
    if side:
        return side
    if kind in ("", "inner", "cross") and not join.args.get("method"):
        return "inner" if join.args.get("on") or join.args.get("using") else "cross"
    return " ".join(word for word in (join.method.lower(), kind) if word)


def join_keys(join: exp.Join) -> tuple[str, ...]:
    """The columns of the joined relation that the condition compares for equality, in order."""
    using = tuple(item.name for item in join.args.get("using") or ())
    name = join.this.alias_or_name.lower()
    equalities = [part for part in conjuncts(join.args.get("on")) if isinstance(part, exp.EQ)]
    found = [_key_of(part, name) for part in equalities]
    return using or tuple(dict.fromkeys(item for item in found if item))


def _key_of(equality: exp.EQ, name: str) -> str:
    """The joined relation's column in `joined.x = other.y`; "" for a comparison with a constant or within one table."""
    sides = equality.this, equality.expression
    for mine, other in (sides, sides[::-1]):
        foreign = [column.table.lower() for column in other.find_all(exp.Column)]
        if isinstance(mine, exp.Column) and mine.table.lower() == name and foreign and name not in foreign:
            return mine.name
    return ""


def _changed(old: exp.Join, new: exp.Join, select: exp.Select, dialect: str) -> Iterator[RowSetChange]:
    if key(hollow(old.this), dialect) != key(hollow(new.this), dialect):
        yield _change(
            "unknown",
            new,
            select,
            UNKNOWN,
            dialect,
            before=old.this.sql(dialect=dialect or None),
            note="another relation is joined under the same name",
        )
        return
    kinds = join_kind(old), join_kind(new)
    same_condition = _condition(old, dialect) == _condition(new, dialect)
    if kinds[0] != kinds[1]:
        effect = _RETYPED.get(kinds, UNKNOWN) if same_condition else UNKNOWN
        yield _change(
            "join_type_changed",
            new,
            select,
            effect,
            dialect,
            before=kinds[0],
            note=f"the join was {kinds[0]} and is {kinds[1]}",
        )
    elif not same_condition:
        yield _change(
            "join_key_changed",
            new,
            select,
            UNKNOWN,
            dialect,
            before=_text(old, dialect),
            note="the condition of the join changed",
        )


def _change(
    kind: str, join: exp.Join, select: exp.Select, effect: str, dialect: str, *, before: str = "", note: str = ""
) -> RowSetChange:
    on = join.args.get("on")
    return RowSetChange(
        kind=kind,
        direction=UNKNOWN,
        local_direction=effect,
        predicate=_text(join, dialect),
        before=before,
        columns=columns_in(on, select)
        if on is not None
        else tuple((join.this.alias_or_name, item) for item in join_keys(join)),
        relation=_relation(join, dialect),
        alias=join.this.alias_or_name,
        keys=join_keys(join),
        join_kind=join_kind(join),
        note=note or _NOTES.get(join_kind(join), ""),
    )


def _by_name(select: exp.Select) -> dict[str, exp.Join]:
    found: dict[str, exp.Join] = {}
    for number, join in enumerate(select.args.get("joins") or ()):
        name = join.this.alias_or_name.lower()
        found[f"{name}#{number}" if not name or name in found else name] = join
    return found


def _condition(join: exp.Join, dialect: str) -> tuple[list[str], list[str]]:
    using = [item.name.lower() for item in join.args.get("using") or ()]
    return sorted(key(part, dialect) for part in conjuncts(join.args.get("on"))), using


def _text(join: exp.Join, dialect: str) -> str:
    on = join.args.get("on")
    if on is not None:
        return str(on.sql(dialect=dialect or None))
    return ", ".join(item.sql(dialect=dialect or None) for item in join.args.get("using") or ())


def _relation(join: exp.Join, dialect: str) -> str:
    if isinstance(join.this, exp.Table):
        bare = join.this.copy()
        bare.set("alias", None)
        return bare.sql(dialect=dialect or None)
    return str(join.this.sql(dialect=dialect or None))
