"""The kinds of warehouses; a new one is one module and one line here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from catalog.warehouses.base import Warehouse
from catalog.warehouses.duckdb import DuckDBWarehouse
from catalog.warehouses.postgres import PostgresWarehouse
from foundation.errors import BadInput

KINDS: Final[dict[str, Callable[[Mapping[str, Any], Sequence[str]], Warehouse]]] = {
    "duckdb": DuckDBWarehouse.open,
    "postgres": PostgresWarehouse.open,
}


def open_warehouse(kind: str, params: Mapping[str, Any], secrets: Sequence[str]) -> Warehouse:
    """The warehouse of a connection (its kind, params and secret_names). Secrets are given by *name* and looked
    up only when a question is asked. Nothing is opened yet.
    Raises BadInput for an unknown kind or parameters that the kind does not take."""
    if kind not in KINDS:
        raise BadInput(f"there is no warehouse kind {kind}, known are {', '.join(sorted(KINDS))}")
    return KINDS[kind](params, secrets)
