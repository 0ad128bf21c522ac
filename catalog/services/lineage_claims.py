"""The claims that follow from jobs and datasets: an asset stands while a job uses it or it was described; each input of
a job feeds each of its outputs. Several jobs may say the same: a claim closes when none says it any more."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, Final

from django.db.models import Exists, OuterRef, Q

from catalog import actions
from catalog.graph.versions import head_version
from catalog.models import Asset, EdgeClaim, GraphVersion, LineageDataset, LineageUse, NodeClaim
from catalog.services import claims
from catalog.services.claims import Change, Difference
from catalog.services.staging import Edge
from catalog.sources.claims import LOCAL_ID
from catalog.sources.openlineage import facets
from catalog.sources.openlineage.facets import Said
from foundation import audit
from foundation.audit import Actor
from foundation.canonical import sha256_hex

KEY: Final = "openlineage"
CHUNK: Final = 500


def write(touched: Iterable[int], events: int, *, actor: Actor) -> Change:
    """Make the claims about the assets `touched`, and the edges into them, what the rows of jobs and datasets say.

    Inside of the transaction that locked the head of the graph; `events` is told in the audit row.
    """
    pks = sorted(set(touched))

    def in_step(change: Change) -> None:
        facts: dict[str, str | int | None] = {"events": events, "version": change.version, **change.counts}
        audit.record(actor, actions.GRAPH_OBSERVED, GraphVersion(number=change.version), facts=facts)

    return claims.write(KEY, KEY, lambda: _difference(pks), in_step=in_step)


def said_of(pks: Iterable[int]) -> dict[int, Said]:
    """What producers say of each of these assets that their jobs use or that they described; the others are absent."""
    found: dict[int, Said] = {}
    for dataset in _standing_datasets(sorted(set(pks))):
        said = found.get(dataset.asset_id, {})
        for fact, (rank, at, value) in dataset.said.items():
            said = facets.merge(said, {fact: value}, rank, at)
        found[dataset.asset_id] = said
    return found


def kind_of(said: Said) -> str:
    """The kind of asset; a table where nobody says what it is."""
    materialized = facets.value(said, "materialized")
    return str(facets.value(said, "kind") or ("view" if materialized == "view" else "table"))


def _difference(pks: list[int]) -> Difference:
    base = head_version()
    wanted = _nodes(pks)
    opened, closed, changed, gone = _compare(wanted, _standing_nodes(pks))
    closed += _in_the_way(opened, closed)
    edges, before = _edges(pks), _standing_edges(pks)
    return Difference(
        base=base,
        opened=opened,
        closed=closed,
        opened_edges=edges - before.keys(),
        closed_edges=[pk for edge, pk in before.items() if edge not in edges],
        added=len(opened) - changed,
        changed=changed,
        removed=gone,
    )


def _compare(
    wanted: Mapping[int, tuple[str, dict[str, Any]]], standing: Mapping[int, list[tuple[int, str, dict[str, Any]]]]
) -> tuple[dict[str, tuple[int, dict[str, Any]]], list[int], int, int]:
    """What opens, what closes, how many of the opened changed, how many assets go."""
    opened: dict[str, tuple[int, dict[str, Any]]] = {}
    closed: list[int] = []
    changed = 0
    for asset, (local_id, attributes) in wanted.items():
        rows = standing.get(asset, [])
        same = next((row for row in rows if row[2] == attributes), None)
        closed += [pk for pk, _, _ in rows if same is None or pk != same[0]]
        if same is None:
            opened[local_id] = asset, attributes
            changed += bool(rows)
    gone = [asset for asset in standing if asset not in wanted]
    closed += [pk for asset in gone for pk, _, _ in standing[asset]]
    return opened, closed, changed, len(gone)


def _in_the_way(opened: Mapping[str, Any], closed: list[int]) -> list[int]:
    """Standing claims under the ids that open now: an asset that was renamed kept its claim's old id."""
    names = list(opened)
    return [
        pk
        for start in range(0, len(names), CHUNK)
        for pk in NodeClaim.objects.filter(
            source__key=KEY, removed_in__isnull=True, local_id__in=names[start : start + CHUNK]
        ).values_list("pk", flat=True)
        if pk not in closed
    ]


def _nodes(pks: list[int]) -> dict[int, tuple[str, dict[str, Any]]]:
    said = said_of(pks)
    assets = Asset.objects.filter(pk__in=list(said)).values_list("pk", "namespace", "name")
    return {pk: (_local_id(f"{space}/{name}"), _attributes(name, said[pk])) for pk, space, name in assets}


def _local_id(full: str) -> str:
    return full if len(full) <= LOCAL_ID else sha256_hex(full.encode())


def _attributes(name: str, said: Said) -> dict[str, Any]:
    facts = ("description", "columns", "tags", "owners", "materialized")
    known = {fact: facets.value(said, fact) for fact in facts}
    return {"kind": kind_of(said), "resource_type": "dataset", "name": name.rpartition(".")[2]} | {
        fact: value for fact, value in known.items() if value
    }


def _standing_datasets(pks: list[int]) -> Iterable[LineageDataset]:
    used = Exists(LineageUse.objects.filter(dataset=OuterRef("pk")))
    for start in range(0, len(pks), CHUNK):
        part = LineageDataset.objects.filter(asset__in=pks[start : start + CHUNK], dropped=False)
        yield from part.filter(Q(described=True) | used).order_by("pk")


def _edges(pks: list[int]) -> set[Edge]:
    """The edges into these assets: from what the jobs that write them read. A job that reads what it writes feeds
    itself nothing."""
    writers: dict[int, set[int]] = defaultdict(set)
    for start in range(0, len(pks), CHUNK):
        part = LineageUse.objects.filter(
            role="output", dataset__dropped=False, dataset__asset__in=pks[start : start + CHUNK]
        )
        for job, asset in part.values_list("job_id", "dataset__asset_id"):
            writers[job].add(asset)
    jobs = sorted(writers)
    return {
        (above, below, "feeds")
        for start in range(0, len(jobs), CHUNK)
        for job, above in LineageUse.objects.filter(
            role="input", dataset__dropped=False, job__in=jobs[start : start + CHUNK]
        ).values_list("job_id", "dataset__asset_id")
        for below in writers[job]
        if above != below
    }


def _standing_nodes(pks: list[int]) -> dict[int, list[tuple[int, str, dict[str, Any]]]]:
    found: dict[int, list[tuple[int, str, dict[str, Any]]]] = defaultdict(list)
    for start in range(0, len(pks), CHUNK):
        rows = NodeClaim.objects.filter(source__key=KEY, removed_in__isnull=True, asset__in=pks[start : start + CHUNK])
        for pk, asset, local_id, attributes in rows.values_list("pk", "asset_id", "local_id", "attributes"):
            found[asset].append((pk, local_id, attributes))
    return dict(found)


def _standing_edges(pks: list[int]) -> dict[Edge, int]:
    found: dict[Edge, int] = {}
    for start in range(0, len(pks), CHUNK):
        rows = EdgeClaim.objects.filter(
            source__key=KEY, removed_in__isnull=True, to_asset__in=pks[start : start + CHUNK]
        )
        for above, below, kind, pk in rows.values_list("from_asset_id", "to_asset_id", "kind", "pk"):
            found[above, below, kind] = pk
    return found
