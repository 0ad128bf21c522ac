"""Joins that were added, removed or changed between two SELECTs at the same place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from sqlglot import exp

from catalog.diff.effect import ALL, LOST, Effect, reverse
from catalog.diff.found import Found
from catalog.diff.row_set_types import CAN_MULTIPLY, CAN_ONLY_ADD, CAN_ONLY_DROP, SAME_ROWS, UNKNOWN, RowSetChange
from catalog.diff.same import key
from catalog.diff.selects import columns_in, conjuncts, hollow
from catalog.diff.stages import Stage
from catalog.diff.truth import implies

_ADDED = {"left": CAN_MULTIPLY, "semi": CAN_ONLY_DROP, "anti": CAN_ONLY_DROP}
_COMPARED = {
    (True, True): SAME_ROWS, (True, False): CAN_ONLY_ADD, (False, True): CAN_ONLY_DROP, (False, False): UNKNOWN,
}  # fmt: skip
_RETYPED = {
    ("inner", "left"): CAN_ONLY_ADD, ("left", "inner"): CAN_ONLY_DROP, ("left", "full"): CAN_ONLY_ADD,
    ("full", "left"): CAN_ONLY_DROP, ("right", "full"): CAN_ONLY_ADD, ("full", "right"): CAN_ONLY_DROP,
    ("inner", "right"): CAN_ONLY_ADD, ("right", "inner"): CAN_ONLY_DROP, ("inner", "full"): CAN_ONLY_ADD,
    ("full", "inner"): CAN_ONLY_DROP, ("cross", "inner"): CAN_ONLY_DROP, ("inner", "cross"): CAN_ONLY_ADD,
}  # fmt: skip
_NOTES = {
    "left": "every row stays, and comes once for each match",
    "inner": "a row without a match goes, a row with several matches comes several times",
    "cross": "every row comes once for each row of the joined relation",
    "semi": "rows without a match go",
    "anti": "rows with a match go",
}


class Matches(Protocol):
    """What is known of the rows that a join of a SELECT matches."""

    def at_most_one(self, join: exp.Join) -> bool:
        """Whether no row matches two."""

    def exactly_one(self, join: exp.Join) -> bool:
        """Whether one row is joined to each."""


def join_changes(old: exp.Select, new: exp.Select, dialect: str, before: Matches, after: Matches) -> Iterator[Found]:
    """The changes of joins from `old` to `new`, matched by the name that the joined relation has in the query.

    `before` and `after` say of the joins of either how many rows they match.
    """
    olds, news = _by_name(old), _by_name(new)
    for name, join in news.items():
        if name not in olds:
            yield _found("join_added", join, new, Effect(_added(join, after)), dialect)
        else:
            yield from _changed(olds[name], join, new, dialect)
    for name, join in olds.items():
        if name not in news:
            yield _found("join_removed", join, old, Effect(reverse(_added(join, before))), dialect)


def _added(join: exp.Join, matches: Matches) -> str:
    kind = join_kind(join)
    if kind == "cross" and matches.exactly_one(join):
        return SAME_ROWS
    if kind in ("left", "inner") and matches.at_most_one(join):
        return SAME_ROWS if kind == "left" else CAN_ONLY_DROP
    return _ADDED.get(kind, UNKNOWN)


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


def _changed(old: exp.Join, new: exp.Join, select: exp.Select, dialect: str) -> Iterator[Found]:
    if key(hollow(old.this), dialect) != key(hollow(new.this), dialect):
        note = "another relation is joined under the same name"
        yield _found("source_changed", new, select, LOST, dialect, before=_relation(old, dialect), note=note)
        return
    kinds = join_kind(old), join_kind(new)
    same_condition = _condition(old, dialect) == _condition(new, dialect)
    if kinds[0] != kinds[1]:
        direction = _RETYPED.get(kinds, UNKNOWN) if same_condition or "cross" in kinds else UNKNOWN
        note = f"the join was {kinds[0]} and is {kinds[1]}"
        yield _found("join_type_changed", new, select, Effect(direction), dialect, before=kinds[0], note=note)
    elif not same_condition:
        note = "the condition of the join changed"
        effect = _matching(old, new, dialect)
        yield _found("join_key_changed", new, select, effect, dialect, before=_text(old, dialect), note=note)


def _matching(old: exp.Join, new: exp.Join, dialect: str) -> Effect:
    """The effect of another condition: where it only matches more or only less, by the kind of the join."""
    before, after = old.args.get("on"), new.args.get("on")
    kind = join_kind(new)
    if before is None or after is None or kind not in ("inner", "left", "semi", "anti"):
        return LOST
    direction = _COMPARED[implies([before], [after], dialect)]
    if kind == "anti":
        direction = reverse(direction)
    optional = kind == "left" and direction not in (SAME_ROWS, UNKNOWN)
    return Effect(direction, frozenset({f"{new.this.alias_or_name.lower()}.{ALL}"}) if optional else frozenset())


def _found(
    kind: str, join: exp.Join, select: exp.Select, effect: Effect, dialect: str, *, before: str = "", note: str = ""
) -> Found:
    on = join.args.get("on")
    change = RowSetChange(
        kind=kind,
        direction=UNKNOWN,
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
    return Found(change, effect, Stage.JOINS)


def _by_name(select: exp.Select) -> dict[str, exp.Join]:
    found: dict[str, exp.Join] = {}
    for number, join in enumerate(select.args.get("joins") or ()):
        name = join.this.alias_or_name.lower()
        found[f"{name}#{number}" if not name or name in found else name] = join
    return found


def _condition(join: exp.Join, dialect: str) -> tuple[list[str], list[str]]:
    using = [key(item, dialect) for item in join.args.get("using") or ()]
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
