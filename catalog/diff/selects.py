"""A query as its SELECTs, each under a path: "" for the last one, the name of a CTE or derived table for the others."""

from __future__ import annotations

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.normalize_identifiers import normalize_identifiers

EPHEMERAL = "__dbt__cte__"
"""dbt's prefix of the CTEs into which it pastes ephemeral models; those are nodes of their own."""
MAX_CHARACTERS = 1_000_000
"""Longer SQL is not parsed: a model of this size is data, and the parser would hold its caller for minutes."""


class Selects:
    """The SELECTs of one parsed query by path, and the set operations above them.

    Paths, in lower case: a CTE's name, `cte/derived` for a derived table inside it, `[0]`, `[1]` for the branches of a
    set operation. `unions` holds the operators of each set operation and what follows them (order, limit), `leaves`
    what is a query and no SELECT (VALUES, FROM without SELECT).
    """

    def __init__(self, tree: exp.Expr) -> None:
        self.tree = tree
        self.by_path: dict[str, exp.Select] = {}
        self.unions: dict[str, tuple[str, ...]] = {}
        self.leaves: dict[str, exp.Expr] = {}
        self.recursive = any(bool(item.args.get("recursive")) for item in tree.find_all(exp.With))
        self._visit(tree, "")

    def path_of(self, select: exp.Expr | None) -> str | None:
        """The path under which `select` stands."""
        return next((path for path, known in self.by_path.items() if known is select), None)

    def _visit(self, query: exp.Expr | None, path: str) -> None:
        if query is None:
            return
        with_ = query.args.get("with_")
        for cte in with_.expressions if with_ else ():
            if cte.args["alias"].columns:
                self.leaves[join_path(path, cte.alias) + "()"] = cte.args["alias"]
            self._visit(cte.this, join_path(path, cte.alias))
        if isinstance(query, exp.Subquery):
            self.leaves[f"{path}()"] = hollow(query)
            self._visit(query.this, path)
        elif isinstance(query, exp.SetOperation):
            self._visit_branches(query, path)
        elif isinstance(query, exp.Select):
            self._visit_select(query, path)
        else:
            self.leaves[path] = query

    def _visit_branches(self, query: exp.SetOperation, path: str) -> None:
        branches, operators = _flat(query)
        self.unions[path] = tuple(operators)
        self.leaves[f"{path}[]"] = hollow(query)
        for number, branch in enumerate(branches):
            self._visit(branch, f"{path}[{number}]")

    def _visit_select(self, query: exp.Select, path: str) -> None:
        name, number = path, 0
        while name in self.by_path:  # two CTEs of one name in sibling scopes
            number += 1
            name = f"{path}#{number}"
        self.by_path[name] = query
        for place, source in enumerate(sources_of(query)):
            if isinstance(source, exp.Subquery):
                self._visit(source.this, join_path(name, source.alias or f"derived{place}"))


def parse(sql: str, dialect: str) -> exp.Expr | None:
    """The one query in `sql` without comments, or None where it is no single query that the dialect knows."""
    if len(sql) > MAX_CHARACTERS:
        return None
    try:
        trees = [tree for tree in sqlglot.parse(sql, dialect=dialect or None) if tree is not None]
    except (SqlglotError, RecursionError, ValueError):
        return None
    if len(trees) != 1 or not isinstance(trees[0], exp.Query):
        return None
    for node in trees[0].walk():
        node.pop_comments()
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


def key(node: exp.Expr | None, dialect: str) -> str:
    """A text that is equal for equal trees, case and quotes of names compared by the dialect's own rules."""
    if node is None:
        return ""
    folded = normalize_identifiers(node.copy(), dialect=dialect or None)
    return folded.sql(dialect=dialect or None, identify=True, comments=False, normalize_functions="upper")


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
    """A copy of `node` for comparison with the queries inside it emptied: these are compared under their own paths.

    The alias of a table goes too: it changes nothing unless a column is asked of another one, which is seen there.
    """
    copy = node.copy()
    copy.set("with_", None)
    if isinstance(copy, exp.SetOperation):
        copy.set("this", exp.select("1"))
        copy.set("expression", exp.select("1"))
    for inner in [copy, copy.this]:
        if isinstance(inner, exp.Subquery):
            inner.set("this", exp.select("1"))
        if isinstance(inner, exp.Table) and not inner.alias_column_names:
            inner.set("alias", None)
    return copy


def _in_subquery(column: exp.Expr, root: exp.Expr) -> bool:
    parent = column.parent
    while parent is not None and parent is not root.parent:
        if isinstance(parent, exp.Query):
            return True
        parent = parent.parent
    return False


def _flat(query: exp.SetOperation) -> tuple[list[exp.Expr], list[str]]:
    """The branches of a chain of set operations from left to right, and the operators between them."""
    branches: list[exp.Expr] = []
    operators: list[str] = []
    current: exp.Expr = query
    while isinstance(current, exp.SetOperation) and (current is query or not current.args.get("with_")):
        branches.append(current.expression)
        operators.append(type(current).__name__ + (" distinct" if current.args.get("distinct") else " all"))
        current = current.this
    branches.append(current)
    return branches[::-1], operators[::-1]
