"""All differences of two queries, each with what it does where it stands."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from catalog.diff import selects, unique
from catalog.diff.clauses import distinct_changes, group_changes, order_and_limit_changes
from catalog.diff.columns import column_changes
from catalog.diff.direction import Step
from catalog.diff.effect import EXTRA, LOST, Effect
from catalog.diff.filters import filter_changes, qualify_changes
from catalog.diff.found import Found
from catalog.diff.joins import join_changes, join_kind
from catalog.diff.row_set_types import SAME_ROWS, UNKNOWN, RowSetChange
from catalog.diff.same import key
from catalog.diff.scopes import Scopes
from catalog.diff.stages import Stage
from catalog.diff.unions import union_changes

_COMPARED = frozenset({
    "with_", "where", "joins", "from_", "having", "qualify", "group", "distinct", "expressions", "order", "limit",
    "offset",
})  # fmt: skip
_COMMUTE = frozenset({"inner", "left", "cross"})


def differences(before: Scopes, after: Scopes, dialect: str) -> Iterator[tuple[RowSetChange, Step]]:
    """The changes in the order of the query after: filters of all parts, then joins, then everything else."""
    pairs = _Pairs(before, after, dialect)
    found = [(path, item) for path in _in_order(after, before) for item in pairs.at(path)]
    found.sort(key=lambda pair: _rank(pair[1].change.kind))
    same = key(before.query.tree, dialect) == key(after.query.tree, dialect) if _doubled(before, after) else True
    if not same:
        found.append(("", _unknown("two parts of the query have one name, and cannot be told apart")))
    for path, item in found:
        alias = item.change.alias
        yield item.change, Step(path, item.effect, item.stage, alias, alias if item.change.kind == "join_added" else "")


def _doubled(*queries: Scopes) -> bool:
    return any(scopes.query.doubled for scopes in queries)


def _rank(kind: str) -> int:
    return 0 if kind.startswith("filter") else 1 if kind.startswith("join") else 3 if kind == "unknown" else 2


def _in_order(after: Scopes, before: Scopes) -> list[str]:
    shared = [
        path for path in {**after.query.by_path, **dict.fromkeys(after.query.paths)} if path in before.query.paths
    ]
    branched = [path for path in before.query.places if path in after.query.by_path and path not in shared]
    unbranched = [path for path in after.query.places if path not in shared and path in before.query.places]
    return list(dict.fromkeys([*shared, *branched, *unbranched]))


@dataclass(frozen=True)
class _Side:
    """How many rows the joins of one SELECT match."""

    scopes: Scopes
    path: str

    def at_most_one(self, join: exp.Join) -> bool:
        return unique.at_most_one(self.scopes, self.path, join)

    def exactly_one(self, join: exp.Join) -> bool:
        return unique.exactly_one(self.scopes, self.path, join)


class _Pairs:
    def __init__(self, before: Scopes, after: Scopes, dialect: str) -> None:
        self.before, self.after, self.dialect = before, after, dialect

    def at(self, path: str) -> Iterator[Found]:
        """What changed at `path`."""
        before, after = self.before.query, self.after.query
        if path in before.places or path in after.places:
            yield from union_changes(path, before, after, self.dialect)
        yield from self._brackets(path)
        lists = [[key(item, self.dialect) for item in side.columns.get(path, ())] for side in (before, after)]
        if lists[0] != lists[1]:
            yield _unknown("the list of columns behind the name changed")
        if path in before.by_path and path in after.by_path:
            yield from self._selects(path, before.by_path[path], after.by_path[path])
        elif path in before.leaves or path in after.leaves:
            old, new = (side.leaves.get(path) for side in (before, after))
            if key(old, self.dialect) != key(new, self.dialect):
                yield _unknown("a part that is no plain select changed")

    def _selects(self, path: str, old: exp.Select, new: exp.Select) -> Iterator[Found]:
        if key(old, self.dialect) == key(new, self.dialect) and not self._reads_others(path):
            return
        dialect = self.dialect
        yield from filter_changes(path, old, new, dialect)
        yield from join_changes(old, new, dialect, _Side(self.before, path), _Side(self.after, path))
        yield from self._sources(path, old, new)
        yield from group_changes(old, new, dialect)
        yield from qualify_changes(path, old, new, dialect)
        yield from column_changes(path, old, new, dialect)
        yield from distinct_changes(old, new, dialect)
        yield from order_and_limit_changes(old, new, dialect)
        names = [name for name in {**old.args, **new.args} if name not in _COMPARED]
        odd = [name.rstrip("_") for name in names if _clause(old, name, dialect) != _clause(new, name, dialect)]
        if odd:
            yield _unknown(f"also changed: {', '.join(sorted(odd))}")

    def _sources(self, path: str, old: exp.Select, new: exp.Select) -> Iterator[Found]:
        froms = [select.args.get("from_") for select in (old, new)]
        texts = [key(selects.hollow(from_.this), self.dialect) if from_ else "" for from_ in froms]
        if texts[0] != texts[1]:
            words = [from_.this.sql(dialect=self.dialect or None) if from_ else "" for from_ in froms]
            note = "the rows are read from another relation"
            change = RowSetChange(
                kind="source_changed", direction=UNKNOWN, relation=words[1], before=words[0], note=note
            )
            yield Found(change, LOST, Stage.DONE)
        elif self._reads_others(path):
            yield _unknown("a name that it reads stands for another part of the query")
        if _order(old, new) != _order(new, old):
            free = _commute(old) and _commute(new)
            star = any(item.is_star for item in new.expressions)
            effect = Effect(SAME_ROWS, frozenset({EXTRA}) if star else frozenset()) if free else LOST
            if effect:
                yield Found(_unknown("the order of the joins changed").change, effect, Stage.DISTINCT)

    def _reads_others(self, path: str) -> bool:
        """Whether one name means a part of the query before and another, or a stored table, after."""
        old, new = self.before.query.by_path[path], self.after.query.by_path[path]
        named = []
        for scopes, select in ((self.before, old), (self.after, new)):
            sources = selects.sources_of(select)
            named.append({
                (source.alias_or_name.lower(), source.name.lower() if isinstance(source, exp.Table) else ""): behind
                for source, behind in zip(sources, scopes.sources(path), strict=True)
            })  # fmt: skip
        shared = named[0].keys() & named[1].keys()
        inside = self.before.read_in_expressions(path), self.after.read_in_expressions(path)
        if any(named[0][name] != named[1][name] for name in shared):
            return True
        return inside[0] != inside[1] and key(old, self.dialect) == key(new, self.dialect)

    def _brackets(self, path: str) -> Iterator[Found]:
        """ORDER BY and LIMIT of set operations and brackets, and what else stands there."""
        olds, news = (side.query.nodes.get(path, []) for side in (self.before, self.after))
        for place in range(max(len(olds), len(news))):
            old = olds[place] if place < len(olds) else exp.Select()
            new = news[place] if place < len(news) else exp.Select()
            yield from order_and_limit_changes(old, new, self.dialect)
            names = [
                name for name in {**old.args, **new.args} if name not in (*_COMPARED, "this", "expression", "alias")
            ]
            odd = [name for name in names if _clause(old, name, self.dialect) != _clause(new, name, self.dialect)]
            if odd:
                yield _unknown(f"also changed around the part: {', '.join(sorted(odd))}")


def _unknown(note: str) -> Found:
    return Found(RowSetChange(kind="unknown", direction=UNKNOWN, note=note), LOST, Stage.DONE)


def _clause(node: exp.Expr, name: str, dialect: str) -> str:
    value = node.args.get(name)
    parts = value if isinstance(value, list) else [value]
    return ", ".join(
        key(part, dialect) if isinstance(part, exp.Expr) else str(part) for part in parts if part not in (None, False)
    )


def _order(select: exp.Select, other: exp.Select) -> list[str]:
    """The names of the joins that `other` has as well, in the order of `select`."""
    shared = {join.this.alias_or_name.lower() for join in other.args.get("joins") or ()}
    names = [join.this.alias_or_name.lower() for join in select.args.get("joins") or ()]
    return [name for name in names if name in shared]


def _commute(select: exp.Select) -> bool:
    """Whether the joins may stand in any order that their conditions allow: each names the tables of its columns."""
    return all(
        join_kind(join) in _COMMUTE and not join.args.get("using")
        and all(column.table for column in (join.args.get("on") or exp.true()).find_all(exp.Column))
        for join in select.args.get("joins") or ()
    )  # fmt: skip
