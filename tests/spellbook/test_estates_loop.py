"""Three estates with three kinds of damage through the whole loop, in this process: same code, right answers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_django import Settings

from approvals.ledger.verify import verify_bundle
from approvals.models import Draft, LedgerHead, Plan, Receipt, Request, Run
from approvals.services import ledger_check, receipts
from examples.mixpanel_night.night.repo import apply_and_merge
from foundation.audit import timeline
from incidents.models import Cause, Incident
from tests.estates import Estate
from tests.estates.empty_load import EmptyLoad
from tests.estates.fanout import Fanout
from tests.estates.night import Night
from tests.spellbook.house import House, end_runs, standing

pytestmark = [pytest.mark.dbt, pytest.mark.real, pytest.mark.timeout(420)]

SYNC, BOARD = "Mixpanel warehouse connector: account events", "Activation & Expansion Board"
UPGRADES, Q3 = "analytics.agg_plan_upgraded_quarterly", "plan_upgraded_q3"
FEED = "Carrier invoicing feed"
WALL = "exposure.freight.depot_throughput_wall"  # declared by its label: one asset with the exposure, under dbt's id


@pytest.fixture(autouse=True)
def folders(committing: str, settings: Settings, tmp_path: Path) -> Iterator[None]:
    settings.ARTIFACTS_DIR, settings.RUNS_DIR = tmp_path / "artifacts", tmp_path / "runs"
    settings.SPELLBOOK_DATA_DIR, settings.SPELLBOOK_KEYS_DIR = tmp_path, tmp_path / "keys"
    yield
    end_runs()


def incident() -> Incident:
    return Incident.objects.get()


def cause() -> Cause:
    return Cause.objects.get(incident=incident())


def plan() -> Plan:
    return Plan.objects.get()


def merge(estate: Estate) -> str:
    """The owner merges exactly what was approved."""
    return apply_and_merge(estate.repo, str(plan().steps.get(kind="change").params["patch"]))


def damage() -> dict[str, str]:
    return {row.consumer.name: row.state for row in incident().damage.select_related("consumer")}


def told() -> list[str]:
    return list(timeline(incident().pk).values_list("action", flat=True))


def test_a_filter_that_loses_unknowns_is_written_null_safely(tmp_path: Path) -> None:
    night = Night.make(tmp_path / "estate", rows=6_000)
    house = House.open(night)
    assert house.night("good").incident is None
    night.sync()

    night.break_it()
    opened = house.night("bad").incident
    assert opened is not None
    house.until(Request.objects.exists)
    assert incident().asset.name.endswith(night.watched)
    assert (cause().established, cause().kind, cause().facts["change"]) == (True, "code", "filter_added")
    assert cause().facts["proof"]["removed_null"] == str(night.unmarked)
    assert (plan().rehearsal or {})["state"] == "rehearsed", plan().rehearsal
    assert [step.kind for step in plan().steps.order_by("position")] == ["change", "rerun", "message"]

    synced = night.sync()
    removed = int(synced["rows_removed"])
    house.sync("sync-1", SYNC, rows_removed=removed, rows_inserted=0)
    assert removed == night.unmarked + night.internal
    assert damage()[SYNC] == "done"

    house.decide()
    merge(night)
    house.until(lambda: plan().state not in ("acting", "verifying"), 180)
    assert plan().state == "verified", plan().end_reason
    assert night.count(night.watched) == night.rows - night.internal
    assert Run.objects.get().state == "succeeded"

    house.settle()
    assert incident().state != "closed", "nothing was confirmed at the reader yet"
    house.record(UPGRADES, Q3, night.source_value())
    house.sync("sync-2", SYNC, rows_removed=0, rows_inserted=int(night.sync()["rows_inserted"]))
    house.record(BOARD, Q3, night.shown())
    house.until(lambda: incident().state == "closed")
    assert incident().resolution == "repaired"
    assert damage()[SYNC] == "repaired"
    house.settle()
    proven(house, {"level", "step", "plan", "incident"}, tmp_path)


@pytest.mark.both
def test_a_join_that_doubles_rows_is_taken_back(tmp_path: Path) -> None:
    freight = Fanout.make(tmp_path / "estate", rows=4_000)
    house = House.open(freight)
    assert house.night("good").incident is None

    freight.break_it()
    assert house.night("bad").incident is not None
    house.until(Request.objects.exists)
    assert (cause().established, cause().kind, cause().facts["change"]) == (True, "code", "join_added"), cause().facts
    assert cause().facts["proof"]["added"] == str(freight.rows)
    assert "carrier_scans" in cause().statement
    assert [step.step_class for step in plan().steps.order_by("position")][:2] == ["change:revert", "rerun:dbt"]
    assert [one.params for one in plan().assertions.all()] == [{"equals": str(freight.rows)}]

    house.decide()
    merge(freight)
    house.until(lambda: plan().state not in ("acting", "verifying"), 180)
    assert plan().state == "verified", plan().end_reason
    assert freight.count(freight.watched) == freight.rows

    house.sync("feed-1", FEED, rows_removed=0, rows_inserted=0)
    house.until(lambda: incident().state == "closed")
    assert damage() == {FEED: "averted", WALL: "averted"}
    house.settle()
    proven(house, {"level", "step", "plan", "incident"}, tmp_path)


def test_a_load_that_came_empty_is_nobodys_code(tmp_path: Path) -> None:
    takings = EmptyLoad.make(tmp_path / "estate", rows=4_000)
    house = House.open(takings)
    assert house.night("good").incident is None
    house.night("good-2")

    takings.break_it()
    house.night("bad")
    house.until(Draft.objects.exists)
    house.settle()
    assert cause().established, cause().statement
    assert cause().kind == "data"
    assert "settlement_lines" in cause().statement
    assert "empty since build bad" in cause().statement
    assert "nothing in code changed" in cause().statement.lower()
    assert "no change of code" in Draft.objects.get().reason
    assert not Plan.objects.exists()
    assert not Request.objects.exists()
    assert incident().asset.name.endswith("settlement_lines") or incident().asset.name.endswith(takings.watched)

    takings.mend()
    house.night("again")
    house.until(lambda: incident().state == "closed", 60)
    assert incident().resolution == "repaired_outside"
    house.settle()
    proven(house, {"level", "incident"}, tmp_path)


def proven(house: House, types: set[str], folder: Path) -> None:
    """Everything is sealed, the ledger holds, the incident's bundle verifies offline, and nothing changes any more."""
    assert set(Receipt.objects.values_list("type", flat=True)) == types, standing()
    assert not Receipt.objects.filter(sealed_at__isnull=True).exists()
    found = ledger_check.check()
    assert found.leaves == Receipt.objects.count() == LedgerHead.objects.get().size
    bundle = folder / "bundle.zip"
    bundle.write_bytes(receipts.export(Receipt.objects.get(type="incident")))
    verified = verify_bundle(str(bundle), trusted_vkeys=[one.vkey for one in receipts.published_keys()])
    assert {one.type for one in verified.linked} == types - {"incident"} - ({"level"} if "plan" not in types else set())
    before = told()
    assert not house.look()
    assert told() == before
