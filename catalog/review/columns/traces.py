"""The column lineage of the models of one review: each traced once, over the columns of its parents as far as known."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from catalog.column_lineage.reading import MAX_CHARACTERS
from catalog.column_lineage.tracing import UNKNOWN, Traced, trace
from catalog.column_lineage.values import Table
from catalog.lints.outputs import outputs
from catalog.lints.types import ModelState
from catalog.review.estate.estate import Estate
from catalog.review.facts import enforced
from catalog.review.safely import safely
from catalog.sources.manifest_types import Manifest, Node
from catalog.sources.naming import dialect_of, parts_of

MOST_TRACED = 1_500_000
"""So much SQL is traced in one review, which takes some fifteen seconds; through the rest all columns are followed."""
STAND_IN = "__dbt__cte__"
"""dbt's prefix of the CTEs into which it pastes ephemeral models."""
_DEEP = 8
_LISTED = "listed"
"""Stands for the type of a column of a query that lists all its columns; nobody reads it."""


class Traces:
    """Traces of head's models. `skipped` are the models that were too many to be traced."""

    def __init__(self, estate: Estate, base: Manifest, head: Manifest) -> None:
        self._estate, self._base, self._head = estate, base, head
        self._dialect = dialect_of(head.adapter or base.adapter)
        self._left = MOST_TRACED
        self._traced: dict[tuple[int, bool], Traced] = {}
        self._columns: dict[tuple[int, bool], Mapping[str, str]] = {}
        self.skipped: dict[str, None] = {}

    def of(self, place: int, *, as_before: bool = True) -> Traced:
        """The trace of the model at `place`. `as_before`: its parents also have the columns that they had in base."""
        return self._of(place, as_before, 0)

    def table(self, place: int) -> Table | None:
        """What the model at `place` is called in the SQL of those that read it; None where it has no name there."""
        node = self._estate.vertices[place].node
        if node is None or node.external:
            return None
        if node.materialized == "ephemeral":
            return (f"{STAND_IN}{node.identifier}",)
        return tuple(part for part, _ in parts_of(node.relation_name)) if node.relation_name else None

    def _of(self, place: int, as_before: bool, depth: int) -> Traced:
        key = (place, as_before)
        if key not in self._traced:
            self._traced[key] = Traced(UNKNOWN, reason="it reads itself")  # a cycle in a damaged file ends here
            self._traced[key] = self._new(place, as_before, depth)
        return self._traced[key]

    def _new(self, place: int, as_before: bool, depth: int) -> Traced:
        node = self._estate.vertices[place].node
        sql = _sql(node)
        if node is None or not sql:
            return Traced(UNKNOWN, reason="it is no compiled SQL")
        self._left -= len(sql) if len(sql) <= MAX_CHARACTERS else 0  # longer ones are not parsed
        if self._left < 0:
            self.skipped[node.unique_id] = None
            return Traced(UNKNOWN, reason="too much SQL is to be traced")
        schema: dict[Table, Mapping[str, str]] = {}
        for parent in self._estate.parents[place]:
            table = self.table(parent)
            if table is not None:
                stands_in = table[0].startswith(STAND_IN)
                schema[table] = {} if stands_in else self._columns_of(parent, as_before, depth + 1)
        failed = Traced(UNKNOWN, reason="the tracer failed")
        return safely(lambda: trace(sql, dialect=self._dialect, schema=schema), failed)

    def _columns_of(self, place: int, as_before: bool, depth: int) -> Mapping[str, str]:
        key = (place, as_before)
        if key not in self._columns:
            self._columns[key] = {}
            self._columns[key] = dict(self._told(place, as_before, depth))
        return self._columns[key]

    def _told(self, place: int, as_before: bool, depth: int) -> Iterator[tuple[str, str]]:
        """Columns of a table with a type where the list is whole."""
        node = self._estate.vertices[place].node
        if node is None:
            return
        listed = self._listed(place, node, as_before, depth)
        before = self._base.nodes.get(node.unique_id) if as_before else None
        old = self._outputs(before) if before is not None and before is not node else None
        if as_before and before is not None and before.compiled_code != node.compiled_code and old is None:
            listed = dict.fromkeys(listed, "")  # columns that it had before may be missing
        yield from {**(old or {}), **listed}.items()

    def _listed(self, place: int, node: Node, as_before: bool, depth: int) -> dict[str, str]:
        whole = self._outputs(node)
        if whole is not None:
            return whole
        declared = {column.name: "" for column in node.columns}
        if depth > _DEEP or node.resource_type != "model":
            return declared
        traced = self._of(place, as_before, depth)
        if traced.state == UNKNOWN:
            return declared
        kept = traced.rest is None and not traced.repeated and node.materialized != "incremental"
        return {**({} if kept else declared), **dict.fromkeys(traced.columns, _LISTED if kept else "")}

    def _outputs(self, node: Node) -> dict[str, str] | None:
        """All columns of a model that lists them; None where a `*` or anything else leaves some untold."""
        if enforced(node) and node.columns:
            return {column.name: column.data_type or _LISTED for column in node.columns}
        sql = _sql(node)
        if node.resource_type != "model" or not sql:
            return None
        self._left -= len(sql) if len(sql) <= MAX_CHARACTERS else 0
        found = outputs(ModelState(node.name, sql, self._dialect)) if self._left > 0 else None
        if found is None:
            return None
        kept = _LISTED if node.materialized != "incremental" else ""  # a table that is added to keeps old columns
        return {column.name: kept for column in found.values()}


def _sql(node: Node | None) -> str:
    """The compiled SQL of a model or snapshot; "" where there is none."""
    if node is None or node.resource_type not in ("model", "snapshot") or node.language != "sql":
        return ""
    return node.compiled_code or ""
