"""A query as its SELECTs, each under a path: "" for the last one, the name of a CTE or derived table for the others."""

from __future__ import annotations

import logging

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from catalog.diff.branches import flat, paired
from catalog.diff.same import without_comments

_log = logging.getLogger(__name__)

EPHEMERAL = "__dbt__cte__"
"""dbt's prefix of the CTEs into which it pastes ephemeral models; those are nodes of their own."""
MAX_CHARACTERS = 250_000
"""Longer SQL is not parsed: a model of this size is data, and the parser would hold its caller for long."""


class Selects:
    """The SELECTs of one parsed query by path, and the set operations above them.

    Paths, in lower case: a CTE's name, `cte/derived` for a derived table inside it, `[0]`, `[1]` for the branches of a
    set operation. `unions` holds the operators of each set operation, `leaves`
    what is a query and no SELECT (VALUES, FROM without SELECT). `branches` holds the branches of each set operation,
    `nodes` the set operations and brackets at each path, from the outside to the inside. `ctes` are the paths of CTEs,
    `columns` those column lists that a CTE has behind its name, `doubled` says that two parts have one path.

    With `like`, the branches take the paths that the same branches have there, and `[gone0]` where it has none.
    """

    def __init__(self, tree: exp.Expr, like: Selects | None = None) -> None:
        self.tree, self.like = tree, like
        self.branches: dict[str, list[exp.Expr]] = {}
        self.places: dict[str, list[tuple[str, exp.Expr]]] = {}
        self.nodes: dict[str, list[exp.Expr]] = {}
        self.by_path: dict[str, exp.Select] = {}
        self.unions: dict[str, tuple[str, ...]] = {}
        self.leaves: dict[str, exp.Expr] = {}
        self.ctes: set[str] = set()
        self.columns: dict[str, list[exp.Expr]] = {}
        self.doubled = False
        self._named: set[str] = set()
        self.recursive = any(bool(item.args.get("recursive")) for item in tree.find_all(exp.With))
        self._visit(tree, "")

    @property
    def paths(self) -> set[str]:
        """All paths under which a query stands."""
        return {*self.by_path, *self.unions, *self.leaves, *self.places}

    def _visit(self, query: exp.Expr | None, path: str) -> None:
        if query is None:
            return
        with_ = query.args.get("with_")
        for cte in with_.expressions if with_ else ():
            name = join_path(path, cte.alias)
            self.ctes.add(name)
            if cte.args["alias"].columns:
                self.columns[name] = cte.args["alias"].columns
            self._visit_named(cte.this, name)
        if isinstance(query, exp.Subquery):
            self.nodes.setdefault(path, []).append(query)
            self._visit(query.this, path)
        elif isinstance(query, exp.SetOperation):
            self._visit_branches(query, path)
        elif isinstance(query, exp.Select):
            (place,) = self._places([query], [], path) if self.like and path in self.like.branches else [path]
            if place != path:
                self.places[path] = [(place, query)]
            self._visit_select(query, place)
        else:
            self.leaves[path] = query

    def _visit_named(self, query: exp.Expr | None, path: str) -> None:
        self.doubled = self.doubled or path in self._named
        self._named.add(path)
        self._visit(query, path)

    def _visit_branches(self, query: exp.SetOperation, path: str) -> None:
        branches, operators, nodes = flat(query)
        self.unions[path], self.branches[path] = tuple(operators), branches
        self.nodes.setdefault(path, []).extend(nodes)
        self.places[path] = list(zip(self._places(branches, operators, path), branches, strict=True))
        for place, branch in self.places[path]:
            self._visit(branch, place)

    def _places(self, branches: list[exp.Expr], operators: list[str], path: str) -> list[str]:
        numbered = [f"{path}[{number}]" for number in range(len(branches))]
        if self.like is None or not (path in self.like.branches or path in self.like.by_path):
            return numbered
        if path in self.like.branches:
            others = self.like.branches[path]
            paths = [f"{path}[{number}]" for number in range(len(others))]
        else:
            others, paths = [self.like.by_path[path]], [path]
        pairs = paired(branches, operators, others, self.like.unions.get(path, ()))
        return [paths[pairs[place]] if place in pairs else f"{path}[gone{place}]" for place in range(len(branches))]

    def _visit_select(self, query: exp.Select, path: str) -> None:
        name, number = path, 0
        while name in self.by_path:  # two CTEs of one name in sibling scopes
            number += 1
            name = f"{path}#{number}"
        self.by_path[name] = query
        for place, source in enumerate(sources_of(query)):
            if isinstance(source, exp.Subquery):
                self._visit_named(source.this, join_path(name, source.alias or f"derived{place}"))


def parse(sql: str, dialect: str) -> exp.Expr | None:
    """The one query in `sql` without comments, or None where it is no single query that the dialect knows."""
    if len(sql) > MAX_CHARACTERS:
        return None
    try:
        trees = [tree for tree in sqlglot.parse(sql, dialect=dialect or None) if tree is not None]
        if len(trees) != 1 or not isinstance(trees[0], exp.Query):
            return None
        without_comments(trees[0], dialect)
    except (SqlglotError, RecursionError, ValueError):
        return None
    except Exception:  # the parser fails in its own ways on some SQL that is none
        _log.warning("A query made the SQL parser fail", exc_info=True)
        return None
    return trees[0]


def without_ephemeral(tree: exp.Expr) -> exp.Expr:
    """`tree` without the CTEs that dbt pasted in for ephemeral models (in place)."""
    for with_ in list(tree.find_all(exp.With)):
        for cte in [cte for cte in with_.expressions if cte.alias.startswith(EPHEMERAL)]:
            cte.pop()
        if not with_.expressions:
            with_.pop()
    return tree


def sources_of(select: exp.Select) -> list[exp.Expr]:
    """What stands in FROM and the joins: tables, derived tables, and so on."""
    from_ = select.args.get("from_")
    return ([from_.this] if from_ else []) + [join.this for join in select.args.get("joins") or ()]


def conjuncts(condition: exp.Expr | None) -> list[exp.Expr]:
    """The parts of a condition that AND holds together, without the brackets around each."""
    if condition is None:
        return []
    inner = condition.unnest()
    if isinstance(inner, exp.And):
        return [*conjuncts(inner.left), *conjuncts(inner.right)]
    return [inner]


def where_of(select: exp.Select) -> list[exp.Expr]:
    """The conjuncts of the WHERE clause."""
    where = select.args.get("where")
    return conjuncts(where.this) if where else []


def columns_in(predicate: exp.Expr, select: exp.Select | None = None) -> tuple[tuple[str, str], ...]:
    """(table alias, column) of each column of `predicate` outside of its subqueries, in order and once each.

    A column without a table takes that of `select` where there is only one, else "".
    """
    sources = sources_of(select) if select is not None else []
    only = sources[0].alias_or_name if len(sources) == 1 else ""
    found = [column for column in predicate.find_all(exp.Column, bfs=False) if not _in_subquery(column, predicate)]
    return tuple(dict.fromkeys((column.table or only, column.name) for column in found if column.name))


def join_path(path: str, name: str) -> str:
    """The path of what is called `name` inside `path`."""
    return f"{path}/{name}".lower() if path else name.lower()


def hollow(node: exp.Expr) -> exp.Expr:
    """A copy of the source `node` for comparison; a derived table is emptied, and compared under its own path.

    What stands in anything else (LATERAL, UNNEST, a table function) has no path, and stays.
    The alias of a table goes too: it changes nothing unless a column is asked of another one, which is seen there.
    """
    copy = node.copy()
    if isinstance(copy, exp.Subquery):
        copy.set("this", exp.select("1"))
    elif isinstance(copy, exp.Table) and not copy.alias_column_names:
        copy.set("alias", None)
    return copy


def _in_subquery(column: exp.Expr, root: exp.Expr) -> bool:
    parent = column.parent
    while parent is not None and parent is not root.parent:
        if isinstance(parent, exp.Query):
            return True
        parent = parent.parent
    return False
