"""Two assets that turn out to be one: the claims of one close and open again on the other; nothing is lost.

Which row stays is decided by what hangs on it: rows of the floors above (metrics, incidents, receipts' steps) may be
kept by the database for good, so the row that has such rows stays and takes the name. What cannot move stays with the
row that goes, and is told.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Q, QuerySet

from catalog import actions
from catalog.graph.versions import head_version
from catalog.models import Asset, EdgeClaim, GraphHead, GraphVersion, NodeClaim
from catalog.services import claims, moving
from catalog.services.graph_lock import hold_graph
from catalog.sources.naming import DatasetName
from foundation import audit, clock
from foundation.audit import Actor
from foundation.bulk import chunks
from foundation.locks import transaction

CHUNK = 500
PAIRS = 25  # assets of one version; their claims are written in one SQLite transaction
SOURCE = "identity"


@dataclass
class United:
    """How many assets took another name, how many pairs became one, the newest version, and what stayed behind."""

    version: int = 0
    renamed: int = 0
    united: int = 0
    left: list[dict[str, str]] = field(default_factory=list)
    touched: set[int] = field(default_factory=set)


def unite(moves: Mapping[int, DatasetName], *, why: str, actor: Actor) -> United:
    """Give each asset (by pk) its new identity: by another name where that is free, else by becoming one with its
    holder. An asset that is not in the graph and whose new name is taken stays as it is: its history is there."""
    done = United(version=head_version())
    for chunk in chunks(list(moves.items()), CHUNK):
        _rename(dict(chunk), done, why, actor)
    for pairs in chunks(_pairs(moves), PAIRS):
        _unite({pk: moves[pk] for pk, _ in pairs}, done, why, actor)
    return done


def names_in(namespace: str, names: Iterable[str]) -> set[str]:
    """Which of `names` assets of `namespace` have."""
    found: set[str] = set()
    for chunk in chunks(list(names), CHUNK):
        found.update(Asset.objects.filter(namespace=namespace, name__in=chunk).values_list("name", flat=True))
    return found


def _rename(moves: Mapping[int, DatasetName], done: United, why: str, actor: Actor) -> None:
    """Rename those whose new name nobody has; of two that want one name, the first by id gets it."""
    with transaction():
        hold_graph()
        taken = _holders(moves.values())
        free: dict[DatasetName, int] = {}
        for pk, name in sorted(moves.items()):
            if name not in taken:
                free.setdefault(name, pk)
        rows = [Asset(pk=pk, namespace=name.namespace, name=name.name) for name, pk in free.items()]
        if rows:
            Asset.objects.bulk_update(rows, ["namespace", "name"])
            done.renamed += len(rows)
            done.touched |= set(free.values())
            audit.record(actor, actions.ASSETS_RENAMED, ("catalog.asset", str(rows[0].pk)), facts={
                "renamed": len(rows), "why": why,
            })  # fmt: skip


def _pairs(moves: Mapping[int, DatasetName]) -> list[tuple[int, int]]:
    """(the asset that is not to be found under its old name any more, the one that has the new name)."""
    pairs: list[tuple[int, int]] = []
    for chunk in chunks(list(moves.items()), CHUNK):
        holders = _holders(name for _, name in chunk)
        standing = NodeClaim.objects.filter(_open(), asset__in=[pk for pk, _ in chunk])
        edges = EdgeClaim.objects.filter(_open())
        alive = {
            *standing.values_list("asset_id", flat=True),
            *edges.filter(from_asset__in=[pk for pk, _ in chunk]).values_list("from_asset_id", flat=True),
            *edges.filter(to_asset__in=[pk for pk, _ in chunk]).values_list("to_asset_id", flat=True),
        }
        pairs += [(pk, holders[name]) for pk, name in chunk if pk in alive and holders.get(name, pk) != pk]
    return pairs


def _unite(moves: Mapping[int, DatasetName], done: United, why: str, actor: Actor) -> None:
    """One version. Who has which name is asked under the lock: pairs before these, or somebody else, may have changed
    it, and two rows that exchanged their names already must not do it again."""
    origin = claims.source(SOURCE, SOURCE)
    with transaction():
        head = hold_graph()
        pairs = _pairs(moves)
        if not pairs:
            return
        rows = Asset.objects.select_related("domain").in_bulk({pk for pair in pairs for pk in pair})
        above = moving.known_above(rows.keys())
        into: dict[int, int] = {}
        for old, new in pairs:
            gone, kept = moving.choose(rows[old], rows[into.get(new, new)], above)
            into[gone.pk] = kept.pk
        into = {gone: _last(kept, into) for gone, kept in into.items()}
        done.left += moving.move(into, above)
        nodes = NodeClaim.objects.filter(_open(), asset__in=into)
        edges = EdgeClaim.objects.filter(_open()).filter(Q(from_asset__in=into) | Q(to_asset__in=into))
        before = [*nodes], [*edges]
        version = GraphVersion.objects.create(
            number=head.version + 1, at=clock.now(), source=origin, changed=len(before[0])
        )
        GraphHead.objects.filter(pk=1, version=head.version).update(version=version.number)
        nodes.update(removed_in=version)
        edges.update(removed_in=version)
        NodeClaim.objects.bulk_create([_node(one, into, version) for one in before[0]])
        EdgeClaim.objects.bulk_create(_edges(before[1], into, version))
        audit.record(actor, actions.ASSETS_UNITED, version, facts={
            "united": len(pairs), "why": why, "version": version.number,
        })  # fmt: skip
    done.version, done.united = version.number, done.united + len(pairs)
    done.touched |= rows.keys()


def _last(pk: int, into: Mapping[int, int]) -> int:
    """The row that stays in the end: of three that become one, the second may go as well."""
    while pk in into:
        pk = into[pk]
    return pk


def _node(one: NodeClaim, into: Mapping[int, int], version: GraphVersion) -> NodeClaim:
    return NodeClaim(
        source_id=one.source_id,
        asset_id=into[one.asset_id],
        local_id=one.local_id,
        attributes=one.attributes,
        added_in=version,
    )


def _edges(before: Sequence[EdgeClaim], into: Mapping[int, int], version: GraphVersion) -> list[EdgeClaim]:
    """The same claims between the assets that stay, but for what they claim already, and an edge from one to itself."""
    wanted: dict[tuple[int, int, int, str], EdgeClaim] = {}
    for one in before:
        above, below = into.get(one.from_asset_id, one.from_asset_id), into.get(one.to_asset_id, one.to_asset_id)
        claim = {"source_id": one.source_id, "kind": one.kind}
        row = EdgeClaim(from_asset_id=above, to_asset_id=below, added_in=version, **claim)
        if above != below or one.from_asset_id == one.to_asset_id:
            wanted[one.source_id, above, below, one.kind] = row
    standing = EdgeClaim.objects.filter(_open(), from_asset__in={key[1] for key in wanted})
    keys = standing.values_list("source_id", "from_asset_id", "to_asset_id", "kind")
    return [wanted[key] for key in sorted(wanted.keys() - set(keys))]


def _holders(names: Iterable[DatasetName]) -> dict[DatasetName, int]:
    wanted = set(names)
    found: dict[DatasetName, int] = {}
    for namespace in {name.namespace for name in wanted}:
        rows: QuerySet[Any] = Asset.objects.filter(
            namespace=namespace, name__in=[name.name for name in wanted if name.namespace == namespace]
        )
        found.update({DatasetName(namespace, name): pk for pk, name in rows.values_list("pk", "name")})
    return found


def _open() -> Q:
    return Q(removed_in__isnull=True)
