"""What the floors above ask of the catalogue."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from django.db.models import QuerySet

from catalog.graph.adjacency import Direction, adjacency
from catalog.graph.answering import everybody, people_among
from catalog.graph.versions import version_for
from catalog.models import Asset, Build, ColumnList, Definition, NodeClaim
from catalog.names import find_asset, full_name
from catalog.sources import manifest, run_results
from catalog.sources.manifest_types import Manifest
from catalog.sources.run_results import RunResults
from catalog.warehouses import base
from foundation import artifacts
from foundation.bulk import chunks
from foundation.models import Person

__all__ = [
    "Relation",
    "ancestors",
    "asset_of_node",
    "assets_by_id",
    "assets_of_nodes",
    "columns",
    "dbt_node",
    "definition_of",
    "definitions_of",
    "descendants",
    "find_asset",
    "full_name",
    "manifest_of",
    "people",
    "relation",
    "run_results_of",
    "version_for",
]

CHUNK = 500
RANK = {"model": 3, "snapshot": 3, "seed": 3, "source": 2, "table": 1, "view": 1}
"""Which of several claims describes an asset: who builds it knows more of it than who reads it."""


@dataclass(frozen=True)
class ColumnView:
    """One column as it is known now; `nullable` is None where nobody said."""

    name: str
    type: str
    description: str
    nullable: bool | None


@dataclass(frozen=True)
class Relation(base.Relation):
    """The table behind an asset, as the warehouse functions take it, with the dialect and namespace to ask in."""

    dialect: str = ""
    namespace: str = ""

    @property
    def identifier(self) -> str:
        return self.name


def relation(asset: Asset) -> Relation | None:
    """The table behind `asset` by its warehouse's own word (its names are exact), else by its standing dbt claim.

    None when none names one (an ephemeral model, a report).
    """
    for node in (*_claims(asset, "warehouse"), *_claims(asset, "dbt")):
        found = node.attributes.get("relation")
        if found:
            return Relation(
                found["database"] or None,
                found["schema"] or None,
                found["identifier"],
                node.attributes.get("dialect", ""),
                asset.namespace,
            )
    return None


def columns(asset: Asset) -> list[ColumnView]:
    """The columns of `asset` in their order; empty when nobody described any."""
    items = ColumnList.objects.filter(asset=asset).values_list("items", flat=True).first() or []
    return [ColumnView(one["name"], one["type"], one["description"], one["nullable"]) for one in items]


def definition_of(asset: Asset) -> Definition | None:
    """The definition that counts: the newest that stands; None when nobody's does."""
    return definitions_of(asset).filter(status="standing").first()


def definitions_of(asset: Asset) -> QuerySet[Definition]:
    """Every definition that was ever given, the newest first."""
    rows = Definition.objects.filter(asset=asset).order_by("-number")
    return rows.select_related("author__name_row", "approved_by__principal__name_row")


def dbt_node(asset: Asset) -> NodeClaim | None:
    """The standing claim of a dbt project about `asset`: the project that builds it before one that only reads it."""
    return next(iter(_claims(asset, "dbt")), None)


def asset_of_node(unique_id: str, project: str | None = None) -> Asset | None:
    """The asset that dbt calls `unique_id` (in `project`, if several know it); None when no standing claim says so."""
    return assets_of_nodes([unique_id], project).get(unique_id)


def assets_of_nodes(unique_ids: Sequence[str], project: str | None = None) -> dict[str, Asset]:
    """As `asset_of_node` for many ids at once; those that no standing claim names are left out."""
    found: list[NodeClaim] = []
    for chunk in chunks(unique_ids, CHUNK):
        claims = NodeClaim.objects.filter(local_id__in=chunk, source__kind="dbt", removed_in__isnull=True)
        claims = claims.filter(source__key=f"dbt:{project}") if project else claims
        found += claims.select_related("asset")
    return {claim.local_id: claim.asset for claim in sorted(found, key=_rank, reverse=True)}


def manifest_of(build: Build) -> Manifest | None:
    """The manifest that `build` left, read; None when it left none."""
    sha256 = build.artifacts.filter(kind="manifest").values_list("sha256", flat=True).first()
    return _manifest(sha256) if sha256 else None


def run_results_of(build: Build) -> RunResults | None:
    """What dbt said of each node of `build`; None when it left no run_results."""
    sha256 = build.artifacts.filter(kind="run_results").values_list("sha256", flat=True).first()
    return run_results.read(artifacts.load(sha256)) if sha256 else None


def people(asset: Asset, role: str) -> list[Person]:
    """The active people who answer for `asset` in `role`; its domain names the owner and on-call person else.

    Whom people declared goes before whom a dbt project names.
    """
    return people_among(everybody([asset.pk], [role]).get(asset.pk, {}).get(role, ()))


def ancestors(asset: Asset) -> list[tuple[Asset, int]]:
    """Everything that feeds `asset`, nearest first, with its distance in edges; cycles are fine, it is not in it."""
    return _walk(asset, "up")


def descendants(asset: Asset) -> list[tuple[Asset, int]]:
    """Everything that `asset` feeds, nearest first, with its distance in edges; cycles are fine, it is not in it."""
    return _walk(asset, "down")


def assets_by_id(ids: Iterable[int]) -> dict[int, Asset]:
    """The assets with these ids; read in chunks, since databases limit the parameters of a query."""
    rows = Asset.objects.select_related("domain")
    return {pk: asset for chunk in chunks(list(ids), CHUNK) for pk, asset in rows.in_bulk(chunk).items()}


def _walk(asset: Asset, direction: Direction) -> list[tuple[Asset, int]]:
    walk = adjacency(version_for(asset)).walk(asset.pk, direction)
    assets = assets_by_id(walk.ids.tolist())
    return [(assets[pk], hops) for pk, hops in zip(walk.ids.tolist(), walk.hops.tolist(), strict=True)]


def _claims(asset: Asset, kind: str) -> list[NodeClaim]:
    claims = NodeClaim.objects.filter(asset=asset, source__kind=kind, removed_in__isnull=True)
    return sorted(claims.select_related("source"), key=_rank)


def _rank(claim: NodeClaim) -> tuple[int, Any]:
    return -RANK.get(claim.attributes.get("kind", ""), 0), claim.pk


@lru_cache(maxsize=4)
def _manifest(sha256: str) -> Manifest:
    return manifest.read(artifacts.load(sha256))
