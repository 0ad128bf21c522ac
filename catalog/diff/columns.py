"""Columns of a select list that were added, removed, renamed, retyped or are made of something else."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from catalog.diff.effect import ALL, EXTRA, LOST, Effect
from catalog.diff.found import Found, columns_of, text
from catalog.diff.ranks import fixed_window
from catalog.diff.row_set_types import CAN_ONLY_ADD, CAN_ONLY_DROP, SAME_ROWS, UNKNOWN, RowSetChange
from catalog.diff.same import key
from catalog.diff.selects import where_of
from catalog.diff.shape import MULTIPLIES_ROWS, aggregates, partition_of, with_readers
from catalog.diff.stages import Stage

_FUNCTIONS_MAY_MULTIPLY = ("", "postgres", "duckdb", "redshift", "materialize", "risingwave")
_MULTIPLYING_NAMES = ("stack", "json_tuple", "explode", "inline", "flatten", "variant_explode")
_OF_DISTINCT = {
    "column_added": CAN_ONLY_ADD, "column_removed": CAN_ONLY_DROP, "column_renamed": SAME_ROWS,
    "column_reordered": SAME_ROWS,
}  # fmt: skip
_NOTES = {
    "column_added": "a column was added",
    "column_removed": "a column was removed",
    "column_renamed": "a column has another name",
    "column_retyped": "a column has another type",
    "column_reexpressed": "a column is made of something else",
    "aggregation_changed": "another aggregate is taken",
    "window_order_changed": "a window has another order",
    "column_reordered": "the columns stand in another order",
}


def column_changes(path: str, old: exp.Select, new: exp.Select, dialect: str) -> Iterator[Found]:
    """The changes of the select list, column by column, in the order of the new one."""
    lists = _ColumnLists(path, old, new, dialect)
    before, after = lists.before, lists.after
    gone = {name: item for name, item in before.items() if name not in after}
    for name, item in after.items():
        if name in before:
            if key(before[name].unalias(), dialect) != key(item.unalias(), dialect):
                yield lists.found(_kind(before[name], item, dialect), _shown(item, dialect), before[name], item)
            continue
        said = key(item.unalias(), dialect)
        same = [other for other in gone if key(gone[other].unalias(), dialect) == said and not item.is_star]
        if same:
            yield lists.found("column_renamed", _shown(item, dialect), gone.pop(same[0]), item)
        else:
            yield lists.found("column_added", _shown(item, dialect), None, item)
    for item in gone.values():
        yield lists.found("column_removed", _shown(item, dialect), item, None)
    if [name for name in before if name in after] != [name for name in after if name in before]:
        yield lists.found("column_reordered", "", None, None)


class _ColumnLists:
    def __init__(self, path: str, old: exp.Select, new: exp.Select, dialect: str) -> None:
        self.path, self.old, self.new, self.dialect = path, old, new, dialect
        self.before, self.after = _by_name(old, dialect), _by_name(new, dialect)
        self.star = any(item.is_star for item in (*old.expressions, *new.expressions))
        shorter, longer = sorted((list(self.before), list(self.after)), key=len)
        self.shifted = path.endswith("]") and longer[: len(shorter)] != shorter

    def found(self, kind: str, name: str, before: exp.Expr | None, after: exp.Expr | None) -> Found:
        """The change of one column with what it does to the rows."""
        select, item = (self.new, after) if after is not None else (self.old, before)
        change = RowSetChange(
            kind=kind,
            direction=UNKNOWN,
            predicate=text([after] if after is not None else [], self.dialect),
            before=text([before] if before is not None else [], self.dialect),
            columns=columns_of(_hangs_on(kind, item), select),
            note=f"{_NOTES[kind]}{': ' + name if name and name != ALL else ''}",
        )
        return Found(change, self._effect(kind, name, before, after), self._stage())

    def _stage(self) -> Stage:
        return Stage.LIMIT if self._distinct() else Stage.DISTINCT

    def _distinct(self) -> bool:
        distinct = self.new.args.get("distinct")
        return distinct is not None and distinct.args.get("on") is None

    def _effect(self, kind: str, name: str, before: exp.Expr | None, after: exp.Expr | None) -> Effect:
        items = [item for item in (before, after) if item is not None]
        if kind != "column_renamed" and any(self._may_multiply(item) for item in items):
            return LOST
        if self._read_early(name, items):
            return LOST
        direction = _OF_DISTINCT.get(kind, UNKNOWN) if self._distinct() else SAME_ROWS
        if self._distinct() and self.star and kind not in ("column_renamed", "column_reordered"):
            direction = UNKNOWN
        plain = kind in ("column_added", "column_removed", "column_renamed", "column_reordered")
        hidden = self.star and not all(item.is_star or isinstance(item.unalias(), exp.Column) for item in items)
        columns = {EXTRA} if plain and not hidden else {name.lower()}
        if self.shifted and plain:
            columns = {ALL}
        if kind == "column_renamed" and before is not None and self.star:
            columns |= {before.alias_or_name.lower(), name.lower()}
        ranks = _ranks(before, after, self.dialect) if before is not None and after is not None and name else None
        return Effect(
            direction, with_readers(self.new, columns), ((name.lower(), ranks),) if ranks and not plain else ()
        )

    def _may_multiply(self, item: exp.Expr) -> bool:
        if item.find(*MULTIPLIES_ROWS):
            return True
        names = [found.name.lower() for found in item.find_all(exp.Anonymous)]
        if self.dialect in _FUNCTIONS_MAY_MULTIPLY:
            return bool(names)
        return any(word in name for name in names for word in _MULTIPLYING_NAMES)

    def _read_early(self, name: str, items: list[exp.Expr]) -> bool:
        """Whether a condition of the SELECT may mean the changed item of the list by its name."""
        names = {item.alias_or_name.lower() for item in items if not _is_column_of_its_name(item)} | {name.lower()} - {
            ""
        }
        if not items or all(_is_column_of_its_name(item) for item in items):
            return False
        early = [
            *where_of(self.new),
            *(join.args["on"] for join in self.new.args.get("joins") or () if join.args.get("on")),
        ]
        return any(
            not column.table and column.name.lower() in names for part in early for column in part.find_all(exp.Column)
        )


def _by_name(select: exp.Select, dialect: str) -> dict[str, exp.Expr]:
    """The items under their names, which differ by case where the dialect tells such names apart."""
    found: dict[str, exp.Expr] = {}
    for item in select.expressions:
        written = (item.args.get("alias") if isinstance(item, exp.Alias) else None) or item.this
        known = not item.is_star and item.alias_or_name and isinstance(written, exp.Identifier)
        name = key(written, dialect) if known else _shown(item, dialect)
        while name in found:
            name += "#"
        found[name] = item
    return found


def _shown(item: exp.Expr, dialect: str) -> str:
    """The name of an item in lower case; its text where it has none."""
    unnamed = item.is_star or not item.alias_or_name
    return (item.sql(dialect=dialect or None) if unnamed else item.alias_or_name).lower()


def _is_column_of_its_name(item: exp.Expr) -> bool:
    inner = item.unalias()
    return isinstance(inner, exp.Column) and inner.name.lower() == item.alias_or_name.lower()


def _kind(before: exp.Expr, after: exp.Expr, dialect: str) -> str:
    """How the column of one name changed."""
    old, new = before.unalias(), after.unalias()
    if _key_without(exp.Cast, old, dialect) == _key_without(exp.Cast, new, dialect):
        return "column_retyped"
    windows = list(old.find_all(exp.Window)), list(new.find_all(exp.Window))
    if windows[0] and _without_order(old, dialect) == _without_order(new, dialect):
        return "window_order_changed"
    if not windows[0] and not windows[1] and _without_aggregates(old, dialect) == _without_aggregates(new, dialect):
        return "aggregation_changed"
    return "column_reexpressed"


def _key_without(kind: type[exp.Expr], node: exp.Expr, dialect: str) -> str:
    return key(
        exp.Paren(this=node.copy()).transform(lambda part: part.this if isinstance(part, kind) else part), dialect
    )


def _without_order(node: exp.Expr, dialect: str) -> str:
    copy = node.copy()
    for window in [*copy.find_all(exp.Window)]:
        window.set("order", None)
        window.set("spec", None)
    return key(copy, dialect)


def _without_aggregates(node: exp.Expr, dialect: str) -> str:
    """The expression with each aggregate emptied to what it is taken of; its text where it holds none."""
    copy = exp.Paren(this=node.copy())
    found = list(aggregates(copy))
    if not found:
        return f"no aggregate {key(node, dialect)}"
    for aggregate in found:
        inner = aggregate.this
        if isinstance(inner, exp.Distinct) and len(inner.expressions) == 1:
            inner = inner.expressions[0]
        if isinstance(inner, exp.Expr):
            aggregate.replace(exp.Anonymous(this="aggregate_of", expressions=[inner.copy()]))
    return key(copy, dialect)


def _ranks(before: exp.Expr, after: exp.Expr, dialect: str) -> str:
    """What the change of a row_number() does to the number of rows that have one fixed rank or less."""
    old, new = before.unalias(), after.unalias()
    if not (fixed_window(old) and fixed_window(new) and isinstance(old, exp.Window) and isinstance(new, exp.Window)):
        return UNKNOWN
    keys = [{key(part, dialect) for part in partition_of(window)} for window in (old, new)]
    if keys[0] == keys[1]:
        return SAME_ROWS
    return CAN_ONLY_ADD if keys[0] < keys[1] else CAN_ONLY_DROP if keys[1] < keys[0] else UNKNOWN


def _hangs_on(kind: str, item: exp.Expr | None) -> list[exp.Expr]:
    if item is None:
        return []
    if kind == "window_order_changed":
        return [order for window in item.find_all(exp.Window) if (order := window.args.get("order")) is not None]
    return [item]
