"""What this installation knows that a review needs, as one document: domains and who approves, tables and what feeds
them where no manifest says it, measured columns, readers with their times, rules. Straight from the database; the
number of queries grows with every 500 assets, not with each.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from django.conf import settings

from approvals.models import Policy
from catalog.graph.answering import everybody
from catalog.graph.versions import head_version
from catalog.models import Asset, Consumer, Domain, EdgeClaim, NodeClaim, ReviewRule
from catalog.register import RegisterRow, register
from catalog.review.known.facts_document import FactsDocument
from catalog.review.types import KnownAsset, KnownDomain, KnownReader, Rule
from catalog.selectors import RANK
from foundation.clock import now
from foundation.errors import NotAllowed
from foundation.people import display_name
from spellbook.review_columns import columns_of, keys_of

SOURCE: Final = "Spellbook"


def opaque(kind: str, pk: int) -> str:
    """What an asset of a restricted domain is called: it says nothing, and still joins the asset to what reads it."""
    return f"restricted {kind} {pk}"


@dataclass(frozen=True, slots=True)
class Table:
    """An asset of the graph. `told_by` are the dbt projects that tell of it, `opaque` says that its name is hidden."""

    pk: int
    name: str
    kind: str
    unique_id: str
    domain_id: int | None
    told_by: frozenset[str]
    opaque: bool

    @property
    def shown(self) -> str:
        """Its name, or one that says nothing."""
        return opaque(self.kind, self.pk) if self.opaque else self.name


def document(
    *, project: str = "", hidden: Collection[int] | None = None, outside: bool = False, installation: str = ""
) -> FactsDocument:
    """What is known now. `project` is dbt's name of the project under review: what its manifest says is left to it.

    `hidden` are the ids of domains whose names the reader may not see (None: every restricted one). `outside` says that
    the document leaves the installation: then the names of hidden tables of the project go too, and since a review
    without them would call safe what is not, NotAllowed is raised where there are any.
    """
    domains = {one.pk: one for one in Domain.objects.select_related("owner__principal__name_row")}
    veiled = {pk for pk, one in domains.items() if one.restricted} if hidden is None else set(hidden)
    tables = _tables(veiled, project, outside)
    if outside:
        _refuse_half(tables, project)
    readers = register(now(), baselines=lambda ids: (), limit=None).rows
    feeding = _feeding(tables, project)
    measured = _measured(tables, project)
    people = everybody(list(tables))
    key = {pk: one.key for pk, one in domains.items()}
    return FactsDocument(
        taken_at=now(),
        installation=installation or settings.SPELLBOOK_BASE_URL,
        graph_version=head_version(),
        domains=tuple(_domains(domains)),
        assets=tuple(
            KnownAsset(
                name=one.shown,
                kind=one.kind,
                unique_id="" if one.opaque else one.unique_id,
                domain=key.get(one.domain_id or 0, ""),
                people={role: tuple(who.name for who in listed) for role, listed in people.get(pk, {}).items()},
                reads=tuple(tables[above].shown for above in sorted(feeding.get(pk, ()))),
            )
            for pk, one in tables.items()
        ),
        readers=tuple(_reader(row, tables, veiled, key) for row in readers),
        columns=columns_of(measured),
        keys=keys_of(measured),
        rules=tuple(_rules(tables, {row.asset.pk: row.asset for row in readers}, veiled)),
    )


def _tables(veiled: Collection[int], project: str, outside: bool) -> dict[int, Table]:
    """Every asset of the graph that is no reader, by id."""
    readers = set(Consumer.objects.filter(status__in=("standing", "suggested")).values_list("asset_id", flat=True))
    claims: dict[int, list[tuple[int, str, str]]] = defaultdict(list)
    standing = NodeClaim.objects.filter(removed_in__isnull=True, source__kind="dbt")
    for pk, key, local_id, kind in standing.values_list("asset_id", "source__key", "local_id", "attributes__kind"):
        own = key == f"dbt:{project}"
        claims[pk].append((10 * own + RANK.get(kind or "", 0), key.removeprefix("dbt:"), local_id))
    present = Asset.objects.present().order_by("pk")
    rows = list(present.values_list("pk", "namespace", "name", "kind", "domain_id"))
    named = Counter(name for _, _, name, _, _ in rows)
    found = {}
    for pk, namespace, name, kind, domain in rows:
        if pk in readers:
            continue
        told = claims.get(pk, [])
        ours = bool(project) and any(key == project for _, key, _ in told)
        found[pk] = Table(
            pk=pk,
            name=name if named[name] == 1 else f"{namespace}/{name}",
            kind=kind,
            unique_id=max(told)[2] if told else "",
            domain_id=domain,
            told_by=frozenset(key for _, key, _ in told),
            opaque=domain in veiled and (outside or not ours),
        )
    return found


def _refuse_half(tables: Mapping[int, Table], project: str) -> None:
    lost = sum(one.opaque and bool(one.told_by if not project else project in one.told_by) for one in tables.values())
    if lost:
        raise NotAllowed(
            f"{lost} tables of the project lie in a restricted domain, and a review without them would call safe what "
            "is not. The owner of the token needs a role in that domain."
        )


def _feeding(tables: Mapping[int, Table], project: str) -> dict[int, set[int]]:
    """What feeds each table, as far as others than the manifest under review say so, by asset id."""
    rows = EdgeClaim.objects.filter(removed_in__isnull=True)
    rows = rows.exclude(source__key=f"dbt:{project}") if project else rows
    found: dict[int, set[int]] = defaultdict(set)
    for start, end in rows.values_list("from_asset_id", "to_asset_id"):
        if start in tables and end in tables:
            found[end].add(start)
    return found


def _measured(tables: Mapping[int, Table], project: str) -> dict[int, str]:
    """The tables whose columns count for this project, with their names; all without a project."""
    return {pk: one.shown for pk, one in tables.items() if not one.opaque and (not project or project in one.told_by)}


def _domains(domains: Mapping[int, Domain]) -> Iterator[KnownDomain]:
    named = ("approver__principal__name_row", "fallback__principal__name_row")
    policies = {one.domain_id: one for one in Policy.objects.select_related(*named)}
    for pk, one in domains.items():
        policy = policies.get(pk)
        people = [policy.approver, policy.fallback] if policy else []
        approvers = tuple(display_name(person.principal) for person in people if person.is_active)
        owner = display_name(one.owner.principal) if one.owner else ""
        yield KnownDomain(one.key, one.name, owner, approvers)


def _reader(
    row: RegisterRow, tables: Mapping[int, Table], veiled: Collection[int], domains: Mapping[int, str]
) -> KnownReader:
    asset, consumer, sync = row.asset, row.consumer, row.times.tool is not None
    secret = asset.domain_id in veiled
    return KnownReader(
        name=_name(asset, veiled),
        kind=asset.kind,
        reads=(*(_read(one, tables, veiled) for one in row.reads), *(() if secret else row.unmatched)),
        tool="" if secret else row.times.tool or "",
        mode=(row.times.mode or "unknown") if sync else "",
        delete_rule="" if secret else row.times.delete_rule or "",
        cron=consumer.cron,
        zone=consumer.zone or "UTC",
        triggered_by_api=consumer.triggered_by_api,
        lead_seconds=consumer.lead_seconds,
        consequence="" if secret else consumer.consequence,
        status=consumer.status,
        domain=domains.get(asset.domain_id or 0, ""),
        people=row.people,
        source=SOURCE,
        hidden=secret,
    )


def _name(reader: Asset, veiled: Collection[int]) -> str:
    return opaque(reader.kind, reader.pk) if reader.domain_id in veiled else reader.name


def _read(asset: Asset, tables: Mapping[int, Table], veiled: Collection[int]) -> str:
    """The name of what a reader reads: a table, or a reader before it."""
    table = tables.get(asset.pk)
    return table.shown if table is not None else _name(asset, veiled)


def _rules(tables: Mapping[int, Table], readers: Mapping[int, Asset], veiled: Collection[int]) -> Iterator[Rule]:
    """The open rules of tables and readers, by the name under which the document has them; why a rule of a restricted
    domain is set is left out (D19)."""
    for one in ReviewRule.objects.filter(lifted_at__isnull=True).select_related("asset").order_by("pk"):
        reason = "" if one.asset.domain_id in veiled else one.reason
        table, reader = tables.get(one.asset_id), readers.get(one.asset_id)
        if table is not None:
            yield Rule(table.shown if table.opaque else table.unique_id or table.name, reason)
        elif reader is not None:
            yield Rule(_name(reader, veiled), reason)
