"""The estates do what their stories say: green builds, and rows that are lost, doubled or never come."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import orjson
import pytest
import yaml

from examples.mixpanel_night import figures
from examples.mixpanel_night.night import repo
from tests.estates import Estate
from tests.estates.empty_load import EmptyLoad
from tests.estates.fanout import Fanout
from tests.estates.night import Night

ALL = (Night, Fanout, EmptyLoad)
pytestmark = pytest.mark.timeout(300)  # three real builds in a row, on a busy machine


def manifest(target: Path) -> dict[str, Any]:
    document: dict[str, Any] = orjson.loads((target / "manifest.json").read_bytes())
    return document


def statuses(target: Path) -> set[str]:
    results = orjson.loads((target / "run_results.json").read_bytes())["results"]
    return {result["status"] for result in results}


@pytest.mark.dbt
@pytest.mark.real
def test_the_filter_loses_unmarked_and_internal_accounts_and_the_fix_brings_back_the_unmarked(tmp_path: Path) -> None:
    night = Night.make(tmp_path)
    night.build()
    assert night.count(night.watched) == night.rows
    assert night.sync()["rows_inserted"] == night.rows
    assert night.shown() == night.unmarked_upgrades + night.ordinary_upgrades + night.internal_upgrades

    night.break_it()
    assert statuses(night.build()) <= {"success", "pass", "no-op"}
    assert night.count(night.watched) == night.ordinary
    synced = night.sync()
    assert (synced["rows_removed"], synced["rows_inserted"]) == (night.unmarked + night.internal, 0)
    assert night.shown() == night.source_value() == night.ordinary_upgrades

    night.mend()
    night.build("--select", "stg_app__accounts+")
    assert night.count(night.watched) == night.rows - night.internal
    synced = night.sync()
    assert (synced["rows_removed"], synced["rows_inserted"]) == (0, night.unmarked)
    assert night.shown() == night.source_value() == night.unmarked_upgrades + night.ordinary_upgrades


@pytest.mark.dbt
@pytest.mark.real
def test_the_joined_table_doubles_the_rows_until_the_merge_is_reverted(tmp_path: Path) -> None:
    estate = Fanout.make(tmp_path)
    good = estate.build()
    assert estate.count(estate.watched) == estate.rows
    estate.break_it()
    bad = estate.build()
    assert estate.count(estate.watched) == 2 * estate.rows
    unique_id = "model.freight.fct_dispatched_lines"
    before, after = (manifest(target)["nodes"][unique_id]["depends_on"]["nodes"] for target in (good, bad))
    assert set(after) - set(before) == {"model.freight.stg_wms__carrier_scans"}
    estate.mend()
    estate.build()
    assert estate.count(estate.watched) == estate.rows


@pytest.mark.dbt
@pytest.mark.real
def test_an_empty_load_empties_everything_below_it_with_the_same_code(tmp_path: Path) -> None:
    estate = EmptyLoad.make(tmp_path)
    good = estate.build()
    assert estate.count(estate.watched) == estate.rows
    commit = estate.commit()
    estate.break_it()
    bad = estate.build()
    assert estate.commit() == commit
    sums = [{key: node["checksum"] for key, node in manifest(target)["nodes"].items()} for target in (good, bad)]
    assert sums[0] == sums[1]
    below = ("bank.settlement_lines", estate.watched, "finance.rpt_daily_cash")
    assert {name: estate.count(name) for name in below} == dict.fromkeys(below, 0)
    assert estate.count("bank.merchants") == 300
    estate.mend()
    estate.build()
    assert estate.count(estate.watched) == estate.rows


@pytest.mark.parametrize("rows", [1_000, 5_000, 200_000, figures.FULL_ROWS])
def test_the_events_scale_and_every_group_keeps_some(rows: int) -> None:
    parts, made = figures.group_rows(rows), figures.months(rows)
    assert sum(parts) == rows
    assert all(part > 0 for part in parts)
    assert sum(m.unmarked.events + m.ordinary.events + m.internal.events for m in made) == rows
    assert all(count > 0 for count in figures.upgraded(rows))


def test_the_full_size_has_the_figures_of_the_story() -> None:
    assert figures.group_rows(figures.FULL_ROWS) == (6_438_000, 4_490_000, 22_000)
    unmarked, ordinary, _ = figures.upgraded(figures.FULL_ROWS)
    assert (unmarked + ordinary, ordinary) == (1_284, 541)


def test_a_small_estate_keeps_all_accounts_and_generates_the_same_events_twice(tmp_path: Path) -> None:
    once, again = (Night(tmp_path / name, rows=3_000) for name in ("a", "b"))
    tables = []
    for night in (once, again):
        night.load()
        with night.warehouse() as connection:
            tables.append(connection.execute("select * from app.events order by event_id").fetchall())
            flags = connection.execute("select count(*), count(is_internal) from app.accounts").fetchone()
            early = connection.execute(
                "select count(*) from app.events join app.accounts using (account_id) where occurred_at < created_at"
            ).fetchone()
        assert flags == (figures.ACCOUNTS, figures.ACCOUNTS - figures.UNMARKED_ACCOUNTS)
        assert early == (0,)
    assert tables[0] == tables[1]
    assert [row[0] for row in tables[0]] == list(range(1, 3_001))


@pytest.mark.parametrize("asked", ["999", "-5", "many", "1.5"])
def test_a_bad_number_of_rows_is_refused_in_one_sentence(asked: str) -> None:
    with pytest.raises(ValueError, match="ROWS must be a whole number of at least 1000"):
        figures.asked_rows(asked)


def test_the_merge_of_the_evening_adds_one_predicate_and_the_repair_applies_to_it(tmp_path: Path) -> None:
    where = tmp_path / "repo"
    repo.create_repository(where)
    merged = repo.merge_bad_change(where)
    lines = repo.git(where, "diff", "--unified=0", "HEAD^1", "HEAD").splitlines()
    assert lines[5:] == ["+where not a.is_internal"]
    assert "#482" in repo.git(where, "log", "-1", "--format=%s", merged)
    assert repo.git(where, "log", "-1", "--format=%ae", "HEAD^2") == "analytics.engineer@example.com"
    with pytest.raises(RuntimeError, match="git apply failed"):
        repo.apply_and_merge(where, "not a diff")
    assert (repo.head(where), repo.git(where, "branch", "--format=%(refname:short)")) == (merged, "main")


@pytest.mark.parametrize("kind", ALL)
def test_a_declaration_names_only_people_and_tables_that_it_knows(kind: type[Estate]) -> None:
    document = yaml.safe_load(kind.declaration.read_text(encoding="utf-8"))
    people = {person["email"] for person in document["people"]}
    rows = document["domains"] + document["assets"] + document["consumers"]
    roles = ("owner", "approver", "fallback", "on_call", "operator", "tool_admin", "business_owner")
    assert {row[role] for row in rows for role in roles if role in row} <= people
    known = {row["asset"] for row in document["assets"] + document["consumers"]}
    assert {row[key] for row in document["consumers"] for key in ("reads", "through") if key in row} <= known
    assert {row["confirm"]["source"] for row in document["consumers"] if "confirm" in row} <= known
    assert kind.watched in {row["asset"] for row in document["assets"] if "row_count" in row.get("watch", [])}


@pytest.mark.parametrize("kind", ALL)
def test_thirty_nights_stay_close_to_the_good_count(kind: type[Estate], tmp_path: Path) -> None:
    lines = kind(tmp_path, rows=200_000).history(date(2026, 9, 29))
    assert [lines[0]["build"], lines[-1]["build"], len(lines)] == ["nightly-2026-08-30", "nightly-2026-09-28", 30]
    assert all(abs(int(line["value"]) - 200_000) <= 300 for line in lines)
    assert {line["asset"] for line in lines} == {kind.watched}
