"""What was good last, which number counts, which incidents are open."""

from __future__ import annotations

import pytest

from catalog.models import Asset, Build
from catalog.services import builds
from foundation.clock import now
from incidents.models import Check, Metric
from incidents.selectors import last_good_build, newest_value, open_incidents, series
from incidents.services.record import record, withdraw
from incidents.services.results import Said, keep
from tests.catalog.manifests import manifest, model
from tests.incidents import cast
from tests.incidents.cast import ROWS, conductor

pytestmark = pytest.mark.django_db


def built(key: str, asset: Asset, number: int | None = 1000, *, files: bool = True, status: str = "succeeded") -> Build:
    artifacts = {"manifest": manifest([model("orders")])} if files else {}
    build, _ = builds.announce(
        key=key, kind="dbt", actor=conductor(), artifacts=artifacts, status=status, outputs=[str(asset)]
    )
    build = builds.process(build.pk, actor=conductor())
    if number is not None:
        record(asset, ROWS, number, actor=conductor(), build_key=key)
    return build


@pytest.fixture
def asset() -> Asset:
    found = cast.table("shop.orders")
    cast.nights(found)
    return found


def tonight(asset: Asset) -> Build:
    return built("tonight", asset, 449)


def test_the_newest_good_build_with_artifacts_is_the_last_good_one(asset: Asset) -> None:
    built("older", asset)
    newer = built("newer", asset)
    built("without files", asset, files=False)
    assert last_good_build(asset, tonight(asset)) == newer


def test_a_build_that_nobody_looked_at_is_not_good(asset: Asset) -> None:
    good = built("good", asset)
    built("unseen", asset, None)
    built("failed", asset, status="failed")
    assert last_good_build(asset, tonight(asset)) == good


def test_a_build_with_a_value_outside_is_not_good_until_the_incident_was_a_false_alarm(asset: Asset) -> None:
    good, odd = built("good", asset), built("odd", asset, 2000)
    after = built("after", asset, None)
    assert last_good_build(asset, after) == good
    cast.end(open_incidents().get(), "accepted")
    check = Check.objects.create(asset=asset, kind="unique", origin="dbt", local_id="u")
    keep(check, odd, Said("passed"), actor=conductor())
    assert last_good_build(asset, after) == odd


@pytest.mark.parametrize("status", ["failed", "error"])
def test_a_failed_check_of_the_table_makes_a_build_bad_and_a_passed_one_good(asset: Asset, status: str) -> None:
    check = Check.objects.create(asset=asset, kind="unique", origin="dbt", local_id="u")
    passed, failed = built("passed", asset, None), built("failed", asset, None)
    keep(check, passed, Said("passed"), actor=conductor())
    keep(check, failed, Said(status, "3 rows"), actor=conductor(), opens=False)
    assert last_good_build(asset, tonight(asset)) == passed


def test_without_any_good_build_there_is_none(asset: Asset) -> None:
    assert last_good_build(asset, tonight(asset)) is None


def test_of_one_build_what_was_measured_counts_and_else_the_newest(asset: Asset) -> None:
    build = built("b", asset, 1000)
    measured = record(asset, ROWS, 1001, actor=conductor(), build_key="b", obtained="measured").value
    newest = record(asset, ROWS, 1002, actor=conductor()).value
    assert newest_value(asset, ROWS, build) == measured
    assert newest_value(asset, ROWS) == newest
    withdraw(newest, "wrong table", actor=conductor())
    withdraw(measured, "wrong table", actor=conductor())
    found = newest_value(asset, ROWS, build)
    assert found is not None
    assert found.number == 1000
    assert newest_value(asset, ROWS) == found
    assert newest_value(asset, "other") is None


def test_a_series_is_the_newest_values_oldest_first(asset: Asset) -> None:
    assert [int(value.number) for value in series(Metric.objects.get(), limit=3)] == [999, 1002, 998]
    assert series(Metric.objects.get(), limit=1)[0].at < now()
