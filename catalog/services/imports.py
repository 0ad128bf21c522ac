"""Importing what a dbt project wrote about itself.

Everything is read and compared first; then the graph gets its new version in one step, with the readers, owners and
columns that belong to it; then follows what may lag a moment (declarations under `meta`, column lineage, the search).
Each of these says the same again when it is repeated, so that an import after a crash completes the one before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from catalog import actions
from catalog.identity import resolve
from catalog.models import GraphVersion
from catalog.services import claims, column_lineage, import_details, meta, readers, reading, search_index
from catalog.services.access import permit
from catalog.services.graph_lock import hold_graph
from catalog.services.import_graph import Importing
from catalog.services.import_project import default_namespace, project_of, refuse_another
from catalog.sources import catalog_file, freshness, manifest, run_results
from catalog.sources.claims import NAMESPACE, Claims
from catalog.sources.manifest_types import Manifest, ManifestWarning
from foundation import artifacts, audit
from foundation.audit import Actor
from foundation.bulk import patient
from foundation.errors import BadInput
from foundation.locks import transaction


@dataclass(frozen=True)
class ImportReport:
    """What an import did. `assets` and `edges` count what the file claims, the rest what changed since the last one."""

    graph_version: int
    assets: int
    edges: int
    added: int
    changed: int
    removed: int
    warnings: tuple[ManifestWarning, ...]

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON; `warnings` is a list of {node, reason}."""
        return {
            "graph_version": self.graph_version,
            "assets": self.assets,
            "edges": self.edges,
            "added": self.added,
            "changed": self.changed,
            "removed": self.removed,
            "warnings": [{"node": warning.node, "reason": warning.reason} for warning in self.warnings],
        }


def import_manifest(
    data: bytes,
    *,
    actor: Actor,
    namespace: str | None = None,
    project: str | None = None,
    catalog: bytes | None = None,
    run_results: bytes | None = None,
    sources: bytes | None = None,
) -> ImportReport:
    """Make the graph say what the manifest in `data` says; only claims of the same project are closed.

    `namespace` is that of the connection (default `<adapter>://<project>`), `project` overrides the file's own name;
    `catalog`, `run_results` and `sources` are dbt's files of these names. The same file again changes nothing and makes
    no version. BadInput, with the database unchanged, when a file cannot be used, Conflict when it does not name its
    project and would replace that of another warehouse; Busy and Unavailable as everywhere.
    """
    with patient():
        return _import(
            data, namespace, project, {"catalog": catalog, "results": run_results, "sources": sources}, actor
        )


def _namespace(wanted: str) -> str:
    """The namespace that is meant, which an alias may lead to."""
    if len(wanted) > NAMESPACE:
        raise BadInput(f"The namespace has more than {NAMESPACE} characters.")
    if not wanted.isprintable():
        raise BadInput("The namespace holds characters that cannot be printed.")
    return resolve([wanted])[wanted]


def _import(
    data: bytes, namespace: str | None, project: str | None, files: Mapping[str, bytes | None], actor: Actor
) -> ImportReport:
    read = manifest.read(data)
    tables = catalog_file.read(files["catalog"]) if files["catalog"] is not None else None
    told = (*_unknown_results(read, files["results"]), *_unknown_sources(read, files["sources"]))
    name = project_of(read, project)
    space = _namespace(namespace or default_namespace(read, name))
    permit(actor, space)
    if not project:
        refuse_another(read, data, name, f"dbt:{name}")
    work = Importing(Claims(read, space, tables), f"dbt:{name}")
    try:
        change, late = _write(work, data, name, actor)
        return ImportReport(
            graph_version=change.version,
            assets=len(work.ids),
            edges=work.edge_count(),
            added=change.added,
            changed=change.changed,
            removed=change.removed,
            warnings=(*work.claimed.warnings(), *work.warnings(), *told, *late, *_emptied(work, change)),
        )
    finally:
        work.claimed.forget()


def _write(work: Importing, data: bytes, project: str, actor: Actor) -> tuple[claims.Change, list[ManifestWarning]]:
    found = work.compare()
    described = work.description
    owners = import_details.Owners(work.claimed, work.ids, work.key)
    if found:
        change = _flip(work, found, owners, data, project, actor)
        reading.join(actor=actor)
    else:
        change = claims.Change(found.base)
        _details(work, owners, project, actor)
    late = meta.declare_meta(import_details.declared(work.claimed, work.ids), project=project, actor=actor)
    column_lineage.stage(import_details.compiled(work.claimed, work.ids, work.key))
    columns = [pk for pk, _ in described.columns]
    if columns:
        column_lineage.columns_changed(columns)
    search_index.refresh(sorted({*found.touched, *owners.changed, *columns, *(one[0] for one in described.assets)}))
    return change, late


def _flip(
    work: Importing, found: claims.Difference, owners: import_details.Owners, data: bytes, project: str, actor: Actor
) -> claims.Change:
    """One new version. Assets that nothing in the graph claims yet are described ahead of it, unseen."""
    first, seen = work.description, work.seen()
    first.of(seen, others=True).write_in_chunks()
    exposed = [work.ids[name] for name, draft in work.drafts.items() if draft.reader]
    sha256 = artifacts.store(data)

    def in_step(change: claims.Change) -> None:
        (first.of(seen) if work.description is first else work.description).write()
        readers.exposed(exposed)
        owners.write()
        facts: dict[str, str | int | None] = {"project": project, "version": change.version, **change.counts}
        audit.record(actor, actions.GRAPH_IMPORTED, GraphVersion(number=change.version), facts=facts)

    return claims.write(work.key, "dbt", work.compare, first=found, artifact_sha256=sha256, in_step=in_step)


def _details(work: Importing, owners: import_details.Owners, project: str, actor: Actor) -> None:
    """What changed without a new version: columns that a catalog file brought, an owner who is a person here now."""
    described = work.description
    if not described and not owners:
        return
    with transaction():
        hold_graph()
        described.write()
        owners.write()
        counts = {"tables": len(described.columns), "owners": len(owners.changed)}
        facts: dict[str, str | int | None] = {"project": project, **counts}
        audit.record(actor, actions.GRAPH_DETAILED, ("catalog.source", work.key), facts=facts)


def _unknown_results(read: Manifest, data: bytes | None) -> Iterator[ManifestWarning]:
    if data is None:
        return
    found = run_results.read(data)
    yield from found.warnings
    known = read.nodes.keys() | read.others.keys() | read.disabled.keys() | {test.unique_id for test in read.tests}
    for key in found.results:
        if key not in known and key.partition(".")[0] != "operation":
            yield ManifestWarning(key, "has a result, but the manifest does not describe it")


def _unknown_sources(read: Manifest, data: bytes | None) -> Iterator[ManifestWarning]:
    if data is None:
        return
    found = freshness.read(data)
    yield from found.warnings
    for key in found.results:
        if key not in read.nodes and key not in read.disabled:
            yield ManifestWarning(key, "has a freshness, but the manifest does not describe it")


def _emptied(work: Importing, change: claims.Change) -> Iterator[ManifestWarning]:
    if change.removed and not work.ids:
        yield ManifestWarning("", f"it describes nothing any more: {change.removed} assets left the graph")
