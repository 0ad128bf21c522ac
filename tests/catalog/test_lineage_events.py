"""Events become claims: kept once, read in batches, each batch one graph version."""

from __future__ import annotations

import itertools
from datetime import timedelta
from typing import Any

import orjson
import pytest
from django.db import DatabaseError, connection
from django.test.utils import CaptureQueriesContext

from catalog import selectors
from catalog.graph import history
from catalog.models import (
    Asset,
    AssetRole,
    ColumnLineage,
    EdgeClaim,
    GraphVersion,
    LineageDataset,
    LineageEvent,
    LineageJob,
    LineageUse,
    NodeClaim,
)
from catalog.services import lineage_batch, lineage_events, lineage_words, namespaces, reading
from catalog.services.declare import declare
from catalog.services.imports import import_manifest
from foundation import clock
from foundation.audit import Actor
from foundation.errors import BadInput, Busy, NotAllowed
from foundation.locks import transaction
from foundation.models import AuditRow, Person
from foundation.people import create_agent, create_person
from tests.catalog.graphs import asset, claim
from tests.catalog.manifests import shop
from tests.catalog.openlineage import JOBS, WH, at, dataset, dataset_event, facet, job_event, run_event, schema
from tests.foundation.cast import at_once

pytestmark = pytest.mark.django_db
LATER = "postgres://other.example.com:5432"


def send(*bodies: dict[str, Any], actor: Actor) -> int:
    """Keep these events and read them, as one batch where they are small; how many were read."""
    lineage_events.receive(bodies, actor=actor)
    return sum(iter(lambda: lineage_events.process_due(1000, actor=actor), 0))


def edges(source: str = "openlineage") -> set[tuple[str, str]]:
    """The standing edges of a source, by the last words of their names."""
    found = EdgeClaim.objects.filter(source__key=source, removed_in__isnull=True)
    rows = found.values_list("from_asset__name", "to_asset__name")
    return {(above.rpartition(".")[2], below.rpartition(".")[2]) for above, below in rows}


def nodes() -> set[str]:
    found = NodeClaim.objects.filter(source__key="openlineage", removed_in__isnull=True)
    return set(found.values_list("asset__name", flat=True))


def refusals() -> list[str]:
    return [row.refusal for row in LineageEvent.objects.order_by("at") if row.refusal]


def load(minute: int = 0, **more: Any) -> dict[str, Any]:
    """raw and stock feed orders."""
    fields = {"inputs": ["shop.public.raw", "shop.public.stock"], "outputs": ["shop.public.orders"]} | more
    return run_event("COMPLETE", at(minute), **fields)


def test_an_event_becomes_assets_and_edges_in_one_graph_version(agent: Actor) -> None:
    assert send(load(), actor=agent) == 1
    assert edges() == {("raw", "orders"), ("stock", "orders")}
    assert nodes() == {"shop.public.raw", "shop.public.stock", "shop.public.orders"}
    version = GraphVersion.objects.get()
    assert (version.source.key, version.added, version.changed, version.removed) == ("openlineage", 3, 0, 0)
    assert AuditRow.objects.filter(action="graph.observed").count() == 1
    orders = selectors.find_asset("orders")
    assert (orders.namespace, orders.kind) == (WH, "table")
    assert {asset.name for asset, _ in selectors.ancestors(orders)} == {"shop.public.raw", "shop.public.stock"}


def test_a_batch_of_many_jobs_is_one_graph_version(agent: Actor) -> None:
    assert send(*(load(run=f"r{n}", job=f"j{n}", outputs=[f"shop.public.t{n}"]) for n in range(40)), actor=agent) == 40
    assert GraphVersion.objects.count() == 1
    assert len(edges()) == 80


def test_an_event_is_kept_once_and_answered_before_it_is_read(agent: Actor) -> None:
    assert lineage_events.receive([load(), load(), load(5)], actor=agent) == 2
    assert lineage_events.receive([load()], actor=agent) == 0
    assert not EdgeClaim.objects.exists()
    row = LineageEvent.objects.earliest("at")
    assert orjson.loads(bytes(row.body)) == load()
    assert row.due_at is not None
    assert lineage_events.process_due(10, actor=agent) == 2
    assert lineage_events.process_due(10, actor=agent) == 0
    assert not LineageEvent.objects.filter(processed_at=None).exists()


def test_what_came_is_never_rewritten(agent: Actor) -> None:
    lineage_events.receive([load()], actor=agent)
    for change in ({"body": b"{}"}, {"at": clock.now()}, {"sha256": "0" * 64}):
        with pytest.raises(DatabaseError), transaction():
            LineageEvent.objects.update(**change)


def test_the_same_run_of_the_next_night_changes_nothing(agent: Actor) -> None:
    send(load(), actor=agent)
    send(load(run="two", minute=30), actor=agent)
    assert GraphVersion.objects.count() == 1
    assert LineageJob.objects.get().completed


def test_an_edge_that_the_newest_run_does_not_name_goes_with_its_asset(agent: Actor) -> None:
    send(load(), actor=agent)
    send(load(5, run="two", inputs=["shop.public.raw"]), actor=agent)
    assert edges() == {("raw", "orders")}
    assert "shop.public.stock" not in nodes()
    assert EdgeClaim.objects.filter(removed_in=2).count() == 1


def test_an_edge_that_another_job_still_names_stays(agent: Actor) -> None:
    send(load(), load(job="other", run="x"), actor=agent)
    send(load(5, run="two", inputs=["shop.public.raw"]), actor=agent)
    assert edges() == {("raw", "orders"), ("stock", "orders")}
    send(load(6, run="y", job="other", inputs=["shop.public.raw"]), actor=agent)
    assert edges() == {("raw", "orders")}


def test_a_job_that_writes_another_table_now_leaves_none_behind(agent: Actor) -> None:
    send(load(), actor=agent)
    send(load(5, run="two", outputs=["shop.public.sales"]), actor=agent)
    assert edges() == {("raw", "sales"), ("stock", "sales")}
    assert "shop.public.orders" not in nodes()


def test_events_in_any_order_and_over_several_batches_give_the_same(agent: Actor) -> None:
    bodies = [
        run_event("START", at(0), inputs=["a.b.old"], outputs=["a.b.c"]),
        run_event("COMPLETE", at(1), outputs=["a.b.c"]),
        run_event("START", at(9), run="two", inputs=["a.b.new"]),
        run_event("COMPLETE", at(10), run="two", outputs=["a.b.c"]),
    ]
    for body in [bodies[3], bodies[0], bodies[2], bodies[1]]:
        send(body, actor=agent)
    assert edges() == {("new", "c")}


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
@pytest.mark.parametrize("together", [True, False])
def test_a_failed_run_adds_nothing_whenever_its_events_come(
    order: tuple[int, ...], together: bool, agent: Actor
) -> None:
    bodies = [
        load(0),
        run_event("START", at(9), run="bad", inputs=["shop.public.wrong"], outputs=["shop.public.orders"]),
        run_event("FAIL", at(10), run="bad", inputs=["shop.public.wrong"], outputs=["shop.public.orders"]),
    ]
    for batch in [order] if together else [[place] for place in order]:
        send(*(bodies[place] for place in batch), actor=agent)
    assert edges() == {("raw", "orders"), ("stock", "orders")}
    assert "shop.public.wrong" not in nodes()
    send(load(5, run="late", inputs=["shop.public.raw"]), actor=agent)  # began before the failed run, ended after it
    assert edges() == {("raw", "orders")}


def test_a_failed_run_describes_no_table(agent: Actor) -> None:
    send(load(outputs=[dataset("shop.public.orders", schema=schema(("id", "int")))]), actor=agent)
    other = dataset("shop.public.orders", schema=schema(("id", "text"), ("x", "int")))
    send(run_event("FAIL", at(5), run="bad", inputs=["shop.public.raw"], outputs=[other]), actor=agent)
    assert [(one.name, one.type) for one in selectors.columns(selectors.find_asset("orders"))] == [("id", "int")]
    assert GraphVersion.objects.count() == 1


def test_what_a_run_named_before_it_completed_stays_when_another_run_named_it_too(agent: Actor) -> None:
    first: dict[str, Any] = {"inputs": ["a.b.x"], "outputs": ["a.b.y"]}
    send(run_event("START", at(0), run="one", **first), actor=agent)
    send(run_event("START", at(5), run="two", **first), actor=agent)
    send(run_event("COMPLETE", at(7), run="two"), actor=agent)
    assert edges() == {("x", "y")}
    send(run_event("FAIL", at(8), run="one"), actor=agent)
    assert edges() == {("x", "y")}


def test_a_job_that_reads_what_it_writes_feeds_it_from_the_others_only(agent: Actor) -> None:
    send(load(inputs=["shop.public.orders", "shop.public.raw"]), actor=agent)
    assert edges() == {("raw", "orders")}


def test_a_cycle_over_two_jobs_stays_a_cycle(agent: Actor) -> None:
    send(
        load(inputs=["a.b.x"], outputs=["a.b.y"]),
        load(job="back", run="2", inputs=["a.b.y"], outputs=["a.b.x"]),
        actor=agent,
    )
    assert edges() == {("x", "y"), ("y", "x")}


def test_a_job_event_retires_the_edges_of_its_job(agent: Actor) -> None:
    send(load(), actor=agent)
    send(job_event(at(5), outputs=["shop.public.orders"]), actor=agent)
    assert edges() == set()


def test_a_clock_that_runs_ahead_does_not_outrank_later_events(agent: Actor) -> None:
    ahead = load() | {"eventTime": "2999-01-01T00:00:00Z"}
    send(ahead, actor=agent)
    assert LineageEvent.objects.get().at <= clock.now()
    now = load(run="two", inputs=["shop.public.raw"]) | {"eventTime": (clock.now() + timedelta(seconds=1)).isoformat()}
    send(now, actor=agent)
    assert edges() == {("raw", "orders")}


# --- what facets say --------------------------------------------------------------------------------------------------


def test_facets_describe_what_is_written(agent: Actor, owner: Person) -> None:
    orders = dataset(
        "shop.public.orders",
        schema=schema(("id", "int"), ("total", "numeric")),
        documentation={"description": "One row an order"},
        ownership={"owners": [{"name": "team:sales"}, {"name": f"user:{owner.email}"}]},
        tags={"tags": [{"key": "pii", "value": "true"}]},
        datasetType={"datasetType": "VIEW"},
    )
    send(load(outputs=[orders]), actor=agent)
    asset = selectors.find_asset("orders")
    assert (asset.kind, asset.description) == ("view", "One row an order")
    assert [(one.name, one.type) for one in selectors.columns(asset)] == [("id", "int"), ("total", "numeric")]
    roles = AssetRole.objects.filter(asset=asset, source="openlineage", role="owner")
    assert {(role.label, role.person) for role in roles} == {("team:sales", None), ("", owner)}
    assert NodeClaim.objects.get(asset=asset).attributes["tags"] == ["pii"]


def test_what_a_reader_says_of_a_table_only_fills_what_nobody_said(agent: Actor) -> None:
    send(load(inputs=[dataset("shop.public.raw", schema=schema(("a", "int")))]), actor=agent)
    assert len(selectors.columns(selectors.find_asset("raw"))) == 1
    whole = dataset("shop.public.raw", schema=schema(("a", "int"), ("b", "int")))
    send(load(1, job="up", run="2", inputs=[], outputs=[whole]), actor=agent)
    send(load(2, run="3", inputs=[dataset("shop.public.raw", schema=schema(("b", "int")))]), actor=agent)
    assert [one.name for one in selectors.columns(selectors.find_asset("raw"))] == ["a", "b"]


def test_a_column_that_is_gone_goes(agent: Actor) -> None:
    for minute, columns in enumerate([[("a", "int"), ("b", "int")], [("a", "int")]]):
        send(load(minute, run=f"r{minute}", outputs=[dataset("a.b.c", schema=schema(*columns))]), actor=agent)
    assert [one.name for one in selectors.columns(selectors.find_asset("a.b.c"))] == ["a"]


def test_a_dataset_event_makes_a_dataset_stand_without_a_job(agent: Actor) -> None:
    send(dataset_event(at(0), dataset("a.b.c", documentation={"description": "Alone"})), actor=agent)
    assert nodes() == {"a.b.c"}
    send(dataset_event(at(1), dataset("a.b.c", documentation={"description": "Anew"})), actor=agent)
    assert selectors.find_asset("a.b.c").description == "Anew"
    send(dataset_event(at(2), dataset("a.b.c", lifecycleStateChange={"lifecycleStateChange": "DROP"})), actor=agent)
    assert nodes() == set()


def test_what_is_dropped_goes_with_its_edges_until_it_is_named_again(agent: Actor) -> None:
    send(load(), actor=agent)
    send(
        dataset_event(at(1), dataset("shop.public.stock", lifecycleStateChange={"lifecycleStateChange": "DROP"})),
        actor=agent,
    )
    assert edges() == {("raw", "orders")}
    send(load(2, run="two"), actor=agent)
    assert edges() == {("raw", "orders"), ("stock", "orders")}


def test_column_lineage_of_a_producer_is_kept(agent: Actor) -> None:
    field = {"namespace": WH, "name": "shop.public.raw", "field": "amount"}
    facet_ = {
        "fields": {
            "total": {"inputFields": [field | {"transformations": [{"type": "DIRECT", "subtype": "AGGREGATION"}]}]}
        }
    }
    send(load(outputs=[dataset("shop.public.orders", columnLineage=facet_)]), actor=agent)
    row = ColumnLineage.objects.get(source="openlineage")
    raw = selectors.find_asset("raw")
    assert row.asset == selectors.find_asset("orders")
    assert row.columns["total"]["sources"] == [[raw.pk, "amount"]]


def test_the_tables_of_a_column_lineage_are_looked_up_at_once(agent: Actor) -> None:
    claim("dbt:shop", [asset(f"shop.public.t{number}", WH) for number in range(12)])
    asked = []
    for place, count in enumerate((1, 2, 12)):  # the first makes the rows that are made once
        fields = [{"namespace": WH, "name": f"shop.public.t{number}", "field": "a"} for number in range(count)]
        made = dataset(f"shop.public.out{place}", columnLineage={"fields": {"total": {"inputFields": fields}}})
        with CaptureQueriesContext(connection) as queries:
            send(load(job=f"job {place}", outputs=[made]), actor=agent)
        asked.append(len(queries))
        assert len(ColumnLineage.objects.get(asset__name=made["name"]).columns["total"]["sources"]) == count
    assert asked[1] == asked[2]


@pytest.mark.parametrize("odd", [3, {"fields": 3}, {"fields": {"x": 3}}, {"fields": {"x": {"inputFields": [3]}}},
    {"fields": {"x": {"inputFields": [{"namespace": "", "name": "a", "field": "b"}]}}},
    {"fields": {"x": {"inputFields": [{"namespace": "n" * 400, "name": "a", "field": "b\0"}]}}}], ids=str)  # fmt: skip
def test_an_odd_facet_never_loses_the_edges(odd: Any, agent: Actor) -> None:
    body = load()
    body["outputs"][0]["facets"] = {"columnLineage": facet(**odd) if isinstance(odd, dict) else facet()}
    assert send(body, actor=agent) == 1
    assert edges() == {("raw", "orders"), ("stock", "orders")}
    assert refusals() == []


# --- one asset --------------------------------------------------------------------------------------------------------


def test_a_path_that_is_known_as_a_table_is_that_table(agent: Actor) -> None:
    link = {"identifiers": [{"namespace": WH, "name": "shop.public.orders", "type": "TABLE"}]}
    path = dataset("/data/orders", "s3://lake", symlinks=link)
    send(load(outputs=[path]), actor=agent)
    assert "shop.public.orders" in nodes()
    send(load(1, job="next", run="2", inputs=[dataset("/data/orders", "s3://lake")], outputs=["a.b.c"]), actor=agent)
    assert ("orders", "c") in edges()
    assert not Asset.objects.filter(namespace="s3://lake").exists()


def test_jobs_that_named_a_path_before_its_table_was_known_follow(agent: Actor) -> None:
    send(load(inputs=[dataset("/data/orders", "s3://lake")], outputs=["a.b.c"]), actor=agent)
    link = {"identifiers": [{"namespace": WH, "name": "shop.public.orders", "type": "TABLE"}]}
    send(load(1, job="up", run="2", outputs=[dataset("/data/orders", "s3://lake", symlinks=link)]), actor=agent)
    assert edges() == {("raw", "orders"), ("stock", "orders"), ("orders", "c")}
    assert nodes() == {"shop.public.raw", "shop.public.stock", "shop.public.orders", "a.b.c"}


def test_the_table_of_a_dbt_project_is_the_same_asset(agent: Actor, machine: Actor) -> None:
    import_manifest(shop(), namespace="duckdb://wh", actor=machine)
    before = Asset.objects.count()
    send(
        load(inputs=[dataset("dev.MAIN.Orders", "duckdb://wh")], outputs=[dataset("dev.main.revenue", "duckdb://wh")]),
        actor=agent,
    )
    assert Asset.objects.count() == before
    assert edges() == {("orders", "revenue")}
    revenue = selectors.find_asset("main.revenue")
    assert revenue.kind == "model"
    assert selectors.dbt_node(revenue) is not None


def test_what_is_declared_and_what_dbt_says_is_not_touched(
    agent: Actor, machine: Actor, person: Actor, owner: Person
) -> None:
    import_manifest(shop(), namespace="duckdb://wh", actor=machine)
    declare({"assets": [{"asset": "main.revenue", "owner": [owner.email]}]}, actor=person)
    before = edges("dbt:shop"), edges("declared")
    stranger = dataset(
        "dev.main.revenue",
        "duckdb://wh",
        ownership={"owners": [{"name": "team:x"}]},
        datasetType={"datasetType": "VIEW"},
    )
    send(load(inputs=[], outputs=[stranger]), actor=agent)
    revenue = selectors.find_asset("main.revenue")
    assert (edges("dbt:shop"), edges("declared")) == before
    assert revenue.kind == "model"
    assert selectors.people(revenue, "owner") == [owner]


def test_an_alias_that_is_declared_later_makes_two_assets_one(agent: Actor, person: Actor, machine: Actor) -> None:
    import_manifest(shop(), namespace="duckdb://wh", actor=machine)
    send(load(inputs=[dataset("dev.main.orders", "lake")], outputs=[dataset("dev.main.extra", "lake")]), actor=agent)
    namespaces.declare("lake", "duckdb://wh", actor=person)
    send(
        load(1, run="2", inputs=[dataset("dev.main.orders", "lake")], outputs=[dataset("dev.main.extra", "lake")]),
        actor=agent,
    )
    orders = selectors.find_asset("main.orders")
    assert [asset.name for asset, hops in selectors.descendants(orders) if "extra" in asset.name] == ["dev.main.extra"]
    assert edges() == {("orders", "extra")}
    assert NodeClaim.objects.filter(source__key="openlineage", removed_in=None).count() == 2
    assert {row.asset.namespace for row in LineageDataset.objects.select_related("asset")} == {"duckdb://wh"}


# --- who may ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def bound(owner: Person) -> Actor:
    return Actor(create_agent("bound", owner=owner, namespaces=[WH]), "api")


def test_an_agent_writes_in_its_namespaces_and_reads_from_anywhere(bound: Actor) -> None:
    foreign = dataset("s.t.src", LATER, documentation={"description": "not its own"})
    send(load(inputs=[foreign]), actor=bound)
    assert edges() == {("src", "orders")}
    assert selectors.find_asset("s.t.src").description == ""
    for body in (load(1, outputs=[dataset("s.t.x", LATER)]), dataset_event(at(1), dataset("s.t.x", LATER))):
        with pytest.raises(NotAllowed):
            lineage_events.receive([load(9), body], actor=bound)
    assert LineageEvent.objects.count() == 1


def test_an_agent_cannot_reach_another_namespace_by_a_symlink(bound: Actor) -> None:
    link = {"identifiers": [{"namespace": LATER, "name": "s.t.x", "type": "TABLE"}]}
    with pytest.raises(NotAllowed):
        lineage_events.receive([load(outputs=[dataset("shop.public.y", symlinks=link)])], actor=bound)
    send(load(inputs=[dataset("in.a.path", symlinks=link)]), actor=bound)
    assert edges() == {("path", "orders")}


def test_an_agent_takes_nothing_back_from_a_job_that_writes_elsewhere(agent: Actor, bound: Actor) -> None:
    send(load(outputs=[dataset("s.t.x", LATER)]), actor=agent)
    send(load(5, run="two"), actor=bound)
    assert edges() == {("raw", "x"), ("stock", "x")}
    assert refusals() == [f"This agent may not write in {LATER}."]


def test_a_list_in_which_one_event_is_no_event_is_refused_whole(agent: Actor) -> None:
    with pytest.raises(BadInput, match="event 2 of the list"):
        lineage_events.receive([load(), {"x": 1}], actor=agent)
    assert not LineageEvent.objects.exists()


# --- what goes wrong --------------------------------------------------------------------------------------------------


def test_a_job_with_too_many_edges_is_refused_and_the_others_are_read(agent: Actor) -> None:
    many = [f"a.b.i{n}" for n in range(100)]
    first = run_event("START", at(0), inputs=many, outputs=[f"a.b.o{n}" for n in range(40)])
    more = run_event("RUNNING", at(1), outputs=[f"a.b.p{n}" for n in range(40)])
    assert send(first, more, load(job="other", run="x"), actor=agent) == 3
    assert len(edges()) == 4000 + 2
    (reason,) = refusals()
    assert "at most 5000 edges" in reason


def test_a_busy_database_leaves_the_events_due(agent: Actor, monkeypatch: pytest.MonkeyPatch) -> None:
    def busy(*_: object, **__: object) -> None:
        raise Busy("The database is busy; nothing was recorded.")

    lineage_events.receive([load()], actor=agent)
    with monkeypatch.context() as patch:
        patch.setattr(lineage_batch, "apply", busy)
        assert lineage_events.process_due(10, actor=agent) == 0
    row = LineageEvent.objects.get()
    assert row.due_at is not None
    assert row.due_at > clock.now()
    LineageEvent.objects.update(due_at=clock.now())
    assert lineage_events.process_due(10, actor=agent) == 1


def test_an_event_that_breaks_us_holds_up_no_other_and_is_given_up(
    agent: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = lineage_batch.apply

    def breaks(told: Any, **more: Any) -> Any:
        if any(one.event.job.name == "bad" for one in told):
            raise RuntimeError("a fault of ours")
        return real(told, **more)

    monkeypatch.setattr(lineage_batch, "apply", breaks)
    lineage_events.receive([load(), load(job="bad", run="x")], actor=agent)
    for _ in range(lineage_events.TRIES):
        lineage_events.process_due(10, actor=agent)
        LineageEvent.objects.exclude(due_at=None).update(due_at=clock.now())
    assert edges() == {("raw", "orders"), ("stock", "orders")}
    assert refusals() == [lineage_events.OUR_FAULT]
    assert not LineageEvent.objects.exclude(due_at=None).exists()


def test_a_crash_after_the_graph_was_written_is_made_good(agent: Actor, monkeypatch: pytest.MonkeyPatch) -> None:
    send(load(), actor=agent)

    def crash(*_: object, **__: object) -> None:
        raise SystemExit

    lineage_events.receive(
        [
            load(
                1,
                run="2",
                inputs=["shop.public.raw"],
                outputs=[dataset("shop.public.orders", documentation={"description": "Late"})],
            )
        ],
        actor=agent,
    )
    with monkeypatch.context() as patch:
        patch.setattr(lineage_words, "spread", crash)
        with pytest.raises(SystemExit):
            lineage_events.process_due(10, actor=agent)
    LineageEvent.objects.update(lease_until=clock.now() - timedelta(seconds=1))
    versions = GraphVersion.objects.count()
    assert lineage_events.process_due(10, actor=agent) == 1
    assert GraphVersion.objects.count() == versions
    assert selectors.find_asset("orders").description == "Late"
    assert edges() == {("raw", "orders")}


def test_what_is_said_is_written_in_the_step_that_makes_the_version(
    agent: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy(*_: object, **__: object) -> None:
        raise Busy("The database is busy; nothing was recorded.")

    orders = dataset(
        "shop.public.orders",
        schema=schema(("id", "int")),
        documentation={"description": "Kept"},
        ownership={"owners": [{"name": "team:sales"}]},
    )
    lineage_events.receive([load(outputs=[orders])], actor=agent)
    with monkeypatch.context() as patch:
        patch.setattr(reading, "join", busy)  # what follows from it, after the version
        assert lineage_events.process_due(10, actor=agent) == 0
    asset = selectors.find_asset("orders")
    assert GraphVersion.objects.count() == AuditRow.objects.filter(action="graph.observed").count() == 1
    assert (asset.description, [one.name for one in selectors.columns(asset)]) == ("Kept", ["id"])
    assert AssetRole.objects.filter(asset=asset, label="team:sales").exists()
    with monkeypatch.context() as patch:
        patch.setattr(lineage_words, "describe", busy)
        changed = orders | {"facets": {"documentation": facet(description="Other")}}
        lineage_events.receive([load(5, outputs=[changed])], actor=agent)
        LineageEvent.objects.filter(processed_at=None).update(due_at=clock.now(), lease_until=None)
        assert lineage_events.process_due(10, actor=agent) == 0
    asset.refresh_from_db()
    assert (GraphVersion.objects.count(), asset.description) == (1, "Kept")


def test_a_version_is_that_of_who_sent_the_events(agent: Actor, person: Actor, machine: Actor) -> None:
    lineage_events.receive([load()], actor=agent)
    lineage_events.receive([load(job="other", run="x", outputs=["shop.public.sales"])], actor=person)
    assert lineage_events.process_due(10, actor=machine) == 2
    makers = [history.version(number).who for number in (1, 2)]
    assert {maker.pk for maker in makers if maker} == {agent.principal.pk, person.principal.pk}


def test_workers_at_once_add_the_same_up(committing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three workers share the events of five jobs, six runs of each; the newest run of each job counts."""
    monkeypatch.setattr(lineage_events, "BATCH", 7)
    actor = Actor(create_agent("orchestrator", owner=create_person("o@example.com", "Olive")), "api")
    bodies = [
        load(minute, run=f"{job} {minute}", job=f"job {job}", inputs=[f"a.b.i{minute}"], outputs=[f"a.b.o{job}"])
        for minute in range(6)
        for job in range(5)
    ]
    lineage_events.receive(bodies, actor=actor)

    def work() -> None:
        while LineageEvent.objects.filter(processed_at=None).exists():
            lineage_events.process_due(10, actor=actor)
            LineageEvent.objects.filter(processed_at=None, lease_token=None).update(due_at=clock.now())

    at_once(3, work)
    assert refusals() == []
    assert edges() == {("i5", f"o{job}") for job in range(5)}
    numbers = list(GraphVersion.objects.order_by("number").values_list("number", flat=True))
    assert numbers == list(range(1, len(numbers) + 1))


def test_events_are_forgotten_after_thirty_days_and_what_they_added_up_to_stays(agent: Actor) -> None:
    send(load(), actor=agent)
    lineage_events.receive([load(5)], actor=agent)
    assert lineage_events.forget(10) == 0
    LineageEvent.objects.exclude(processed_at=None).update(processed_at=clock.now() - timedelta(days=31))
    assert lineage_events.forget(10) == 1
    assert LineageEvent.objects.get().processed_at is None
    assert LineageUse.objects.count() == 3
    assert edges() == {("raw", "orders"), ("stock", "orders")}


def test_large_events_are_read_a_few_at_a_time(agent: Actor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lineage_events, "BATCH_BYTES", 100)
    lineage_events.receive([load(n, run=f"r{n}") for n in range(3)], actor=agent)
    done = 0
    for _ in range(3):
        done += lineage_events.process_due(10, actor=agent)
        LineageEvent.objects.exclude(due_at=None).update(due_at=clock.now())
    assert done == 3


def test_jobs_of_one_name_in_two_namespaces_are_two(agent: Actor) -> None:
    send(load(), load(space="dbt://other", run="x", inputs=["a.b.c"]), actor=agent)
    assert set(LineageJob.objects.values_list("namespace", flat=True)) == {JOBS, "dbt://other"}
    assert edges() == {("raw", "orders"), ("stock", "orders"), ("c", "orders")}
