"""Which dataset a producer means, aliases of namespaces, and two assets that become one."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.db import IntegrityError
from django.db.models import Count, ForeignObjectRel

from catalog.graph.adjacency import adjacency
from catalog.identity import identities, resolve
from catalog.models import (
    Asset,
    AssetRole,
    Build,
    BuildOutput,
    ColumnLineage,
    ColumnList,
    Consumer,
    Declaration,
    Definition,
    Domain,
    EdgeClaim,
    LineageDataset,
    NamespaceAlias,
    NodeClaim,
    Note,
    Source,
    TableSize,
)
from catalog.names import find_asset, find_each
from catalog.services import moving, namespaces, uniting
from catalog.sources.naming import DatasetName
from foundation import clock, connections
from foundation.audit import Actor, sentence
from foundation.errors import BadInput, Conflict, NotAllowed, NotFound
from foundation.models import AuditRow, Person
from incidents.models import Metric
from tests.catalog.graph_rows import claimed
from tests.catalog.graphs import asset, claim, edges_at, standing_edges

PG, HOST = "postgres://warehouse", "postgres://10.0.0.5:5432"


def connect(actor: Actor, name: str, kind: str, namespace: str, **params: str) -> None:
    connections.save(name, kind=kind, purpose="read", namespace=namespace, params=params, secret_names=[], actor=actor)


def identity(namespace: str, name: str) -> str:
    found = identities([(namespace, name)])[namespace, name]
    return f"{found.namespace}/{found.name}"


def test_a_duckdb_file_named_by_its_path_is_the_connection_that_reads_it(machine: Actor, tmp_path: Path) -> None:
    connect(machine, "shop", "duckdb", "duckdb://shop", path=str(tmp_path / "x" / ".." / "Shop.duckdb"))
    assert identity(f"duckdb://{tmp_path}/Shop.duckdb", "Shop.Main.T") == "duckdb://shop/shop.main.t"
    assert identity(f"duckdb://{tmp_path}/other.duckdb", "a.b") == f"duckdb://{tmp_path}/other.duckdb/a.b"


def test_a_server_named_by_host_and_port_is_the_connection_that_reads_that_database(machine: Actor) -> None:
    connect(machine, "sales", "postgres", "postgres://sales", host="10.0.0.5", dbname="sales", user="r")
    connect(machine, "hr", "postgres", "postgres://hr", uri="postgresql://r@10.0.0.5:5432/hr")
    assert identity("postgresql://10.0.0.5", "Sales.public.Orders") == "postgres://sales/sales.public.orders"
    assert identity(HOST, "hr.public.people") == "postgres://hr/hr.public.people"
    assert identity(HOST, "third.public.t") == f"{HOST}/third.public.t"
    assert resolve([HOST, PG]) == {HOST: HOST, PG: PG}


def test_another_spelling_of_a_namespace_that_assets_have_means_that_one(db: None) -> None:
    asset("a.b.c", "postgres://DB.example.com")
    written = ["postgresql://db.example.com:5432", "postgres://DB.example.com"]
    assert resolve(written) == {written[0]: written[0].replace("ql", ""), written[1]: written[1]}
    asset("a.b.c", "postgres://db.example.com")
    assert resolve(written[:1]) == {written[0]: "postgres://db.example.com"}


def test_an_exact_name_that_stands_goes_before_its_folded_form(db: None) -> None:
    claim("dbt:shop", [asset("shop.public.Orders", PG)])
    assert identity(PG, "shop.public.Orders") == f"{PG}/shop.public.Orders"
    assert identity(PG, "shop.public.ORDERS") == f"{PG}/shop.public.orders"
    asset("shop.public.Gone", PG)
    assert identity(PG, "shop.public.Gone") == f"{PG}/shop.public.gone"


def test_many_names_cost_few_queries(db: None, django_assert_max_num_queries: object) -> None:
    for number in range(20):
        claim("dbt:shop", [asset(f"shop.public.T{number}", PG)])
    with django_assert_max_num_queries(8):  # type: ignore[operator]
        found = identities([(PG, f"shop.public.T{number}") for number in range(20)])
    assert {name.name for name in found.values()} == {f"shop.public.T{number}" for number in range(20)}


def test_assets_of_an_aliased_namespace_take_its_name_where_that_is_free(person: Actor) -> None:
    old = asset("shop.public.orders", HOST)
    version = claim("openlineage", [old])
    report = namespaces.declare(HOST, PG, actor=person)
    old.refresh_from_db()
    assert (old.namespace, old.name) == (PG, "shop.public.orders")
    assert (report.renamed, report.united, report.graph_version) == (1, 0, version)
    assert identity("postgresql://10.0.0.5", "shop.public.orders") == f"{PG}/shop.public.orders"
    told = [sentence(row) for row in AuditRow.objects.order_by("id")]
    assert told[-2:] == [f"declared that {HOST} means {PG}", f"renamed 1 assets ({HOST} is {PG})"]


def test_two_assets_become_one_and_every_earlier_version_stays_as_it_was(person: Actor) -> None:
    raw, old, new, below = asset("s.p.raw", PG), asset("s.p.orders", HOST), asset("s.p.orders", PG), asset("s.p.x", PG)
    claim("dbt:shop", [raw, new, below], {raw: [new], new: [below]})
    before = claim("openlineage", [old, raw], {raw: [old], old: [below, new]})
    was = edges_at(before)
    report = namespaces.declare(HOST, PG, actor=person)
    assert report.as_dict() == {
        "alias": HOST, "namespace": PG, "graph_version": before + 1, "renamed": 0, "united": 1, "left": [],
    }  # fmt: skip
    assert edges_at(before) == was
    assert edges_at(before + 1) == {(raw.pk, new.pk), (new.pk, below.pk)}
    assert standing_edges() == {
        ("dbt:shop", "s.p.raw", "s.p.orders"), ("dbt:shop", "s.p.orders", "s.p.x"),
        ("openlineage", "s.p.raw", "s.p.orders"), ("openlineage", "s.p.orders", "s.p.x"),
    }  # fmt: skip
    assert not NodeClaim.objects.filter(asset=old, removed_in__isnull=True).exists()
    assert set(NodeClaim.objects.filter(asset=new, removed_in=None).values_list("source__key", flat=True)) == {
        "dbt:shop", "openlineage",
    }  # fmt: skip
    assert adjacency().walk(raw.pk, "down").ids.tolist() == [new.pk, below.pk]
    assert adjacency(before).walk(old.pk, "down").ids.tolist() == sorted([new.pk, below.pk])
    again = namespaces.declare(HOST, PG, actor=person)
    assert (again.graph_version, again.united, again.renamed) == (before + 1, 0, 0)


def test_the_old_name_of_an_asset_finds_what_it_became(person: Actor) -> None:
    old, new = asset("s.p.orders", HOST), asset("s.p.orders", PG)
    claim("openlineage", [old])
    claim("dbt:shop", [new])
    assert find_asset(f"{HOST}/s.p.orders") == old
    namespaces.declare(HOST, PG, actor=person)
    names = [f"{HOST}/s.p.orders", "postgresql://10.0.0.5/s.p.orders", "s.p.orders", f"{PG}/s.p.orders"]
    assert [find_asset(name) for name in names] == [new] * 4
    assert set(find_each(names).values()) == {new}
    with pytest.raises(NotFound, match="near it"):
        find_asset(f"{HOST}/s.p.order")


def test_what_hangs_on_the_one_that_goes_moves_to_the_one_that_stays(person: Actor, owner: Person) -> None:
    old, new = asset("s.p.orders", HOST), asset("s.p.orders", PG)
    reader = asset("board", "declared://readers", "dashboard")
    claim("openlineage", [old, reader], {old: [reader]})
    claim("dbt:shop", [new])
    domain = Domain.objects.create(key="sales", name="Sales")
    Asset.objects.filter(pk=old.pk).update(domain=domain, description="Orders of a day")
    declared = Source.objects.create(key="declared", kind="declared")
    moment = clock.now()
    AssetRole.objects.create(asset=old, person=owner, role="owner")
    AssetRole.objects.create(asset=new, label="team", role="on_call")
    AssetRole.objects.create(asset=old, label="team", role="on_call")
    Note.objects.create(asset=old, text="late on Mondays", author=owner.principal, created_at=moment)
    Definition.objects.create(asset=old, number=1, text="orders", author=owner.principal, created_at=moment)
    ColumnList.objects.create(asset=old, items=[{"name": "id", "type": "int", "description": "", "nullable": None}])
    ColumnLineage.objects.create(asset=old, source="openlineage", state="known")
    ColumnLineage.objects.create(asset=reader, source="dbt:shop", sql="select 1", state="known")
    Declaration.objects.create(asset=old, source=declared, said={"kind": "table"}, author=owner.principal, at=moment)
    TableSize.objects.create(asset=old, source=declared, rows=5, seen_at=moment)
    Consumer.objects.create(asset=old, cron="0 9 * * 1")
    Consumer.objects.create(asset=reader, confirm_source=old, confirm_metric="rows")
    LineageDataset.objects.create(
        namespace=HOST, name="s.p.orders", meant_namespace=HOST, meant_name="s.p.orders", asset=old, told_at=moment
    )
    build = Build.objects.create(key="one", announced_by=owner.principal, announced_at=moment)
    BuildOutput.objects.create(build=build, asset=old, rows=5)

    assert namespaces.declare(HOST, PG, actor=person).left == []
    new.refresh_from_db()
    assert (new.domain, new.description) == (domain, "Orders of a day")
    assert set(AssetRole.objects.filter(asset=new).values_list("role", flat=True)) == {"owner", "on_call"}
    for model in (Note, Definition, ColumnList, ColumnLineage, Declaration, TableSize, Consumer, BuildOutput):
        assert model.objects.filter(asset=new).count() == 1, model
    assert LineageDataset.objects.get().asset == new
    assert Consumer.objects.get(asset=reader).confirm_source == new
    assert ColumnLineage.objects.get(asset=reader).due_at is not None


def test_the_row_that_incidents_know_stays_and_takes_the_name(person: Actor) -> None:
    old, new = asset("s.p.orders", HOST, "table"), asset("s.p.orders", PG, "model")
    Asset.objects.filter(pk=new.pk).update(description="from dbt")
    claim("openlineage", [old])
    claim("dbt:shop", [new])
    Metric.objects.create(asset=old, name="rows")
    report = namespaces.declare(HOST, PG, actor=person)
    assert (report.united, report.left) == (1, [])
    kept = Asset.objects.get(namespace=PG, name="s.p.orders")
    assert (kept.pk, kept.kind, kept.description) == (old.pk, "model", "from dbt")
    assert Asset.objects.get(pk=new.pk).namespace == HOST
    assert NodeClaim.objects.filter(asset=kept, removed_in__isnull=True).count() == 2


def test_what_cannot_move_stays_and_is_told(person: Actor) -> None:
    old, new = asset("s.p.orders", HOST), asset("s.p.orders", PG)
    claim("openlineage", [old])
    claim("dbt:shop", [new])
    for one in (old, new):
        Metric.objects.create(asset=one, name="rows")
        Consumer.objects.create(asset=one)
    left = namespaces.declare(HOST, PG, actor=person).left
    assert left == [
        {"asset": f"{HOST}/s.p.orders", "what": "metrics"},
        {"asset": f"{HOST}/s.p.orders", "what": "the declaration of a reader, which its other name has too"},
    ]
    assert Metric.objects.filter(asset=old).exists()


@pytest.mark.parametrize("at_once", [1, 25])
def test_two_spellings_of_one_alias_become_one_with_the_same_asset(
    at_once: int, person: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uniting, "PAIRS", at_once)
    first, second = asset("s.p.t", "postgres://10.0.0.5:5432"), asset("s.p.t", "postgresql://10.0.0.5")
    new = asset("s.p.t", PG)
    claim("openlineage", [first], {first: [second]})
    claim("airflow", [second])
    claim("dbt:shop", [new])
    Metric.objects.create(asset=first, name="rows")
    assert namespaces.declare(HOST, PG, actor=person).united == 2
    kept = Asset.objects.get(namespace=PG)
    assert kept == first
    assert NodeClaim.objects.filter(asset=kept, removed_in__isnull=True).count() == 3
    assert standing_edges() == set()


def test_what_somebody_else_united_meanwhile_is_not_united_again(person: Actor) -> None:
    old, new = asset("s.p.orders", HOST), asset("s.p.orders", PG)
    claim("openlineage", [old])
    claim("dbt:shop", [new])
    Metric.objects.create(asset=old, name="rows")
    moves = {old.pk: DatasetName(PG, "s.p.orders")}
    first, late = uniting.United(), uniting.United()
    uniting._unite(moves, first, "one", person)
    uniting._unite(moves, late, "one", person)
    assert (first.united, late.united) == (1, 0)
    assert Asset.objects.get(namespace=PG) == old
    assert NodeClaim.objects.filter(asset=old, removed_in__isnull=True).count() == 2


def test_names_of_an_unknown_namespace_are_folded_by_the_rules_of_the_one_that_it_means(person: Actor) -> None:
    old, new = asset("Analytics.Marts.Orders", "prod"), asset("ANALYTICS.MARTS.ORDERS", "snowflake://acct")
    free = asset("Analytics.Marts.Items", "prod")
    claim("openlineage", [old, free])
    claim("dbt:shop", [new])
    report = namespaces.declare("prod", "snowflake://acct", actor=person)
    assert (report.renamed, report.united) == (1, 1)
    assert Asset.objects.get(pk=free.pk).name == "ANALYTICS.MARTS.ITEMS"


def test_an_alias_of_an_alias_means_what_it_means_in_the_end(person: Actor) -> None:
    namespaces.declare("a", "b", actor=person)
    namespaces.declare("b", "c", actor=person)
    namespaces.declare("d", "a", actor=person)
    assert dict(NamespaceAlias.objects.values_list("alias", "namespace")) == {"a": "c", "b": "c", "d": "c"}
    with pytest.raises(BadInput, match="already means"):
        namespaces.declare("c", "a", actor=person)


def test_an_alias_is_refused_to_agents_for_a_connections_own_name_and_for_unusable_names(
    agent: Actor, person: Actor, machine: Actor
) -> None:
    connect(machine, "shop", "duckdb", "duckdb://shop", path="shop.duckdb")
    with pytest.raises(NotAllowed, match="agent"):
        namespaces.declare("a", "b", actor=agent)
    with pytest.raises(NotAllowed, match="agent"):
        namespaces.withdraw("a", actor=agent)
    with pytest.raises(Conflict, match="connection shop declares"):
        namespaces.declare("duckdb://shop", "duckdb://other", actor=person)
    for bad, why in (("", "namespace of a dataset"), ("a\0", "alias holds"), ("x" * 301, "namespace of a dataset")):
        with pytest.raises(BadInput, match=why):
            namespaces.declare(bad, "b", actor=person)
    assert not NamespaceAlias.objects.exists()


def test_a_withdrawn_alias_means_itself_again_and_what_was_united_stays(person: Actor) -> None:
    old = asset("s.p.t", HOST)
    claim("openlineage", [old])
    namespaces.declare(HOST, PG, actor=person)
    namespaces.withdraw("postgresql://10.0.0.5:5432", actor=person)
    assert resolve([HOST]) == {HOST: HOST}
    assert Asset.objects.get(pk=old.pk).namespace == PG
    with pytest.raises(NotFound, match="no alias"):
        namespaces.withdraw(HOST, actor=person)


def test_hundreds_of_pairs_become_one_in_chunks_and_no_claim_is_lost(person: Actor) -> None:
    olds = [asset(f"s.p.t{number}", HOST) for number in range(120)]
    news = [asset(f"s.p.t{number}", PG) for number in range(120)]
    claim("openlineage", olds, dict(zip(olds, [[one] for one in olds[1:]], strict=False)))
    claim("dbt:shop", news)
    report = namespaces.declare(HOST, PG, actor=person)
    assert report.united == 120
    assert NodeClaim.objects.filter(removed_in=None, asset__in=news).count() == 240
    assert standing_edges() == {("openlineage", f"s.p.t{n}", f"s.p.t{n + 1}") for n in range(119)}
    open_edges = EdgeClaim.objects.filter(removed_in=None)
    assert not open_edges.filter(from_asset__in=olds).exists()
    assert not open_edges.values("source", "from_asset", "to_asset").annotate(n=Count("pk")).filter(n__gt=1).exists()


def test_every_table_of_this_floor_that_names_an_asset_is_thought_of() -> None:
    moved = {one._meta.label for one, _ in moving.ALIKE} | {
        "catalog.Note", "catalog.LineageDataset", "catalog.Consumer", "catalog.ColumnList", "catalog.TableSize",
        "catalog.Definition", "catalog.NodeClaim", "catalog.EdgeClaim",
    }  # fmt: skip
    passing = {"catalog.StagedNode", "catalog.StagedEdge", "catalog.SearchEntry", "catalog.SearchDue"}
    pointing = [one for one in Asset._meta.get_fields(include_hidden=True) if isinstance(one, ForeignObjectRel)]
    related = {one.related_model._meta.label for one in pointing if one.related_model._meta.app_label == "catalog"}
    assert related - passing == moved


def test_no_claim_is_rewritten_to_move_it(person: Actor) -> None:
    old, new = asset("s.p.t", HOST), asset("s.p.t", PG)
    claim("openlineage", [old])
    claim("dbt:shop", [new])
    row = NodeClaim.objects.get(asset=old)
    namespaces.declare(HOST, PG, actor=person)
    row.refresh_from_db()
    assert (row.asset_id, row.removed_in_id) == (old.pk, 3)
    with pytest.raises(IntegrityError):
        NodeClaim.objects.filter(pk=row.pk).update(asset=new)


@pytest.mark.parametrize(("alias", "namespace", "why"), [
    ("declared://readers", "b", "no alias"), ("b", "declared://readers", "no alias"),
    ("a\u202e", "b", "The alias holds characters"), ("b", "a\x01", "The namespace holds characters"),
    ("a\u200bb", "c", "The alias holds characters"),
])  # fmt: skip
def test_where_declared_readers_stand_is_no_alias_and_a_namespace_can_be_printed(
    person: Actor, alias: str, namespace: str, why: str
) -> None:
    with pytest.raises(BadInput, match=why):
        namespaces.declare(alias, namespace, actor=person)
    assert not NamespaceAlias.objects.exists()


def test_a_name_of_a_thousand_slashes_is_unknown_and_one_with_several_is_found(db: None) -> None:
    with pytest.raises(NotFound):
        find_asset("/" * 1000)
    row = claimed(Asset.objects.create(namespace="s3://bucket", name="a/b/c", kind="table"))
    assert find_asset("s3://bucket/a/b/c") == row
