"""How fresh a source was when dbt looked: from the sources.json of the newest build that measured it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Final

from django.db.models import F, Q
from django.db.models.functions import Coalesce

from catalog.models import Asset, Build, BuildArtifact, NodeClaim
from catalog.services.access import permit
from catalog.sources import freshness
from catalog.sources.freshness import SourceFreshness
from foundation import artifacts
from foundation.audit import Actor
from foundation.canonical import timestamp
from foundation.errors import BadInput, NotAllowed, NotFound, Unavailable

LOOKED_AT: Final = 20  # of the newest files; what none of them names counts as not measured


@dataclass(frozen=True)
class Freshness:
    """One source at `measured_at`, when dbt looked: its `status` then (dbt's word: pass, warn, error, runtime error),
    when its newest row was loaded, and the ages in seconds from which dbt warns and fails (None: none is set).

    `message` is why dbt could not tell. What is not known is None.
    """

    status: str
    loaded_at: datetime | None
    measured_at: datetime | None
    warn_after: int | None
    error_after: int | None
    message: str
    build: Build

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON; moments are RFC 3339 in UTC, ages whole seconds, `build` the key of the build."""
        return {
            "status": self.status,
            "loaded_at": timestamp(self.loaded_at) if self.loaded_at else None,
            "measured_at": timestamp(self.measured_at) if self.measured_at else None,
            "warn_after": self.warn_after,
            "error_after": self.error_after,
            "message": self.message,
            "build": self.build.key,
        }


def freshness_of(asset: Asset) -> Freshness | None:
    """What the newest of the last 20 measurements that name `asset` says; None when it is no source of a dbt project,
    or none of them does. Reads one file a measurement looked at, each once for a while."""
    claims = NodeClaim.objects.filter(asset=asset, source__kind="dbt", removed_in__isnull=True)
    names = dict(claims.filter(attributes__resource_type="source").values_list("local_id", "source__key"))
    if not names:
        return None
    for build, results in _measured({key.partition(":")[2] for key in names.values()}, asset.namespace):
        for name in names:
            if name in results:
                return _of(results[name], build)
    return None


def _measured(projects: set[str], namespace: str) -> Iterator[tuple[Build, Mapping[str, SourceFreshness]]]:
    """The newest measurements of these projects by whoever may write in the namespace, newest first."""
    rows = BuildArtifact.objects.filter(Q(build__project__in=projects) | Q(build__project=""), kind="sources")
    newest = rows.annotate(at=Coalesce(F("build__ended_at"), F("build__announced_at"))).order_by("-at", "-pk")
    for row in newest.select_related("build__announced_by")[:LOOKED_AT]:
        try:
            permit(Actor(row.build.announced_by, "api"), namespace)
            yield row.build, _read(row.sha256)
        except (BadInput, NotAllowed, NotFound, Unavailable):  # a file that is gone or damaged tells nothing
            continue


@lru_cache(maxsize=8)
def _read(sha256: str) -> Mapping[str, SourceFreshness]:
    return freshness.read(artifacts.load(sha256)).results


def _of(found: SourceFreshness, build: Build) -> Freshness:
    return Freshness(
        status=found.status,
        loaded_at=_moment(found.max_loaded_at),
        measured_at=_moment(found.snapshotted_at) or build.ended_at,
        warn_after=found.warn_after,
        error_after=found.error_after,
        message=found.message,
        build=build,
    )


def _moment(text: str | None) -> datetime | None:
    """The moment; one without a zone counts as UTC, as dbt writes it. None for what is none."""
    try:
        found = datetime.fromisoformat(text or "")
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
