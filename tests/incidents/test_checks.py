"""After a build: dbt's results as dbt said them, rows as Spellbook counted them, and why where it could not."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import duckdb
import pytest

from catalog.models import Asset, Build, Source
from catalog.selectors import find_asset
from catalog.services import builds
from catalog.warehouses.duckdb import DuckDBWarehouse
from foundation import audit, connections
from foundation.errors import Unavailable
from incidents.models import BuildReview, Check, Incident, Result, Value
from incidents.services import checks, counting
from incidents.services.record import record
from tests.catalog.manifests import manifest, model, run_results
from tests.incidents import cast
from tests.incidents.cast import NAMESPACE, ROWS, conductor

pytestmark = pytest.mark.django_db


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    """A DuckDB file with shop.raw (7 rows) and shop.orders (5 rows), and the connection that reads it."""
    path = tmp_path / "shop.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("create table raw as select * from range(7)")
        connection.execute("create table orders as select * from range(5)")
    params = {"path": str(path), "database": "dev"}
    connections.save(
        "warehouse", kind="duckdb", purpose="read", namespace=NAMESPACE, params=params, secret_names=[],
        actor=conductor(),
    )  # fmt: skip
    return path


def relation(name: str) -> dict[str, Any]:
    return {
        "kind": "model", "dialect": "duckdb", "relation": {"database": None, "schema": "main", "identifier": name},
    }  # fmt: skip


def family() -> tuple[Asset, Asset]:
    """raw -> orders, both with a relation; orders is watched."""
    raw = cast.table("shop.raw")
    orders = cast.table("shop.orders", raw)
    for asset in (raw, orders):
        asset.claims.create(
            source=dbt(), local_id=asset.name, added_in_id=1, attributes=relation(asset.name.partition(".")[2])
        )
    checks.watch(orders, actor=conductor())
    return raw, orders


def dbt() -> Any:
    return Source.objects.get_or_create(key="dbt:shop", defaults={"kind": "dbt"})[0]


def reviewed(build: Build) -> BuildReview:
    return checks.review(build, actor=conductor())


def said(asset: Asset) -> tuple[str, str]:
    result = Result.objects.get(check_run__asset=asset, check_run__origin="measured")
    return result.status, result.reason


def dbt_tests(*entries: tuple[str, str | None]) -> list[tuple[str, dict[str, Any]]]:
    """dbt tests on the column id of models, by unique id."""
    return [
        (
            unique_id,
            {
                "unique_id": unique_id, "resource_type": "test", "name": unique_id, "package_name": "shop",
                "attached_node": attached, "column_name": "id", "test_metadata": {"name": unique_id.split(".")[2]},
                "depends_on": {"nodes": [attached or "model.shop.orders"]}, "config": {"severity": "error"},
            },
        )
        for unique_id, attached in entries
    ]  # fmt: skip


def dbt_build(key: str, results: dict[str, tuple[str, str, int | None]], *names: str) -> Build:
    """A processed dbt build of the model orders with these tests and what dbt said of them."""
    data = manifest([model("orders"), *dbt_tests(*((name, "model.shop.orders") for name in names))])
    document = json.loads(run_results(("model.shop.orders", "success", 5)))
    document["results"] += [
        {"unique_id": name, "status": status, "message": message, "failures": failures}
        for name, (status, message, failures) in results.items()
    ]
    build, _ = builds.announce(
        key=key, kind="dbt", actor=conductor(), connection="warehouse",
        artifacts={"manifest": data, "run_results": json.dumps(document).encode()},
    )  # fmt: skip
    return builds.process(build.pk, actor=conductor())


def test_what_dbt_said_is_kept_as_it_said_it_and_what_did_not_run_is_not_evaluated(warehouse: Path) -> None:
    names = [f"test.shop.{word}.1" for word in ("unique", "not_null", "accepted", "positive", "recent", "skipped")]
    told: dict[str, tuple[str, str, int | None]] = {
        names[0]: ("pass", "", 0),
        names[1]: ("fail", "Got 3 results, configured to fail if != 0", 3),
        names[2]: ("warn", "Got 1 result, configured to warn if != 0", 1),
        names[3]: ("error", "Binder Error", None),
        names[5]: ("skipped", "", None),
    }
    build = dbt_build("b1", told, *names)
    checks.take_over(build, actor=conductor())
    found = {one.check_run.kind: one for one in Result.objects.select_related("check_run")}
    assert {kind: one.status for kind, one in found.items()} == {
        "unique": "passed", "not_null": "failed", "accepted": "passed", "positive": "error",
        "recent": "not_evaluated", "skipped": "not_evaluated",
    }  # fmt: skip
    assert found["accepted"].reason == "dbt says warn: Got 1 result, configured to warn if != 0"
    assert found["recent"].reason == "this build did not run the test"
    assert found["not_null"].observed == {"failures": 3}
    incident = Incident.objects.get()
    lines = [audit.sentence(row) for row in audit.timeline(incident.pk)]
    name = incident.asset.name
    why = "dbt says fail: Got 3 results, configured to fail if != 0"
    assert lines == [f"not_null on {name}: failed ({why})", f"not_null on id of {name} failed: {why}"]


def test_taking_over_twice_changes_nothing(warehouse: Path) -> None:
    build = dbt_build("b1", {"test.shop.unique.1": ("fail", "3", 3)}, "test.shop.unique.1")
    first = checks.take_over(build, actor=conductor())
    assert checks.take_over(build, actor=conductor()) == first
    assert (Result.objects.count(), Incident.objects.count()) == (1, 1)


def test_a_domain_that_is_only_connected_has_its_results_kept_and_nothing_opened(warehouse: Path) -> None:
    build = dbt_build("b1", {"test.shop.unique.1": ("fail", "3", 3)}, "test.shop.unique.1")
    checks.watch(find_asset("orders"), actor=conductor())
    checks.review(build, actor=conductor(), judged=lambda asset: False)
    assert Result.objects.get(check_run__origin="dbt").status == "failed"
    measured = Result.objects.get(check_run__origin="measured")
    assert (measured.status, measured.reason) == ("not_evaluated", "values of this domain are kept and not judged")
    assert not Incident.objects.exists()


def test_the_watched_table_and_what_it_is_built_from_are_counted(warehouse: Path) -> None:
    raw, orders = family()
    other = cast.table("shop.other")
    build = cast.announced("b1", orders, other)
    assert reviewed(build).reason == ""
    values = {value.metric.asset: value for value in Value.objects.filter(build=build)}
    assert {asset: int(value.number) for asset, value in values.items()} == {raw: 7, orders: 5}
    assert all(value.obtained == "measured" and "COUNT(*)" in value.query for value in values.values())
    assert said(orders) == ("not_evaluated", "0 earlier builds, 4 are needed")
    assert reviewed(build).measured_at is not None
    assert Value.objects.count() == 2


def test_a_measured_breach_is_one_finding_and_its_check_belongs_to_the_incident(warehouse: Path) -> None:
    _, orders = family()
    cast.nights(orders)
    reviewed(cast.announced("b1", orders))
    incident = Incident.objects.get()
    assert incident.findings.count() == 1
    assert said(orders)[0] == "failed"
    assert list(audit.timeline(incident.pk).values_list("action", flat=True)) == [
        "value.recorded", "incident.opened", "check.finished",
    ]  # fmt: skip


def test_a_measured_count_inside_the_band_passes(warehouse: Path) -> None:
    _, orders = family()
    cast.nights(orders, (5, 5, 5, 5))
    reviewed(cast.announced("b1", orders))
    assert said(orders) == ("passed", "")


def test_a_missing_table_is_missing_neither_zero_nor_no_data(warehouse: Path) -> None:
    _, orders = family()
    with duckdb.connect(str(warehouse)) as connection:
        connection.execute("drop table orders")
    reviewed(cast.announced("b1", orders))
    assert said(orders) == ("not_evaluated", "the table main.orders is missing")
    assert not Value.objects.filter(metric__asset=orders).exists()


def test_a_locked_file_is_asked_again_and_at_last_not_evaluated_with_its_reason(
    warehouse: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, orders = family()
    impatient = replace(DuckDBWarehouse.open({"path": str(warehouse)}, []), lock_wait=timedelta(0))
    monkeypatch.setattr(counting, "open_for", lambda asset: impatient)
    build = cast.announced("b1", orders)
    with duckdb.connect(str(warehouse)):
        with pytest.raises(Unavailable, match="locked by another process"):
            reviewed(build)
        assert not Result.objects.filter(check_run__asset=orders).exists(), "whoever reviews it asks again"
        monkeypatch.setattr(counting, "PATIENCE", timedelta(0))
        reviewed(build)
    assert said(orders) == ("not_evaluated", "the DuckDB file shop.duckdb is locked by another process")
    assert not Value.objects.exists()


def test_a_build_that_was_announced_during_a_lock_is_counted_after_it(
    warehouse: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, orders = family()
    impatient = replace(DuckDBWarehouse.open({"path": str(warehouse)}, []), lock_wait=timedelta(0))
    monkeypatch.setattr(counting, "open_for", lambda asset: impatient)
    build = cast.announced("b1", orders)
    with duckdb.connect(str(warehouse)), pytest.raises(Unavailable):
        reviewed(build)
    reviewed(build)
    assert Value.objects.filter(metric__asset=orders, obtained="measured").exists()


def test_without_a_connection_or_a_relation_the_reason_says_so() -> None:
    _, orders = family()
    bare = cast.table("shop.bare")
    checks.watch(bare, actor=conductor())
    reviewed(cast.announced("b1", orders, bare))
    assert said(orders) == ("not_evaluated", f"No connection reads {NAMESPACE}; add one with purpose read.")
    assert said(bare) == ("not_evaluated", "no table in a warehouse is known for it")


def test_a_count_that_stands_for_a_build_is_not_taken_again_after_a_crash(warehouse: Path) -> None:
    _, orders = family()
    build = cast.announced("b1", orders)
    record(orders, ROWS, 4, actor=conductor(), build_key="b1", obtained="measured", query="select 4")
    reviewed(build)
    result = Result.objects.get(check_run__asset=orders)
    assert (result.observed, result.query) == ({"rows": "4"}, "select 4")


def test_a_build_that_a_later_one_may_have_overwritten_is_not_counted(warehouse: Path) -> None:
    _, orders = family()
    build = cast.announced("b1", orders)
    cast.announced("b2", orders)
    reviewed(build)
    assert said(orders) == ("not_evaluated", "the build b2 may have written the table before it was counted")
    assert not Value.objects.filter(metric__asset=orders).exists()


def test_a_sync_and_a_build_that_was_refused_are_not_counted(warehouse: Path) -> None:
    _, orders = family()
    assert reviewed(cast.announced("s", orders, kind="sync")).reason == "a sync writes no table of the warehouse"
    assert reviewed(cast.announced("o", cast.table("shop.x"))).reason == "no watched table was written"
    odd, _ = builds.announce(key="odd", kind="load", actor=conductor(), outputs=["nowhere"])
    done = builds.process(odd.pk, actor=conductor())
    assert reviewed(done).reason.startswith("what the build wrote is not known: ")


def test_checks_can_be_run_by_hand_between_builds(warehouse: Path) -> None:
    _, orders = family()
    cast.nights(orders)
    results = checks.run_checks(orders, actor=conductor())
    assert [(one.status, one.build, one.observed) for one in results] == [("failed", None, {"rows": "5"})]
    assert Incident.objects.count() == 1
    checks.run_checks(orders, actor=conductor())
    assert Incident.objects.count() == 1


def test_watching_twice_is_one_check() -> None:
    asset = cast.table("shop.orders")
    assert checks.watch(asset, actor=conductor()) == checks.watch(asset, actor=conductor())
    assert Check.objects.count() == 1
