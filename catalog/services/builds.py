"""Builds: announced by whoever ran them, or known only because a value names them; then read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import IntegrityError

from catalog import actions
from catalog.models import Asset, Build, BuildArtifact, BuildOutput
from catalog.names import find_asset
from catalog.selectors import assets_of_nodes, manifest_of
from catalog.services import imports
from catalog.services.access import permit, pool_of
from catalog.services.announcement import KNOWN_ONLY_BY_NAME, check, check_files, check_key, facts_of
from catalog.sources import run_results
from catalog.sources.run_results import NodeResult
from foundation import artifacts as files
from foundation import audit, clock
from foundation.audit import Actor
from foundation.errors import BadInput, Busy, Conflict, NotAllowed, NotFound, SpellbookError, Unavailable
from foundation.locks import lock, transaction
from foundation.models import Connection


@dataclass(frozen=True)
class _Announcement:
    """The fields of a build as announced, and the digests of its files."""

    fields: Mapping[str, Any]
    files: Mapping[str, str]

    def says(self, build: Build) -> bool:
        """Whether `build` was announced exactly so."""
        same = all(getattr(build, name) == value for name, value in self.fields.items())
        return same and dict(build.artifacts.values_list("kind", "sha256")) == self.files


def announce(
    *,
    key: str,
    kind: str,
    actor: Actor,
    producer: str = "",
    status: str = "succeeded",
    started_at: datetime | None = None,
    ended_at: datetime | None = None,
    commit: str = "",
    repository: str = "",
    connection: str = "",
    project: str = "",
    artifacts: Mapping[str, bytes] | None = None,
    outputs: Sequence[str] = (),
    facts: Mapping[str, Any] | None = None,
) -> tuple[Build, bool]:
    """Keep the announcement of a build and make it due; returns the build and whether nobody announced it before.

    The same announcement again changes nothing. A build that so far only a value named (`ensure`) is completed.
    `artifacts` maps manifest, run_results and catalog to their bytes, `outputs` names assets that the producer says it
    wrote, `facts` are integers and text. Raises BadInput, before anything is written, when a field or file cannot be
    used, and Conflict when another announcement was made under this key.
    """
    given = dict(artifacts or {})
    fields: dict[str, Any] = {
        "kind": kind, "producer": producer, "status": status, "started_at": started_at, "ended_at": ended_at,
        "commit": commit, "repository": repository, "connection": connection, "project": project,
        "facts": facts_of(facts or {}, outputs),
    }  # fmt: skip
    check(key, fields, clock.now())
    check_files(given)
    if "manifest" in given or connection:
        permit(actor, _namespace(connection) or "a namespace that no connection declares")
    announcement = _Announcement(fields, {name: files.store(data) for name, data in given.items()})
    try:
        return _keep(key, announcement, actor)
    except IntegrityError:  # somebody announced the same key at the same moment; that row is there now
        return _keep(key, announcement, actor)


def ensure(key: str, *, actor: Actor) -> Build:
    """The build of that key; made with kind "unknown" when nobody has announced it. BadInput for an unusable key."""
    check_key(key)
    found = Build.objects.filter(key=key).first()
    if found is not None:
        return found
    with transaction():
        build, created = Build.objects.get_or_create(
            key=key, defaults={"announced_by": actor.principal, "announced_at": clock.now()}
        )
        if created:
            audit.record(actor, actions.BUILD_NAMED, build, facts={"key": key})
    return build


def process(build_id: UUID, *, actor: Actor) -> Build:
    """Read the files of an announced build: import its manifest and note what it wrote. Does nothing the second time.

    What cannot be used is kept in `refusal`; the build counts as processed then, without what was refused. Busy and
    Unavailable are raised. The row stays due: whoever claimed it says when nothing is left to do with it, so that a
    crash between this floor's work and the next one's loses neither.
    """
    build = Build.objects.filter(pk=build_id).first()
    if build is None:
        raise NotFound("There is no such build.")
    if build.processed_at is not None or build.kind == KNOWN_ONLY_BY_NAME:
        return build
    version, refusals = _import(build, actor)
    outputs, unknown = _outputs(build)
    _finish(build, version, outputs, " ".join([*refusals, *unknown])[:500], actor)
    build.refresh_from_db()
    return build


def _keep(key: str, announcement: _Announcement, actor: Actor) -> tuple[Build, bool]:
    with transaction():
        moment = clock.now()
        known = Build.objects.select_for_update().filter(key=key).first()
        if known is None:
            by = {"announced_by": actor.principal, "announced_at": moment}
            known = Build.objects.create(key=key, due_at=moment, **by, **announcement.fields)
        elif known.kind != KNOWN_ONLY_BY_NAME:
            if announcement.says(known):
                return known, False
            raise Conflict(f"The build {key} was announced before with other content.")
        else:
            by = {"announced_by": actor.principal, "announced_at": moment, "due_at": moment}
            Build.objects.filter(pk=known.pk, kind=KNOWN_ONLY_BY_NAME).update(**by, **announcement.fields)
            known.refresh_from_db()
        BuildArtifact.objects.bulk_create(
            BuildArtifact(build=known, kind=name, sha256=sha256) for name, sha256 in announcement.files.items()
        )
        facts = {"key": key, "kind": known.kind, "status": known.status}
        audit.record(actor, actions.BUILD_ANNOUNCED, known, facts=facts)
    return known, True


def _import(build: Build, actor: Actor) -> tuple[int | None, list[str]]:
    loaded = {name: files.load(sha256) for name, sha256 in build.artifacts.values_list("kind", "sha256")}
    if "manifest" not in loaded:
        return None, []
    try:
        report = imports.import_manifest(
            loaded["manifest"],
            namespace=_namespace(build.connection),
            project=build.project or None,
            catalog=loaded.get("catalog"),
            run_results=loaded.get("run_results"),
            sources=loaded.get("sources"),
            actor=actor,
        )
    except (Busy, Unavailable):
        raise
    except SpellbookError as error:
        return None, [str(error)]
    return report.graph_version or None, []


def _outputs(build: Build) -> tuple[list[BuildOutput], list[str]]:
    """What the build wrote, each asset once, and why names among its announced outputs count for none."""
    found: dict[int, BuildOutput] = {}
    unknown, announcer = [], Actor(build.announced_by, "api")
    for asset, result in _dbt_outputs(build):
        found[asset.pk] = BuildOutput(
            build=build,
            asset=asset,
            status=result.status[:40],
            rows=_stored(result.rows_affected),
            milliseconds=_stored(_milliseconds(result)),
        )
    for name in build.facts.get("outputs", []):
        try:
            asset = _written(name, announcer)
            permit(announcer, asset.namespace)
        except (NotFound, BadInput, NotAllowed) as error:
            unknown.append(str(error))
        else:
            found.setdefault(asset.pk, BuildOutput(build=build, asset=asset, status=build.status))
    return list(found.values()), unknown


def _written(name: str, announcer: Actor) -> Asset:
    """As `find_asset`; a refusal lists near names, those alone that the announcer may see."""
    try:
        return find_asset(name)
    except (NotFound, BadInput):
        return find_asset(name, among=pool_of(announcer))


def _dbt_outputs(build: Build) -> list[tuple[Asset, NodeResult]]:
    sha256 = build.artifacts.filter(kind="run_results").values_list("sha256", flat=True).first()
    if sha256 is None:
        return []
    results = run_results.read(files.load(sha256)).results
    written = {key: result for key, result in results.items() if key.partition(".")[0] in ("model", "seed", "snapshot")}
    assets = assets_of_nodes(list(written), build.project or _own_project(build))
    return [(assets[key], result) for key, result in written.items() if key in assets]


def _own_project(build: Build) -> str | None:
    read = manifest_of(build)
    return read.project or None if read else None


def _finish(build: Build, version: int | None, outputs: Sequence[BuildOutput], refusal: str, actor: Actor) -> None:
    with transaction():
        row = lock(Build.objects.all(), pk=build.pk)
        if row.processed_at is not None:
            return
        BuildOutput.objects.bulk_create(outputs, ignore_conflicts=True, batch_size=500)
        ends = {"processed_at": clock.now(), "refusal": refusal, "graph_version_id": version}
        Build.objects.filter(pk=build.pk, processed_at__isnull=True).update(**ends)
        if refusal:
            audit.record(actor, actions.BUILD_REFUSED, row, facts={"key": row.key, "reason": refusal})
        else:
            audit.record(actor, actions.BUILD_PROCESSED, row, facts={"key": row.key, "outputs": len(outputs)})


def _namespace(connection: str) -> str | None:
    """The declared namespace of the connection; None when the announcement names none that is known."""
    if not connection:
        return None
    return Connection.objects.filter(name=connection).values_list("namespace", flat=True).first() or None


def _milliseconds(result: NodeResult) -> int | None:
    try:
        return round(float(result.execution_time or "") * 1000)
    except (ValueError, OverflowError):
        return None


def _stored(number: int | None) -> int | None:
    """The number, if the tables can hold it."""
    return number if number is not None and 0 <= number < 2**63 else None
