"""Importing what a dbt project wrote about itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from catalog import actions
from catalog.models import Asset, Consumer, GraphVersion
from catalog.services import assets, claims, readers
from catalog.services.access import permit
from catalog.sources import catalog_file, manifest, run_results
from catalog.sources.claims import NAMESPACE, Claims, NodeDraft
from catalog.sources.claims import claims as claims_of
from catalog.sources.manifest_types import Manifest, ManifestWarning
from foundation import artifacts, audit
from foundation.audit import Actor
from foundation.errors import BadInput

PROJECT = 180


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
) -> ImportReport:
    """Make the graph say what the manifest in `data` says; only claims of the same project are closed.

    `namespace` is that of the connection (default `<adapter>://<project>`), `project` overrides the file's own name.
    The same file again changes nothing and makes no version. BadInput, with the database unchanged, when a file cannot
    be used; Busy and Unavailable as everywhere.
    """
    read = manifest.read(data)
    tables = catalog_file.read(catalog) if catalog is not None else None
    results = _unknown_results(read, run_results) if run_results is not None else ()
    name = project_of(read, project)
    space = namespace or default_namespace(read, name)
    if len(space) > NAMESPACE:
        raise BadInput(f"The namespace has more than {NAMESPACE} characters.")
    permit(actor, space)
    claimed = claims_of(read, space, tables)
    change = _write(claimed, data, name, actor)
    if change.added or change.changed or change.removed:
        readers.join(actor=actor)
    return ImportReport(
        graph_version=change.version,
        assets=len(claimed.nodes),
        edges=len(claimed.edges),
        added=change.added,
        changed=change.changed,
        removed=change.removed,
        warnings=(*claimed.warnings, *results),
    )


def project_of(read: Manifest, project: str | None) -> str:
    """The name of the project; BadInput when neither the file nor the caller says it."""
    name = (project or read.project).strip()
    if not name:
        raise BadInput("The manifest does not name its project; give its name.")
    if len(name) > PROJECT or not name.isprintable():
        raise BadInput(f"The name of a project has at most {PROJECT} printable characters.")
    return name


def default_namespace(read: Manifest, project: str) -> str:
    """The namespace of a project whose connection nobody named: a manifest holds no host."""
    return f"{read.adapter or 'dbt'}://{project}"


def _write(claimed: Claims, data: bytes, project: str, actor: Actor) -> claims.Change:
    key = f"dbt:{project}"
    elsewhere = assets.by_local_id([name for name, draft in claimed.nodes.items() if draft.external], besides=key)
    own = {name: draft for name, draft in claimed.nodes.items() if name not in elsewhere}
    rows = assets.ensure(own.values())
    ids = {name: elsewhere.get(name) or rows[draft.identity].pk for name, draft in claimed.nodes.items()}
    nodes = {name: (ids[name], dict(draft.attributes)) for name, draft in claimed.nodes.items()}
    edges = {(ids[above], ids[below], "feeds") for above, below in claimed.edges if ids[above] != ids[below]}

    def compare() -> claims.Difference:
        return claims.difference(key, nodes, edges, partial=False)

    found = compare()
    measured = {name: draft for name, draft in own.items() if draft.measured or name in found.opened}
    assets.describe(measured.values(), rows, key)
    if not found:
        return claims.Change(found.base)
    sha256 = artifacts.store(data)

    def in_step(change: claims.Change) -> None:
        _make_readers(own, rows)
        counts = {"added": change.added, "changed": change.changed, "removed": change.removed}
        facts: dict[str, str | int | None] = {"project": project, "version": change.version, **counts}
        audit.record(actor, actions.GRAPH_IMPORTED, GraphVersion(number=change.version), facts=facts)

    return claims.write(key, "dbt", compare, first=found, artifact_sha256=sha256, in_step=in_step)


def _make_readers(drafts: Mapping[str, NodeDraft], rows: Mapping[Any, Asset]) -> None:
    """An exposure is a reader whose times nobody has told; the repository says that it reads, so nobody approves it."""
    pks = {rows[draft.identity].pk for draft in drafts.values() if draft.reader}
    known = set(Consumer.objects.filter(asset__in=pks).values_list("asset_id", flat=True))
    Consumer.objects.bulk_create([Consumer(asset_id=pk) for pk in sorted(pks - known)], ignore_conflicts=True)


def _unknown_results(read: Manifest, data: bytes) -> tuple[ManifestWarning, ...]:
    found = run_results.read(data)
    known = read.nodes.keys() | read.others.keys() | read.disabled.keys() | {test.unique_id for test in read.tests}
    strange = (key for key in found.results if key not in known and key.partition(".")[0] != "operation")
    return (
        *found.warnings,
        *(ManifestWarning(key, "has a result, but the manifest does not describe it") for key in strange),
    )
