"""Column lineage from SQL: pure functions on text, without a database."""

from __future__ import annotations

from catalog.column_lineage.tables import Schema
from catalog.column_lineage.tracing import KNOWN, PARTLY, UNKNOWN, Traced, trace
from catalog.column_lineage.values import Source, Table, Value

__all__ = ["KNOWN", "PARTLY", "UNKNOWN", "Schema", "Source", "Table", "Traced", "Value", "trace"]
