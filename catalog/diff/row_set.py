"""What a change of SQL does to the set of rows: a comparison of two trees, SELECT by SELECT.

Filters and joins are told apart; every other difference is one `unknown`. A direction is given only where it follows
from the algebra of the query; `unknown` otherwise (D7).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from sqlglot import exp

from catalog.diff import direction, selects
from catalog.diff.joins import join_changes
from catalog.diff.row_set_types import (
    CAN_ONLY_ADD,
    CAN_ONLY_DROP,
    SAME_ROWS,
    UNKNOWN,
    RowSetChange,
)
from catalog.diff.selects import Selects, columns_in, key, where_of

__all__ = ["RowSetChange", "classify", "same_query", "unknown"]

_REST = ("with_", "where", "joins")


def classify(base_sql: str, head_sql: str, dialect: str, basis: str = "compiled") -> list[RowSetChange]:
    """The changes from `base_sql` to `head_sql`, in the order of the head query; empty when only the form differs.

    `dialect` is sqlglot's name. SQL that cannot be read gives one `unknown` that says so.
    """
    before, after = selects.parse(base_sql, dialect), selects.parse(head_sql, dialect)
    if before is None or after is None:
        if base_sql.split() == head_sql.split():
            return []
        side = "before" if before is None else "after"
        return [unknown(f"the SQL {side} the change could not be read as one query", basis=basis)]
    pair = _Pair(selects.without_ephemeral(before), selects.without_ephemeral(after), dialect)
    return [replace(change, basis=basis) for change in pair.changes()]


def same_query(base_sql: str, head_sql: str, dialect: str) -> bool:
    """Whether both texts are one query but for form and pasted-in ephemeral models."""
    return not classify(base_sql, head_sql, dialect)


def unknown(note: str, *, scope: str = "", basis: str = "compiled") -> RowSetChange:
    """A change of which nothing is known but that it is one."""
    return RowSetChange(kind="unknown", direction=UNKNOWN, scope=scope, note=note, basis=basis)


@dataclass(frozen=True)
class _Rest:
    """Differences outside of filters and joins: which clauses, and whether they leave the rows alone."""

    clauses: tuple[str, ...]
    same_rows: bool


class _Pair:
    def __init__(self, before: exp.Expr, after: exp.Expr, dialect: str) -> None:
        self.before, self.after, self.dialect = Selects(before), Selects(after), dialect

    def changes(self) -> Iterator[RowSetChange]:
        if key(self.before.tree, self.dialect) == key(self.after.tree, self.dialect):
            return
        rest: list[tuple[str, _Rest]] = []
        joins: list[RowSetChange] = []
        for path, select in self.after.by_path.items():
            if path in self.before.by_path:
                old = self.before.by_path[path]
                yield from self._filters(path, old, select)
                joins += self._joins(path, old, select)
                difference = self._rest(path, old, select)
                rest += [(path, difference)] if difference.clauses else []
        yield from joins
        yield from self._remaining(rest, joins)

    def _filters(self, path: str, old: exp.Select, new: exp.Select) -> Iterator[RowSetChange]:
        old_parts, new_parts = where_of(old), where_of(new)
        added, removed = _missing(new_parts, old_parts, self.dialect), _missing(old_parts, new_parts, self.dialect)
        if added and removed:
            yield replace(self._filter("filter_changed", path, new, added), before=self._sql(removed))
            return
        for part in added:
            added_here = self._filter("filter_added", path, new, [part])
            yield replace(
                added_here, direction=direction.of_fewer_rows(self.after, path), local_direction=CAN_ONLY_DROP
            )
        for part in removed:
            gone = self._filter("filter_removed", path, old, [part])
            effect = direction.reverse(direction.of_fewer_rows(self.before, path))
            yield replace(gone, direction=effect, local_direction=CAN_ONLY_ADD)

    def _filter(self, kind: str, path: str, select: exp.Select, parts: list[exp.Expr]) -> RowSetChange:
        columns = dict.fromkeys(column for part in parts for column in columns_in(part, select))
        return RowSetChange(
            kind=kind,
            direction=UNKNOWN,
            scope=path,
            predicate=self._sql(parts),
            columns=tuple(columns),
            note=_filter_note(kind, path),
        )

    def _joins(self, path: str, old: exp.Select, new: exp.Select) -> Iterator[RowSetChange]:
        for change in join_changes(old, new, self.dialect):
            side = self.before if change.kind == "join_removed" else self.after
            yield replace(change, scope=path, direction=direction.of_join(change.local_direction, side, path))

    def _rest(self, path: str, old: exp.Select, new: exp.Select) -> _Rest:
        names = [name for name in {**old.args, **new.args} if name not in _REST]
        clauses = [name for name in names if self._clause(old, name) != self._clause(new, name)]
        if not clauses and _join_order(old, new) != _join_order(new, old):
            clauses = ["order of joins"]
        harmless = set(clauses) <= {"expressions", "order"} and direction.one_row_out_for_each_in(old, new)
        last = path == "" and not self.after.unions
        return _Rest(tuple(clauses), harmless and last)

    def _clause(self, select: exp.Select, name: str) -> str:
        value = select.args.get(name)
        parts = value if isinstance(value, list) else [value]
        return ", ".join(self._part(part) for part in parts if part is not None and part is not False)

    def _part(self, part: object) -> str:
        if not isinstance(part, exp.Expr):
            return str(part)
        return key(selects.hollow(part), self.dialect)

    def _remaining(self, rest: list[tuple[str, _Rest]], joins: list[RowSetChange]) -> Iterator[RowSetChange]:
        shape = self._shape(joins)
        if shape:
            yield unknown(shape)
        elif rest:
            notes = sorted({_CLAUSES.get(name, name.rstrip("_")) for _, item in rest for name in item.clauses})
            harmless = all(item.same_rows for _, item in rest)
            scope = rest[0][0] if len(rest) == 1 else ""
            found = unknown(f"also changed: {', '.join(notes)}", scope=scope)
            yield replace(found, direction=SAME_ROWS, local_direction=SAME_ROWS) if harmless else found

    def _shape(self, joins: list[RowSetChange]) -> str:
        """What of the query's parts came, went or changed, but for parts that only an added or removed join reads."""
        come = self._unexplained(self.after, self.before, [change for change in joins if change.kind == "join_added"])
        gone = self._unexplained(self.before, self.after, [change for change in joins if change.kind == "join_removed"])
        if gone or come:
            named = [
                (path or "at the end", word) for paths, word in ((come, "new"), (gone, "gone")) for path in paths[:3]
            ]
            return "; ".join(f"the part {path} is {word}" for path, word in named)
        both = self.before.leaves.keys() & self.after.leaves.keys()
        if any(
            key(self.before.leaves[path], self.dialect) != key(self.after.leaves[path], self.dialect) for path in both
        ):
            return "a part that is no plain select changed"
        return "another set operation joins the branches" if self._unions(self.before, self.after) else ""

    def _unions(self, before: Selects, after: Selects) -> bool:
        return any(before.unions[path] != after.unions[path] for path in before.unions.keys() & after.unions.keys())

    def _unexplained(self, side: Selects, other: Selects, joins: list[RowSetChange]) -> list[str]:
        parts = {**side.by_path, **side.leaves, **side.unions}
        single = [path for path in parts if path not in {**other.by_path, **other.leaves, **other.unions}]
        explained = {
            selects.join_path(scope, name)
            for change in joins
            for scope in {"", change.scope}
            for name in (change.alias, _bare(change.relation))
        }
        grown = True
        while grown:
            within = {
                path
                for path in single
                if _root(path, single) in explained or direction.read_only_by(side, path, explained)
            }
            grown = not within <= explained
            explained |= within
        return [path for path in single if path not in explained]

    def _sql(self, parts: list[exp.Expr]) -> str:
        return exp.and_(*(part.copy() for part in parts)).sql(dialect=self.dialect or None)


_CLAUSES = {
    "expressions": "select list", "group": "group by", "from_": "from", "order": "order by", "windows": "window",
}  # fmt: skip


def _bare(relation: str) -> str:
    return relation.strip('"`[]')


def _root(path: str, among: list[str]) -> str:
    """The outermost part of `among` in which `path` lies: a derived table or a branch belongs to the part around it."""
    plain = path.removesuffix("()").removesuffix("[]")
    above = [other for other in among if plain.startswith((other + "/", other + "[")) and other]
    return min(above, key=len, default=plain)


def _filter_note(kind: str, path: str) -> str:
    place = f"in {path}" if path else "in the last select"
    words = {
        "filter_added": "a condition was added",
        "filter_removed": "a condition was removed",
        "filter_changed": "a condition was changed",
    }
    return f"{words[kind]} {place}"


def _missing(parts: list[exp.Expr], others: list[exp.Expr], dialect: str) -> list[exp.Expr]:
    """Those of `parts` that `others` lacks, counted as often as they stand there."""
    left = Counter(key(part, dialect) for part in others)
    missing = []
    for part in parts:
        found = key(part, dialect)
        left[found] -= 1
        if left[found] < 0:
            missing.append(part)
    return missing


def _join_order(select: exp.Select, other: exp.Select) -> list[str]:
    """The names of the joins that `other` has as well, in the order of `select`."""
    shared = {join.this.alias_or_name.lower() for join in other.args.get("joins") or ()}
    names = [join.this.alias_or_name.lower() for join in select.args.get("joins") or ()]
    return [name for name in names if name in shared]
