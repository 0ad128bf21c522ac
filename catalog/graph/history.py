"""The graph's versions: who made them, what each changed, and when the claims about one asset stood."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from catalog.graph.differences import differences
from catalog.models import Asset, EdgeClaim, GraphVersion, NodeClaim, Source
from foundation.errors import NotFound
from foundation.models import AuditRow, Principal

GRAPH_VERSION = "catalog.graphversion"
SORTED = 20_000  # rows; sorting more by name takes longer than a page may


@dataclass(frozen=True)
class VersionRow:
    """One version: by whom (None where no audit row tells) and how many edges it opened and closed."""

    version: GraphVersion
    who: Principal | None
    edges_added: int
    edges_removed: int


@dataclass(frozen=True)
class VersionPage:
    """Some versions, newest first; `total` counts all that were asked for, `older` is where the next page begins."""

    rows: tuple[VersionRow, ...]
    total: int
    older: int | None

    @property
    def truncated(self) -> bool:
        return self.older is not None


@dataclass(frozen=True)
class NodeChange:
    """What a version says of one asset: added, changed (with `said`: what differs, in words) or removed."""

    asset: Asset
    state: str
    said: tuple[str, ...] = ()
    before: Asset | None = None


@dataclass(frozen=True)
class EdgeChange:
    """An edge that a version opened (added) or closed (removed)."""

    above: Asset
    below: Asset
    kind: str
    state: str


@dataclass(frozen=True)
class Page:
    """A part of a longer list, from `offset` on."""

    rows: tuple[Any, ...]
    total: int
    offset: int

    @property
    def truncated(self) -> bool:
        return self.offset + len(self.rows) < self.total


@dataclass(frozen=True)
class Interval:
    """One claim about an asset: from the version that opened it to the one that closed it (None: it stands)."""

    source: str
    since: GraphVersion
    until: GraphVersion | None
    said: tuple[str, ...]
    claim: NodeClaim | EdgeClaim


def versions(*, source: str = "", before: int | None = None, limit: int = 50) -> VersionPage:
    """The versions below number `before` (default: from the newest), of one source where its key is given."""
    wanted = GraphVersion.objects.filter(source__key=source) if source else GraphVersion.objects.all()
    rows = list((wanted if before is None else wanted.filter(number__lt=before)).select_related("source")[: limit + 1])
    more, rows = len(rows) > limit, rows[:limit]
    numbers = [row.number for row in rows]
    who, opened, closed = _makers(numbers), _count("added_in", numbers), _count("removed_in", numbers)
    shown = (VersionRow(row, who.get(row.number), opened.get(row.number, 0), closed.get(row.number, 0)) for row in rows)
    return VersionPage(tuple(shown), wanted.count(), numbers[-1] if more else None)


def version(number: int) -> VersionRow:
    """One version. NotFound when there is none."""
    row = GraphVersion.objects.select_related("source").filter(number=number).first()
    if row is None:
        raise NotFound(f"There is no graph version {number}.")
    counts = (_count(field, [number]).get(number, 0) for field in ("added_in", "removed_in"))
    return VersionRow(row, _makers([number]).get(number), *counts)


def sources() -> list[str]:
    """The keys of all sources that made a version."""
    made = Exists(GraphVersion.objects.filter(source=OuterRef("pk")))
    return list(Source.objects.filter(made).order_by("key").values_list("key", flat=True))


def changes(number: int, *, offset: int = 0, limit: int = 100) -> Page:
    """The assets of which version `number` opened or closed a claim: added and changed ones, then removed ones.

    By name, or where there are too many to sort for one page, in the order in which they came.
    """
    opened = NodeClaim.objects.filter(added_in=number)
    # One version is made by one source, or opens again under the same id whatever it closes.
    closed = NodeClaim.objects.filter(removed_in=number).exclude(local_id__in=opened.values("local_id"))
    first, last = opened.count(), closed.count()
    page = _by_name(opened, first).select_related("asset__domain")[offset : offset + limit]
    rest = _by_name(closed, last).select_related("asset__domain")
    gone = rest[max(0, offset - first) : max(0, offset + limit - first)]
    rows = [*_opened(number, list(page)), *(NodeChange(one.asset, "removed") for one in gone)]
    return Page(tuple(rows), first + last, offset)


def edge_changes(number: int, *, offset: int = 0, limit: int = 100) -> Page:
    """The edges that version `number` opened, then those that it closed."""
    related = ("from_asset__domain", "to_asset__domain")
    rows: list[EdgeChange] = []
    total = 0
    for field, state in (("added_in", "added"), ("removed_in", "removed")):
        claims = EdgeClaim.objects.filter(**{field: number}).select_related(*related)
        start, end, count = max(0, offset - total), max(0, offset + limit - total), claims.count()
        names = ("from_asset__name", "to_asset__name") if count <= SORTED else ()
        part = claims.order_by(*names, "pk")[start:end]
        rows += [EdgeChange(one.from_asset, one.to_asset, one.kind, state) for one in part]
        total += count
    return Page(tuple(rows), total, offset)


def node_intervals(asset: Asset, *, offset: int = 0, limit: int = 100) -> Page:
    """Every claim that the asset exists, the newest first, with what each says otherwise than the one before it."""
    claims = NodeClaim.objects.filter(asset=asset)
    page = list(
        claims.select_related("source", "added_in", "removed_in").order_by("-added_in_id", "-pk")[offset:][:limit]
    )
    before = _before(page)
    rows = (
        Interval(
            one.source.key, one.added_in, one.removed_in, _said(before.get((one.source_id, one.local_id,
            one.added_in_id)), one), one)
        for one in page
    )  # fmt: skip
    return Page(tuple(rows), claims.count(), offset)


def edge_intervals(asset: Asset, *, offset: int = 0, limit: int = 100) -> Page:
    """Every edge into or out of the asset that was ever claimed, those that stand first."""
    claims = EdgeClaim.objects.filter(Q(from_asset=asset) | Q(to_asset=asset))
    related = ("source", "added_in", "removed_in", "from_asset__domain", "to_asset__domain")
    ordered = (
        claims.select_related(*related)
        .annotate(gone=Q(removed_in__isnull=False))
        .order_by("gone", "-added_in_id", "-pk")
    )
    rows = (Interval(one.source.key, one.added_in, one.removed_in, (), one) for one in ordered[offset:][:limit])
    return Page(tuple(rows), claims.count(), offset)


def _by_name(claims: QuerySet[NodeClaim], count: int) -> QuerySet[NodeClaim]:
    return claims.order_by("asset__name", "pk") if count <= SORTED else claims.order_by("pk")


def _opened(number: int, page: Sequence[NodeClaim]) -> Iterator[NodeChange]:
    closed: dict[tuple[int, str], NodeClaim] = {}
    taken_over: dict[tuple[int, str], NodeClaim] = {}  # one source tells now what another told of the same asset
    for start in range(0, len(page), 200):
        names = [one.local_id for one in page[start : start + 200]]
        rows = NodeClaim.objects.filter(removed_in=number, local_id__in=names).select_related("asset__domain")
        closed.update({(one.source_id, one.local_id): one for one in rows})
        taken_over.update({(one.asset_id, one.local_id): one for one in rows})
    for one in page:
        before = closed.get((one.source_id, one.local_id)) or taken_over.get((one.asset_id, one.local_id))
        if before is None:
            yield NodeChange(one.asset, "added")
        else:
            moved = before.asset if before.asset_id != one.asset_id else None
            yield NodeChange(one.asset, "changed", differences(before.attributes, one.attributes), moved)


def _before(page: Sequence[NodeClaim]) -> dict[tuple[int, str, int], NodeClaim]:
    """The claims that closed when those of the page opened, by source, the source's id and that version."""
    rows = NodeClaim.objects.filter(
        local_id__in={one.local_id for one in page}, removed_in__in={one.added_in_id for one in page}
    )
    return {(one.source_id, one.local_id, one.removed_in_id): one for one in rows if one.removed_in_id is not None}


def _said(before: NodeClaim | None, now: NodeClaim) -> tuple[str, ...]:
    return differences(before.attributes, now.attributes) if before else ()


def _makers(numbers: Collection[int]) -> Mapping[int, Principal]:
    rows = AuditRow.objects.filter(target_type=GRAPH_VERSION, target_id__in=[str(number) for number in numbers])
    found: QuerySet[AuditRow] = rows.select_related("principal__name_row").order_by("-id")
    return {int(row.target_id): row.principal for row in found}


def _count(field: str, numbers: Collection[int]) -> dict[int, int]:
    rows = EdgeClaim.objects.filter(**{f"{field}__in": numbers}).order_by().values_list(field)
    return dict(rows.annotate(n=Count("pk")))
