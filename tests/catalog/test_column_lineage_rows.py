"""Column lineage as it is kept: staged with an import, read by a sweep, walked by whoever asks."""

# ruff: noqa: S608 -- nothing runs these queries

from __future__ import annotations

import os
import threading
import time
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from catalog.column_lineage import facet
from catalog.columns.selectors import ColumnWalk, column_lineage, traced
from catalog.models import Asset, ColumnLineage, ColumnList, EdgeClaim, GraphHead, GraphVersion, NodeClaim, Source
from catalog.services import column_lineage as service
from catalog.services.column_lineage import Compiled, columns_changed, compute_due, from_facet, stage
from foundation import clock
from foundation.errors import BadInput, NotFound

SOURCE = "dbt:shop"
ORDERS = {"id": "int", "customer_id": "int", "amount": "double", "status": "text"}


class Shop:
    """raw.orders -> stg -> (orders, big) -> revenue -> a board; every table by its short name."""

    def __init__(self) -> None:
        self.source = Source.objects.create(key=SOURCE, kind="dbt")
        self.version = GraphVersion.objects.create(number=1, at=clock.now(), source=self.source)
        GraphHead.objects.update_or_create(pk=1, defaults={"version": 1})
        self.assets: dict[str, Asset] = {}

    def table(self, name: str, *above: str, kind: str = "model", columns: Mapping[str, str] | None = None,
              materialized: str = "table", namespace: str = "duckdb://shop") -> Asset:  # fmt: skip
        full = f"dev.main.{name}" if materialized != "ephemeral" and kind != "dashboard" else f"model.shop.{name}"
        asset = Asset.objects.create(namespace=namespace, name=full, kind=kind)
        self.assets[name] = asset
        attributes = {"materialized": materialized, "name": name, "kind": kind}
        common = {"source": self.source, "added_in": self.version}
        NodeClaim.objects.create(asset=asset, local_id=f"{kind}.shop.{name}", attributes=attributes, **common)
        for one in above:
            EdgeClaim.objects.create(from_asset=self.assets[one], to_asset=asset, **common)
        if columns:
            items = [
                {"name": key, "type": value, "description": "", "nullable": None} for key, value in columns.items()
            ]
            ColumnList.objects.create(asset=asset, items=items)
        return asset

    def code(self, name: str, sql: str, checksum: str = "") -> Compiled:
        return Compiled(self.assets[name].pk, SOURCE, checksum or f"sum of {sql}", sql, "duckdb")

    def stage(self, **code: str) -> None:
        stage([self.code(name, sql) for name, sql in code.items()])

    def walk(self, name: str, column: str, direction: Any = "down", **more: Any) -> ColumnWalk:
        return column_lineage(self.assets[name], column, direction, **more)

    def named(self, steps: Sequence[Any]) -> list[str]:
        names = {asset.pk: name for name, asset in self.assets.items()}
        return [f"{names[one.asset_id]}.{one.column}" for one in steps]

    def short(self, rows: Sequence[Any]) -> list[str]:
        names = {asset.pk: name for name, asset in self.assets.items()}
        return [names[one.asset_id] for one in rows]


@pytest.fixture
def shop(db: None) -> Shop:
    made = Shop()
    made.table("raw", kind="source", columns=ORDERS)
    made.table("stg", "raw")
    made.table("orders", "stg", columns={"id": "int", "Total": "double", "status": "text"})
    made.table("big", "stg")
    made.table("revenue", "orders", "big")
    made.table("board", "revenue", kind="dashboard")
    made.stage(
        stg='select id, customer_id, amount, status from "dev"."main"."raw"',
        orders='select id, amount * 2 as total, status from "dev"."main"."stg"',
        big='select id from "dev"."main"."stg" where amount > 100',
        revenue="select o.status, sum(o.total) as revenue, count(b.id) as n from main.orders o"
        " left join main.big b on b.id = o.id group by 1",
    )
    return made


def compute() -> None:
    """Read all that is due, as often as something becomes due by it; inside of a test's transaction."""
    for _ in range(10):
        rows = list(ColumnLineage.objects.filter(due_at__lte=clock.now() + timedelta(minutes=5)))
        if not rows:
            return
        token = uuid4()
        ColumnLineage.objects.filter(pk__in=[row.pk for row in rows]).update(lease_token=token)
        for row in rows:
            row.lease_token = token
        service._compute(rows)
    raise AssertionError("it is read again and again")


def test_a_column_goes_down_to_everything_that_is_made_of_it(shop: Shop) -> None:
    compute()
    found = shop.walk("raw", "amount")
    assert shop.named(found.nodes) == ["stg.amount", "orders.Total", "revenue.revenue"]
    assert [(one.hops, one.kind, one.confidence) for one in found.nodes] == [
        (1, "identity", 100), (2, "transformed", 100), (3, "aggregated", 100),
    ]  # fmt: skip
    assert found.nodes[2].via == (shop.assets["orders"].pk, "Total")
    assert shop.short(found.rows) == ["big"]
    assert shop.short(found.fallback) == ["board"]
    assert found.fallback[0].reason == "it reads the table as a whole"
    assert (found.total, found.rows_total, found.fallback_total, found.truncated) == (3, 1, 1, False)


def test_a_column_goes_up_to_everything_that_it_is_made_of(shop: Shop) -> None:
    compute()
    found = shop.walk("revenue", "REVENUE", "up")
    assert (found.column, shop.named(found.nodes)) == ("revenue", ["orders.Total", "stg.amount", "raw.amount"])
    assert {(one.by, one.hops) for one in found.rows} == {("status", 1), ("id", 1)}
    assert found.fallback == ()
    assert shop.named(shop.walk("revenue", "revenue", "up", hops=1).nodes) == ["orders.Total"]
    assert shop.named(shop.walk("revenue", "status", "up").nodes) == ["orders.status", "stg.status", "raw.status"]


def test_the_walk_as_json_hides_names_and_nothing_else(shop: Shop) -> None:
    compute()
    open_, hidden = (
        shop.walk("raw", "amount").as_dict(),
        shop.walk("raw", "amount").as_dict(visible={shop.assets["stg"].pk}),
    )
    assert open_["nodes"][0] == {
        "asset_id": shop.assets["stg"].pk, "name": "dev.main.stg", "column": "amount", "hops": 1, "kind": "identity",
        "confidence": 100, "via": [shop.assets["raw"].pk, "amount"],
    }  # fmt: skip
    assert [one["name"] for one in hidden["nodes"]] == ["dev.main.stg", None, None]
    assert [one["column"] for one in hidden["nodes"]] == ["amount", None, None]
    assert [one["kind"] for one in hidden["nodes"]] == [one["kind"] for one in open_["nodes"]]
    assert hidden["fallback"][0]["name"] is None
    assert hidden["rows"][0]["by"]["name"] == "dev.main.stg"
    assert (hidden["total"], hidden["fallback_total"]) == (3, 1)


@pytest.mark.parametrize(
    ("column", "error", "why"),
    [
        ("amont", NotFound, r"has no column amont; near it are amount"),
        ("nothing like it", NotFound, r"has no column nothing like it\."),
        ("  ", BadInput, "empty"),
        ("a\0b", NotFound, "has no column a\ufffdb"),
        ("\ud800", NotFound, "has no column \ufffd"),
    ],
)
def test_an_unknown_column_is_an_error_with_near_names(
    shop: Shop, column: str, error: type[Exception], why: str
) -> None:
    with pytest.raises(error, match=why):
        shop.walk("raw", column)
    with pytest.raises(BadInput, match="at least 1"):
        shop.walk("raw", "id", hops=0)


def test_waiting_code_is_read_on_the_fly_where_it_is_little(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    assert shop.named(shop.walk("raw", "amount").nodes) == ["stg.amount", "orders.Total", "revenue.revenue"]
    assert set(ColumnLineage.objects.values_list("state", flat=True)) == {"waiting"}
    monkeypatch.setattr("catalog.columns.rows.READ_NOW", 1)
    found = shop.walk("raw", "amount")
    assert shop.named(found.nodes) == ["stg.amount"]
    assert {(name, one.reason) for name, one in zip(shop.short(found.fallback), found.fallback, strict=True)} >= {
        ("orders", "its code was not read yet"), ("big", "its code was not read yet"),
    }  # fmt: skip
    assert shop.short(found.fallback) == ["orders", "big", "revenue", "board"]


def test_an_asset_without_code_makes_everything_beyond_it_reachable(shop: Shop) -> None:
    ColumnLineage.objects.filter(asset=shop.assets["orders"]).delete()
    compute()
    found = shop.walk("raw", "amount")
    assert shop.named(found.nodes) == ["stg.amount"]
    assert [(name, one.hops) for name, one in zip(shop.short(found.fallback), found.fallback, strict=True)] == [
        ("orders", 2), ("revenue", 3), ("board", 4),
    ]  # fmt: skip
    assert "no compiled code" in found.fallback[0].reason
    up = shop.walk("revenue", "revenue", "up")
    assert shop.named(up.nodes) == ["orders.Total"]
    assert shop.short(up.fallback) == ["orders", "stg", "raw"]
    assert shop.short(shop.walk("raw", "amount", hops=2).fallback) == ["orders"]


def test_code_that_does_not_name_the_table_is_not_taken_for_no_impact(shop: Shop) -> None:
    shop.stage(orders="select id, total, status from prod.other.place")
    compute()
    found = shop.walk("raw", "amount")
    assert ("orders", "its code, as far as it was read, does not name the table") in [
        (name, one.reason) for name, one in zip(shop.short(found.fallback), found.fallback, strict=True)
    ]
    assert shop.walk("orders", "Total", "up").as_dict()["nodes"] == [
        {"asset_id": None, "name": "prod.other.place", "column": "total", "hops": 1, "kind": "identity",
         "confidence": 100, "via": [shop.assets["orders"].pk, "Total"]}
    ]  # fmt: skip


def test_a_star_over_unknown_columns_is_followed_by_name(shop: Shop) -> None:
    shop.table("copy", "big")
    shop.stage(
        big="select * from main.stg", stg="select * from main.raw2", copy="select * exclude (secret) from main.big"
    )
    compute()
    found = shop.walk("stg", "anything")
    assert (found.reason, shop.named(found.nodes)[:2]) == (
        "the columns of the asset are not known; the name is taken as given", ["big.anything", "copy.anything"],
    )  # fmt: skip
    assert found.nodes[1].confidence == 30
    assert shop.named(shop.walk("stg", "secret").nodes) == ["big.secret"]
    assert shop.named(shop.walk("copy", "x", "up").nodes[:2]) == ["big.x", "stg.x"]
    assert traced(shop.assets["copy"]).state == "partly"
    assert "are known" in traced(shop.assets["copy"]).reason


def test_cycles_end(shop: Shop) -> None:
    shop.table("back", "revenue")
    EdgeClaim.objects.create(
        source=shop.source, added_in=shop.version, from_asset=shop.assets["back"], to_asset=shop.assets["stg"]
    )
    shop.stage(back="select revenue as amount from main.revenue", stg="select amount from main.back")
    compute()
    found = shop.walk("stg", "amount")
    assert shop.named(found.nodes) == ["orders.Total", "revenue.revenue", "back.amount"]
    assert shop.named(shop.walk("stg", "amount", "up").nodes) == ["back.amount", "revenue.revenue", "orders.Total"]


def test_an_incremental_model_that_reads_itself_is_not_its_own_upstream(shop: Shop) -> None:
    shop.stage(big="select id from main.stg where id > (select max(id) from main.big)")
    compute()
    found = shop.walk("big", "id", "up")
    assert shop.named(found.nodes) == ["stg.id", "raw.id"]
    assert {(one.by_asset, one.by) for one in found.rows} == {
        (shop.assets["big"].pk, "id"), (shop.assets["stg"].pk, "id"),
    }  # fmt: skip


def test_an_ephemeral_model_stands_between(shop: Shop) -> None:
    shop.table("step", "raw", materialized="ephemeral")
    shop.table("after", "step")
    inner = "select id as k from main.raw where amount > 1"
    shop.stage(step=inner, after=f"with __dbt__cte__step as ({inner}) select k + 1 as j from __dbt__cte__step")
    compute()
    assert shop.named(shop.walk("after", "j", "up").nodes) == ["step.k", "raw.id"]
    assert "after.j" in shop.named(shop.walk("raw", "id").nodes)
    assert "step" in shop.short(shop.walk("raw", "amount").rows)


def test_a_table_that_no_edge_announces_is_found_by_its_name(shop: Shop) -> None:
    shop.table("loose", columns={"x": "int"})
    shop.stage(big='select l.* from "dev"."main"."loose" l')
    compute()
    assert shop.named(shop.walk("big", "x", "up").nodes) == ["loose.x"]


def test_unchanged_code_writes_nothing(shop: Shop) -> None:
    compute()
    before = list(ColumnLineage.objects.order_by("pk").values())
    with CaptureQueriesContext(
        connection,
    ) as queries:
        stage([shop.code("big", ColumnLineage.objects.get(asset=shop.assets["big"]).sql)])
    assert [one["sql"] for one in queries if not one["sql"].startswith("SELECT")] == []
    assert list(ColumnLineage.objects.order_by("pk").values()) == before


def test_a_manifest_without_compiled_code_takes_nothing_away(shop: Shop) -> None:
    compute()
    (kept,) = ColumnLineage.objects.filter(asset=shop.assets["big"])
    empty = Compiled(shop.assets["big"].pk, SOURCE, kept.checksum, "", "duckdb")
    stage([empty])
    assert ColumnLineage.objects.get(pk=kept.pk).columns == kept.columns
    assert traced(shop.assets["big"]).older is False


def test_other_code_that_was_not_compiled_marks_the_lineage_as_older(shop: Shop) -> None:
    compute()
    (kept,) = ColumnLineage.objects.filter(asset=shop.assets["big"])
    pk = shop.assets["big"].pk
    for _ in range(2):
        stage([Compiled(pk, SOURCE, "another sum", "", "duckdb")])
        found = traced(shop.assets["big"])
        assert (found.older, set(found.columns)) == (True, {"id"})
        assert found.reason.startswith("of older code")
    assert shop.walk("big", "id", "up").nodes[0].confidence == 50
    stage([Compiled(pk, SOURCE, kept.checksum, "", "duckdb")])  # the code went back
    assert traced(shop.assets["big"]).older is False
    stage([Compiled(pk, SOURCE, "another sum", "", "duckdb")])
    stage([Compiled(pk, SOURCE, "another sum", kept.sql, "duckdb")])  # the new code compiles to the same
    row = ColumnLineage.objects.get(pk=kept.pk)
    assert (row.checksum, row.reason, row.columns) == ("another sum", "", kept.columns)
    stage([Compiled(pk, SOURCE, "", "", "duckdb")])  # nothing is known of the code
    assert traced(shop.assets["big"]).older is False


def test_an_asset_of_which_no_code_ever_came_gets_no_row(shop: Shop) -> None:
    stage(
        [
            Compiled(shop.assets["board"].pk, SOURCE, "sum", "", "duckdb"),
            Compiled(shop.assets["raw"].pk, "x", "", "", ""),
        ]
    )
    assert not ColumnLineage.objects.filter(asset__in=[shop.assets["board"], shop.assets["raw"]]).exists()
    assert traced(shop.assets["board"]).state == "unknown"


def test_strange_text_is_kept_as_every_database_takes_it(shop: Shop) -> None:
    shop.stage(big="select id as \"a\0b\", '\ud800' as c from main.stg", orders="select 1 as x -- " + "y" * 300_000)
    compute()
    assert set(traced(shop.assets["big"]).columns) == {"a\ufffdb", "c"}
    long = ColumnLineage.objects.get(asset=shop.assets["orders"])
    assert (long.state, long.sql, long.reason) == ("unknown", "", "the code has more than 300,000 characters")
    shop.stage(orders="select 1 as x -- " + "y" * 300_000)


def test_new_code_of_an_asset_replaces_the_old_and_takes_the_lease_of_who_reads_it(shop: Shop) -> None:
    compute()
    shop.stage(big="select customer_id from main.stg")
    row = ColumnLineage.objects.get(asset=shop.assets["big"])
    assert (row.state, row.columns, row.lease_token) == ("waiting", {}, None)
    assert row.due_at is not None
    compute()
    assert set(traced(shop.assets["big"]).columns) == {"customer_id"}


def test_code_is_read_again_when_the_columns_of_what_it_reads_change(shop: Shop) -> None:
    shop.table("feed", kind="source")
    shop.table("copy", "feed")
    shop.stage(copy="select * from main.feed")
    compute()
    assert traced(shop.assets["copy"]).state == "partly"
    later = ColumnLineage.objects.get(asset=shop.assets["copy"]).due_at
    assert later is not None
    assert later > clock.now() + timedelta(hours=23)
    items = [{"name": "id", "type": "int", "description": "", "nullable": None}]
    ColumnList.objects.create(asset=shop.assets["feed"], items=items)
    columns_changed([shop.assets["feed"].pk])
    due = ColumnLineage.objects.filter(due_at__lte=clock.now())
    assert set(due.values_list("asset__name", flat=True)) == {"dev.main.copy"}
    compute()
    assert (traced(shop.assets["copy"]).state, set(traced(shop.assets["copy"]).columns)) == ("known", {"id"})


def test_what_the_code_of_a_table_gives_out_is_known_to_the_code_that_reads_it(shop: Shop) -> None:
    shop.stage(big="with s as (select * from main.stg) select * from s", revenue="select ID, amount from orders, big")
    compute()
    found = traced(shop.assets["big"])
    assert (found.state, list(found.columns), found.rest) == ("known", ["id", "customer_id", "amount", "status"], None)
    assert {entry["confidence"] for entry in found.columns.values()} == {100}
    assert shop.named(shop.walk("revenue", "amount", "up").nodes) == ["big.amount", "stg.amount", "raw.amount"]
    shop.stage(stg="select id, amount as money from main.raw")
    compute()
    assert list(traced(shop.assets["big"]).columns) == ["id", "money"]


def test_names_are_found_in_the_case_in_which_the_catalogue_spells_them(shop: Shop) -> None:
    shop.table("loud", "stg", columns={"order_id": "", "Name": ""})
    sql = (
        "with s as (select * from MAIN.STG), t as (select * from s join s as s2 using (ID)) select t.ID ORDER_ID from t"
    )
    stage([Compiled(shop.assets["loud"].pk, SOURCE, "", sql, "snowflake")])
    compute()
    found = traced(shop.assets["loud"])
    assert found.state == "known"
    assert found.columns["order_id"]["sources"] == [[shop.assets["stg"].pk, "id"]]
    assert shop.named(shop.walk("loud", "ORDER_ID", "up").nodes) == ["stg.id", "raw.id"]


def test_what_a_producer_says_is_kept_and_joined_with_the_code(shop: Shop) -> None:
    compute()
    said = {
        "fields": {
            "revenue": {"inputFields": [
                {"namespace": "duckdb://shop", "name": "dev.main.big", "field": "id",
                 "transformations": [{"type": "DIRECT", "subtype": "AGGREGATION"}]},
                {"namespace": "duckdb://shop", "name": "dev.main.stg", "field": "status",
                 "transformations": [{"type": "INDIRECT", "subtype": "FILTER"}]},
                {"namespace": "s3://x", "name": "file", "field": "f"}, {"namespace": 1}, None,
            ], "transformationType": "IDENTITY"},
            "": {}, "odd": None, "a\0": {"inputFields": []}, "bare": {"inputFields": "none"},
        },
        "dataset": [{"namespace": "duckdb://shop", "name": "dev.main.big", "field": "id"}],
    }  # fmt: skip
    ids = {(asset.namespace, asset.name): asset.pk for asset in Asset.objects.all()}
    columns = facet.read(said, lambda namespace, name: ids.get((namespace, name)))
    big, stg = shop.assets["big"].pk, shop.assets["stg"].pk
    assert columns == {
        "revenue": {"sources": [[big, "id"], ["s3://x/file", "f"]], "kind": "aggregated", "confidence": 90},
        "bare": {"sources": [], "kind": "transformed", "confidence": 90},
        "": {"sources": [[big, "id"], [stg, "status"]], "kind": "rows", "confidence": 90},
    }
    from_facet(shop.assets["revenue"].pk, "openlineage:x", columns)
    found = shop.walk("revenue", "revenue", "up", hops=1)
    assert [(one.asset_id, one.table, one.column) for one in found.nodes] == [
        (shop.assets["orders"].pk, "", "Total"), (big, "", "id"), (None, "s3://x/file", "f"),
    ]  # fmt: skip
    row = ColumnLineage.objects.get(source="openlineage:x")
    from_facet(shop.assets["revenue"].pk, "openlineage:x", columns)
    assert ColumnLineage.objects.get(source="openlineage:x").computed_at == row.computed_at
    from_facet(shop.assets["revenue"].pk, "openlineage:x", {})
    assert not ColumnLineage.objects.filter(source="openlineage:x").exists()


def test_what_a_source_says_ends_with_its_claim(shop: Shop) -> None:
    compute()
    second = GraphVersion.objects.create(number=2, at=clock.now(), source=shop.source)
    NodeClaim.objects.filter(asset=shop.assets["big"]).update(removed_in=second)
    assert traced(shop.assets["big"]).state == "unknown"
    assert "no compiled code" in traced(shop.assets["big"]).reason


def test_lists_are_cut_and_counted(shop: Shop) -> None:
    compute()
    found = shop.walk("raw", "amount", limit=1)
    assert (len(found.nodes), found.total, found.truncated) == (1, 3, True)


def test_a_fault_of_ours_is_one_unknown_row(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: object, **kwargs: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("catalog.columns.reading.trace", fail)
    compute()
    assert set(ColumnLineage.objects.values_list("state", flat=True)) == {"unknown"}
    assert "fault of ours" in traced(shop.assets["big"]).reason


def test_a_walk_takes_few_queries(shop: Shop) -> None:
    for number in range(30):
        shop.table(f"extra{number}", "stg")
        shop.stage(**{f"extra{number}": f"select amount + {number} as a{number} from main.stg"})
    compute()
    with CaptureQueriesContext(connection) as queries:
        assert shop.walk("raw", "amount").total == 33
    assert len(queries) <= 20


@pytest.mark.usefixtures("committing")
def test_the_sweep_reads_what_is_due_once_among_several_workers() -> None:
    shop = Shop()
    shop.table("raw", kind="source", columns=ORDERS)
    for number in range(60):
        shop.table(f"m{number}", "raw")
    shop.stage(**{f"m{number}": f"select amount + {number} as a from main.raw" for number in range(60)})
    done: list[int] = []

    def work() -> None:
        try:
            done.append(compute_due(100, seconds=60))
        finally:
            connection.close()

    workers = [threading.Thread(target=work) for _ in range(3)]
    for one in workers:
        one.start()
    for one in workers:
        one.join()
    assert sum(done) == 60
    assert ColumnLineage.objects.filter(state="known", due_at__isnull=True, attempts=1).count() == 60
    assert compute_due(100) == 0


@pytest.mark.usefixtures("committing")
def test_five_thousand_rows_are_staged_in_the_blink_of_an_eye() -> None:
    Asset.objects.bulk_create(
        [Asset(namespace="duckdb://shop", name=f"dev.main.m{number}", kind="model") for number in range(5000)]
    )
    pks = list(Asset.objects.order_by("pk").values_list("pk", flat=True))

    def rows(stamp: str) -> list[Compiled]:
        body = "select " + ", ".join(f"a.column_{n} as column_{n}" for n in range(10)) + ' from "dev"."main"."x" as a'
        return [Compiled(pk, SOURCE, f"sum {stamp}", f"{body} where a.id = {pk} -- {stamp}", "duckdb") for pk in pks]

    took = {}
    for name, given in (("new", rows("one")), ("same", rows("one")), ("other", rows("two"))):
        began = time.process_time()
        stage(given)
        took[name] = time.process_time() - began
    if os.environ.get("SPELLBOOK_TEST_SHOW"):
        print(took)  # noqa: T201
    assert ColumnLineage.objects.filter(state="waiting", checksum="sum two").count() == 5000
    assert took["new"] < 0.6  # seconds of this process's own time: some 0.15 s when nothing else runs
    assert took["same"] < 0.2  # 0.03 s
