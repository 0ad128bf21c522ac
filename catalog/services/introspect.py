"""Asking a warehouse itself what it holds: its tables, columns, comments and sizes, and what its views read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from catalog import actions
from catalog.identity import resolve
from catalog.models import GraphVersion, NodeClaim, TableSize
from catalog.services import assets, claims, column_lineage, introspections, reading, search_index
from catalog.services.access import permit
from catalog.services.column_lineage import Compiled
from catalog.sources.manifest_types import ManifestWarning
from catalog.sources.naming import DatasetName, dialect_of
from catalog.sources.warehouse_claims import WarehouseClaims, local_id
from catalog.sources.warehouse_claims import claims as claims_of
from catalog.warehouses.base import TableFacts
from catalog.warehouses.registry import KINDS, open_warehouse
from foundation import audit, bulk, clock, connections
from foundation.audit import Actor
from foundation.errors import BadInput, Conflict, SpellbookError
from foundation.locks import transaction
from foundation.models import Connection

CHUNK = 2000
KIND = "warehouse"


@dataclass(frozen=True)
class IntrospectReport:
    """What a look at a warehouse found (tables, columns, edges) and what of that is new since the last look."""

    connection: str
    namespace: str
    graph_version: int
    tables: int
    columns: int
    edges: int
    added: int
    changed: int
    removed: int
    warnings: tuple[ManifestWarning, ...]

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON; `warnings` is a list of {node, reason}."""
        warnings = [{"node": one.node, "reason": one.reason} for one in self.warnings]
        return {**vars(self), "warnings": warnings}


def introspect(name: str, *, actor: Actor, emptied: bool = False) -> IntrospectReport:
    """Make the graph say what the warehouse of connection `name` holds now; only its own claims are closed.

    The same tables again change nothing but their sizes. A warehouse that shows no table at all where it had some is
    believed only with `emptied`, Conflict otherwise (D7). BadInput for a connection that reads no warehouse or names no
    namespace; Unavailable when the warehouse cannot be asked. What went wrong stands with the connection until a look
    succeeds.
    """
    connection = connections.get(name)
    space = _namespace(connection)
    permit(actor, space)
    try:
        facts = open_warehouse(connection.kind, connection.params, connection.secret_names).inventory()
        _believable(connection, facts, emptied=emptied)
        report = _write(connection, space, facts, actor)
    except SpellbookError as error:
        introspections.note(connection, problem=str(error))
        raise
    introspections.note(connection, tables=report.tables)
    return report


def source_key(connection: Connection) -> str:
    """The key of the source under which a connection's warehouse claims."""
    return f"{KIND}:{connection.name}"


def _namespace(connection: Connection) -> str:
    if connection.purpose != "read" or connection.kind not in KINDS:
        raise BadInput(
            f"The connection {connection.name} ({connection.kind}, {connection.purpose}) reads no warehouse; "
            f"one of purpose read and of kind {' or '.join(sorted(KINDS))} is needed."
        )
    if not connection.namespace:
        raise BadInput(f"The connection {connection.name} declares no namespace.")
    return resolve([connection.namespace])[connection.namespace]


def _believable(connection: Connection, facts: Sequence[TableFacts], *, emptied: bool) -> None:
    if facts or emptied:
        return
    before = NodeClaim.objects.filter(source__key=source_key(connection), removed_in__isnull=True).count()
    if before:
        raise Conflict(
            f"The warehouse of {connection.name} shows no table at all, where it had {before}. Nothing was changed; "
            "look at the rights of its account, or say --emptied if that is right."
        )


def _write(connection: Connection, space: str, facts: Sequence[TableFacts], actor: Actor) -> IntrospectReport:
    key = source_key(connection)
    claimed = claims_of(facts, connection.kind, space)
    rows = assets.ensure(claimed.nodes.values())
    ids = {name: rows[draft.identity].pk for name, draft in claimed.nodes.items()}
    nodes = {name: (ids[name], dict(draft.attributes)) for name, draft in claimed.nodes.items()}
    edges = {(ids[above], ids[below], "feeds") for above, below in claimed.edges if ids[above] != ids[below]}

    def compare() -> claims.Difference:
        return claims.difference(key, nodes, edges, partial=False)

    def in_step(change: claims.Change) -> None:
        told: dict[str, str | int | None] = {"connection": connection.name, "version": change.version, **change.counts}
        audit.record(actor, actions.WAREHOUSE_READ, GraphVersion(number=change.version), facts=told)

    change = claims.write(key, KIND, compare, in_step=in_step)
    described = _describe(connection, claimed, rows, change, actor)
    _keep_sizes(key, facts, ids)
    if any(change.counts.values()):
        reading.join(actor=actor)
    _read_code(key, connection.kind, facts, ids, described.columns)
    search_index.refresh([*described.assets, *described.columns, *(ids.values() if change.added else ())])
    return _report(connection, space, claimed, change)


def _describe(
    connection: Connection,
    claimed: WarehouseClaims,
    rows: Mapping[DatasetName, assets.Known],
    change: claims.Change,
    actor: Actor,
) -> assets.Described:
    """Kinds, comments and columns, after the version that tells of them: a look that made none changed nothing. What
    the last look left undone has an audit row of its own."""
    wanted = assets.wanted(claimed.nodes.values(), rows, source_key(connection))
    if wanted and not any(change.counts.values()):
        facts: dict[str, str | int | None] = {"project": connection.name, "tables": len(wanted.columns), "owners": 0}
        with transaction():
            audit.record(actor, actions.GRAPH_DETAILED, ("catalog.source", source_key(connection)), facts=facts)
    return wanted.write_in_chunks()


def _report(connection: Connection, space: str, claimed: WarehouseClaims, change: claims.Change) -> IntrospectReport:
    return IntrospectReport(
        connection=connection.name,
        namespace=space,
        graph_version=change.version,
        tables=len(claimed.nodes),
        columns=sum(len(draft.columns) for draft in claimed.nodes.values()),
        edges=len(claimed.edges),
        added=change.added,
        changed=change.changed,
        removed=change.removed,
        warnings=claimed.warnings,
    )


def _keep_sizes(key: str, facts: Sequence[TableFacts], ids: Mapping[str, int]) -> None:
    """Sizes change with every build and belong to no version; of what is gone, the last one stays."""
    origin, moment = claims.source(key, KIND).pk, clock.now()
    sizes = {
        ids[name]: (ids[name], origin, one.rows, one.bytes, moment)
        for one in facts
        if (name := local_id(one.relation)) in ids and (one.rows is not None or one.bytes is not None)
    }
    for chunk in bulk.chunks(list(sizes.values()), CHUNK):
        with transaction():
            bulk.put(TableSize, ("asset_id", "source_id", "rows", "bytes", "seen_at"), chunk, key="asset_id")


def _read_code(
    key: str, adapter: str, facts: Sequence[TableFacts], ids: Mapping[str, int], changed: Sequence[int]
) -> None:
    """Hand the views' code on, from which their columns' lineage is read."""
    views = {local_id(one.relation): one.definition for one in facts if one.definition}
    dialect = dialect_of(adapter)
    column_lineage.stage([Compiled(ids[name], key, "", code, dialect) for name, code in views.items() if name in ids])
    column_lineage.columns_changed(changed)
