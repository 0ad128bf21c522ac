"""The form in which one asset's column lineage is kept: JSON by column, tables by asset id where one is known."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from catalog.column_lineage import Source, Table, Traced, Value

Entry: TypeAlias = dict[str, Any]
"""{sources: [[asset id or a table's text, column or None], ...], kind, confidence}"""

ROWS = ""
"""The entry of this name holds the columns that decide which rows there are; its kind is "rows", its `tables` is all
that is read, its `names` the columns in their order, which JSON in a database does not keep."""
REST = "*"
"""The entry of this name tells of every column that has none of its own; `without` lists the names it does not."""
OLDER = "of older code: the code changed, and what was imported since has no compiled code"
"""Stands at the beginning of the reason while it is so (D8)."""
MOST_PAIRS = 20_000
"""An asset with more pairs of columns than this is told by its tables: nobody reads a list of that size."""
MANY = "it has more pairs of columns than are kept; its columns are told by their tables"

_Named: TypeAlias = Callable[[Table], int | str]


def entries(traced: Traced, table_of: _Named, names: Iterable[str]) -> tuple[dict[str, Entry], str]:
    """The entries of what was traced, and what was left out of them.

    `table_of` gives the id of the asset that a table is, else its text; `names` are the asset's columns as the
    catalogue spells them.
    """
    spelled = {name.casefold(): name for name in reversed(list(names))}
    exact = set(spelled.values())
    values = {name if name in exact else spelled.get(name.casefold(), name): value for name, value in _all(traced)}
    many = sum(len(value.sources) for value in values.values()) > MOST_PAIRS
    found = {name: _entry(value, table_of, whole=many) for name, value in values.items()}
    if traced.rest is not None:
        kind = "identity" if traced.passed else traced.rest.kind
        found[REST] = _entry(traced.rest, table_of) | {"kind": kind, "without": sorted(traced.without)}
    read = sorted({table_of(table) for table in traced.tables}, key=str)
    decided = _entry(Value(traced.rows), table_of, whole=many)
    found[ROWS] = decided | {"kind": "rows", "tables": read, "names": list(values)}
    return found, MANY if many else ""


def listed(columns: Mapping[str, Entry]) -> list[str]:
    """The names of all columns that the code gives out, in their order; empty where it may give out more."""
    return [] if REST in columns else ordered(columns)


def ordered(columns: Mapping[str, Entry]) -> list[str]:
    """The names of the columns in their order, as far as it is known."""
    names = [name for name in columns.get(ROWS, {}).get("names", ()) if name in columns]
    return list(dict.fromkeys([*names, *(name for name in sorted(columns) if name not in (ROWS, REST))]))


def tables_of(columns: Mapping[str, Entry]) -> set[int]:
    """The assets that the code reads, as far as its entries tell."""
    named = {pair[0] for entry in columns.values() for pair in entry["sources"]}
    return {one for one in [*named, *columns.get(ROWS, {}).get("tables", ())] if isinstance(one, int)}


def find(columns: Mapping[str, Entry], name: str) -> tuple[str, Entry | None]:
    """The entry of a column, and its name as it is written there; that of the rest where it has none of its own."""
    if name in columns:
        return name, columns[name]
    folded = name.casefold()
    for one, entry in columns.items():
        if one.casefold() == folded and one not in (ROWS, REST):
            return one, entry
    rest = columns.get(REST)
    left_out = rest is None or folded in {one.casefold() for one in rest.get("without", ())}
    return name, None if left_out else rest


def sources_of(entry: Entry | None, column: str = "") -> list[tuple[int | str, str | None]]:
    """The pairs of an entry; where it is the rest that one table passes on, `column` of that table."""
    pairs = [(pair[0], pair[1]) for pair in entry["sources"]] if entry else []
    if entry is not None and "without" in entry and entry["kind"] == "identity" and column and len(pairs) == 1:
        return [(pairs[0][0], pairs[0][1] or column)]
    return pairs


def _all(traced: Traced) -> Iterable[tuple[str, Value]]:
    return ((name, value) for name, value in traced.columns.items() if name not in (ROWS, REST))


def _entry(value: Value, table_of: _Named, *, whole: bool = False) -> Entry:
    sources = {Source(source.table, None) for source in value.sources} if whole else value.sources
    pairs = {(table_of(source.table), source.column) for source in sources}
    # A table told as a whole says more than one of its columns does.
    tables = {table for table, column in pairs if column is None}
    kept = [list(pair) for pair in pairs if pair[1] is None or pair[0] not in tables]
    kept.sort(key=lambda pair: (str(pair[0]), pair[1] or ""))
    return {"sources": kept, "kind": value.kind, "confidence": value.confidence}
