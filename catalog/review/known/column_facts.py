"""What is known of columns and keys, from the facts of installations and from dbt's catalog.json, under every name that
a table has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from catalog.lints.types import ColumnFact, Facts, KeyFact, bare
from catalog.review.estate.names import names_of
from catalog.review.known.facts_document import FactsDocument
from catalog.review.types import KnownAsset
from catalog.sources.catalog_file import CatalogFile
from catalog.sources.manifest_types import Manifest


def together(
    documents: Sequence[FactsDocument], assets: Sequence[KnownAsset], catalog: CatalogFile | None, head: Manifest
) -> Facts:
    """All facts as one: the later document says a column or the keys of a table whole. A type of the catalog fills
    what no document says."""
    columns: dict[tuple[str, str], ColumnFact] = {}
    keys: dict[str, tuple[KeyFact, ...]] = {}
    for document in documents:
        columns |= {(bare(table), bare(column)): fact for (table, column), fact in document.columns.items()}
        keys |= {bare(table): found for table, found in document.keys.items()}
    for names, column, data_type in _typed(catalog, documents, assets, head):
        known = next((columns[name, column] for name in names if (name, column) in columns), ColumnFact())
        fact = replace(known, type=known.type or data_type)
        columns |= {(name, column): fact for name in names}
    return Facts(columns, keys)


def _typed(
    catalog: CatalogFile | None, documents: Sequence[FactsDocument], assets: Sequence[KnownAsset], head: Manifest
) -> Iterator[tuple[list[str], str, str]]:
    """For each column of the catalog: the names of its table (those under which facts stand first), it, its type."""
    if catalog is None:
        return
    called: dict[str, list[str]] = {}
    for asset in (*(one for document in documents for one in document.assets), *assets):
        called.setdefault(asset.unique_id, []).append(bare(asset.name))
    for unique_id, table in catalog.tables.items():
        node = head.nodes.get(unique_id)
        if node is None:
            continue
        names = list(dict.fromkeys([*called.get(unique_id, []), bare(next(names_of(node)))]))
        for column in table.columns:
            yield names, bare(column.name), column.data_type
