"""Which part of a query each part reads: in FROM and joins, and inside of expressions."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from catalog.diff.selects import Selects, join_path, sources_of
from catalog.diff.shape import Shape, shape_of


class Scopes:
    """The reads of one parsed query, and the brackets with a LIMIT of their own around its parts."""

    def __init__(self, query: Selects) -> None:
        self.query = query
        self.wrappers: dict[str, list[exp.Expr]] = {}
        self._paths = {id(select): path for path, select in query.by_path.items()}
        self._expressions: dict[str, set[str]] = {}
        self._shapes: dict[str, Shape] = {}
        for path, nodes in query.nodes.items():
            limited = [node for node in nodes if node.args.get("limit") or node.args.get("offset")]
            if limited:
                self.wrappers[path] = limited[::-1]
        self._find_reads_in_expressions()

    def shape(self, path: str) -> Shape:
        """What the SELECT at `path` writes a row for."""
        if path not in self._shapes:
            self._shapes[path] = shape_of(self.query.by_path[path])
        return self._shapes[path]

    def sources(self, path: str) -> list[str | None]:
        """For each source of the SELECT at `path`, the path of the query behind it; None for a stored table."""
        select = self.query.by_path[path]
        found: list[str | None] = []
        for place, source in enumerate(sources_of(select)):
            if isinstance(source, exp.Subquery):
                found.append(join_path(path, source.alias or f"derived{place}"))
            else:
                found.append(self.behind(path, source))
        return found

    def behind(self, path: str, source: exp.Expr) -> str | None:
        """The path of the CTE that `source`, read at `path`, names; None where it is a stored table."""
        if not isinstance(source, exp.Table) or source.db or not source.name:
            return None
        for scope in _enclosing(path):
            candidate = join_path(scope, source.name)
            if candidate in self.query.ctes and (self.query.recursive or not _within(path, candidate)):
                return candidate
        return None

    def read_in_expressions(self, path: str) -> set[str]:
        """The paths of the queries that the SELECT at `path` reads inside of expressions."""
        return self._expressions.get(path, set())

    def _find_reads_in_expressions(self) -> None:
        direct = {id(source) for select in self.query.by_path.values() for source in sources_of(select)}
        for table in self.query.tree.find_all(exp.Table):
            if id(table) in direct or table.db:
                continue
            path = self._path_above(table)
            behind = self.behind(path, table)
            if behind is not None:
                self._expressions.setdefault(path, set()).add(behind)

    def _path_above(self, node: exp.Expr) -> str:
        parent: exp.Expr | None = node
        while parent is not None:
            if id(parent) in self._paths:
                return self._paths[id(parent)]
            parent = parent.parent
        return ""


def _enclosing(path: str) -> Iterator[str]:
    while path:
        yield path
        cut = max(path.rfind("/"), path.rfind("["))
        path = path[:cut] if cut > 0 else ""
    yield ""


def _within(path: str, outer: str) -> bool:
    return path == outer or path.startswith((f"{outer}/", f"{outer}["))
