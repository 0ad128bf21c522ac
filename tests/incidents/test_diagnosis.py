"""The cause of three estates, from real dbt builds, and what is said when the proof does not hold."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from catalog.models import Asset, Build
from catalog.selectors import find_asset
from catalog.services import builds
from foundation import audit, connections
from foundation.errors import Unavailable
from incidents.diagnosis import case as case_module
from incidents.diagnosis import diagnose
from incidents.models import Cause, Evidence, Incident
from incidents.services import checks
from incidents.services.record import record
from tests.estates import Estate
from tests.estates.empty_load import EmptyLoad
from tests.estates.fanout import Fanout
from tests.estates.night import Night
from tests.incidents.cast import conductor

pytestmark = [pytest.mark.dbt, pytest.mark.django_db, pytest.mark.timeout(300)]
NAMESPACE = "duckdb://warehouse"


@dataclass(frozen=True)
class Ran:
    """One build of an estate: its artifacts, its commit, and the warehouse as it stood afterwards."""

    artifacts: dict[str, bytes]
    commit: str
    warehouse: Path
    rows: int


@dataclass(frozen=True)
class Played:
    """An estate whose builds were run once for all tests of this module, by name."""

    estate: Any
    builds: dict[str, Ran]


def run(estate: Estate, name: str) -> Ran:
    """A real dbt build, kept."""
    target = estate.build()
    kept = estate.folder / f"{name}.duckdb"
    shutil.copyfile(estate.duck_path, kept)
    artifacts = {kind: (target / f"{kind}.json").read_bytes() for kind in ("manifest", "run_results")}
    return Ran(artifacts, estate.commit(), kept, estate.count(estate.watched))


def play(estate: Estate) -> Played:
    good = run(estate, "good")
    estate.break_it()
    return Played(estate, {"good": good, "bad": run(estate, "bad")})


@pytest.fixture(scope="module")
def night(tmp_path_factory: pytest.TempPathFactory) -> Played:
    return play(Night.make(tmp_path_factory.mktemp("night")))


@pytest.fixture(scope="module")
def fanout(tmp_path_factory: pytest.TempPathFactory) -> Played:
    return play(Fanout.make(tmp_path_factory.mktemp("fanout")))


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Played:
    """Its third build, "halved": half of the file came, and the same night a filter was added that removes nothing."""
    estate = EmptyLoad.make(tmp_path_factory.mktemp("empty"))
    played = play(estate)
    model = estate.repo / "models/staging/stg_bank__settlement_lines.sql"
    model.write_text(
        model.read_text(encoding="utf-8").rstrip() + "\nwhere settlement_id is not null\n", encoding="utf-8"
    )
    estate.deliver(estate.rows // 2)
    played.builds["halved"] = run(estate, "halved")
    return played


class House:
    """Spellbook beside one estate: the connections, and the builds as an orchestrator announces them."""

    def __init__(self, played: Played, folder: Path) -> None:
        self.played, self.file = played, folder / played.estate.duck_path.name
        self.connect("read", "duckdb", NAMESPACE, {"path": str(self.file)})
        self.connect("code", "git", "", {"path": str(played.estate.repo), "branch": "main"})

    def connect(self, purpose: str, kind: str, namespace: str, params: dict[str, Any]) -> None:
        connections.save(
            purpose, kind=kind, purpose=purpose, namespace=namespace, params=params, secret_names=[],
            actor=conductor(),
        )  # fmt: skip

    @property
    def asset(self) -> Asset:
        return find_asset(self.played.estate.watched)

    def build(self, name: str, *, measured: bool = True, recorded: int | None = None) -> Build:
        """Announce and process a build; its row count is recorded, then Spellbook counts for itself."""
        ran = self.played.builds[name]
        shutil.copyfile(ran.warehouse, self.file)
        ended = datetime.now(UTC)
        build, _ = builds.announce(
            key=name, kind="dbt", actor=conductor(), commit=ran.commit, repository="code", connection="read",
            started_at=ended - timedelta(seconds=9), ended_at=ended, artifacts=ran.artifacts,
        )  # fmt: skip
        build = builds.process(build.pk, actor=conductor())
        assert build.refusal == ""
        if name == "good":
            self.history(watch=measured)
        number = ran.rows if recorded is None else recorded
        record(self.asset, "row_count", number, actor=conductor(), build_key=name)
        checks.review(build, actor=conductor())
        return build

    def history(self, *, watch: bool) -> None:
        """Thirty nights of counts from before Spellbook came."""
        if watch:
            checks.watch(self.asset, actor=conductor())
        for line in self.played.estate.history((datetime.now(UTC) - timedelta(days=1)).date()):
            record(
                self.asset, line["metric"], line["value"], actor=conductor(), build_key=line["build"],
                at=datetime.fromisoformat(line["at"]),
            )  # fmt: skip


def lived(played: Played, folder: Path, bad: str = "bad", **options: Any) -> Incident:
    """Thirty nights, a good build, a bad build; the one incident that it opened."""
    house = House(played, folder)
    house.build("good", measured=options.get("measured", True))
    house.build(bad, **options)
    incident = Incident.objects.get()
    assert (incident.asset, incident.first_bad_build.key) == (house.asset, bad)  # type: ignore[union-attr]
    return incident


def evidence(incident: Incident, kind: str) -> list[Evidence]:
    return list(Evidence.objects.filter(incident=incident, kind=kind))


def test_the_filter_that_reads_an_unknown_as_a_yes_is_named_with_its_proof(night: Played, tmp_path: Path) -> None:
    incident, estate = lived(night, tmp_path), night.estate
    cause = diagnose(incident.pk, actor=conductor())
    assert cause.established, cause.statement
    assert (cause.kind, cause.asset, cause.facts["change"]) == ("code", find_asset(estate.watched), "filter_added")
    assert cause.facts["unique_id"].endswith(".fct_account_events")
    assert cause.facts["predicate"].lower() == "not a.is_internal"
    proof = cause.facts["proof"]
    assert (proof["removed_null"], proof["removed_false"]) == (str(estate.unmarked), str(estate.internal))
    assert proof["missing"] == str(estate.unmarked + estate.internal) == proof["removed"]
    assert (proof["good"], proof["bad"]) == (str(estate.rows), str(estate.ordinary))
    assert "is NULL" in cause.facts["why"]

    (nulls,) = evidence(incident, "nulls")
    assert (nulls.result["column"], nulls.result["nulls"]) == ("is_internal", "3912")
    assert nulls.statement.startswith("stg_app__accounts.is_internal is NULL in 3,912 of ")
    assert nulls.speaks == "for"
    (replay,) = evidence(incident, "replay")
    assert (replay.speaks, replay.result["old"], replay.result["new"]) == ("for", proof["good"], proof["bad"])

    assert (cause.facts["commits"], "#482" in cause.facts["merge_subject"]) == ("1", True)
    assert cause.facts["merge"] == night.builds["bad"].commit
    assert not {"author", "author_name"} & set(cause.facts)
    assert cause.facts["commit"][:10] in cause.statement
    assert f"removes {estate.unmarked + estate.internal:,} rows" in cause.statement
    assert f"{estate.unmarked:,} of them only because it is NULL there" in cause.statement

    incident.refresh_from_db()
    assert (incident.state, incident.last_good_build.key) == ("diagnosed", "good")  # type: ignore[union-attr]
    started = Build.objects.get(key="bad").ended_at
    assert started is not None
    assert all(one.measured_at >= started for one in Evidence.objects.filter(incident=incident))
    assert [one.action for one in audit.timeline(incident.pk)].count("incident.diagnosed") == 1
    assert diagnose(incident.pk, actor=conductor()) == cause
    assert Cause.objects.count() == 1


def test_the_join_that_doubles_rows_is_named_with_the_multiplicity_of_its_keys(fanout: Played, tmp_path: Path) -> None:
    incident, estate = lived(fanout, tmp_path), fanout.estate
    cause = diagnose(incident.pk, actor=conductor())
    assert cause.established, cause.statement
    assert (cause.kind, cause.asset, cause.facts["change"]) == ("code", find_asset(estate.watched), "join_added")
    proof = cause.facts["proof"]
    assert (proof["rows_with"], proof["rows_without"]) == (str(2 * estate.rows), str(estate.rows))
    assert proof["added"] == proof["excess"] == str(estate.rows)
    (keys,) = evidence(incident, "keys")
    assert (keys.result["max_rows_per_key"], keys.result["keys_with_several"]) == ("2", str(estate.rows))
    assert cause.facts["keys"] == ["line_id"]
    assert f"adds {estate.rows:,} rows" in cause.statement
    assert "merged as “Merge pull request #57 from scan-times”" in cause.statement


def test_a_load_that_came_empty_is_a_cause_in_the_data_and_the_code_is_cleared(empty: Played, tmp_path: Path) -> None:
    incident, estate = lived(empty, tmp_path), empty.estate
    cause = diagnose(incident.pk, actor=conductor())
    assert cause.established, cause.statement
    load = find_asset("bank.settlement_lines")
    assert (cause.kind, cause.asset) == ("data", load)
    assert cause.statement == (
        f"{load.name} ({estate.rows:,} rows before) is empty since build bad; nothing in code changed."
    )
    (code,) = evidence(incident, "code")
    assert code.speaks == "against"
    assert code.statement.startswith(f"Nothing in code changed in {find_asset(estate.watched).name} or in the ")
    merchants = find_asset("bank.merchants")
    unchanged = [one for one in evidence(incident, "upstream") if one.statement.startswith(merchants.name)]
    assert [one.speaks for one in unchanged] == ["against"]


def test_a_count_that_the_filter_does_not_explain_leaves_the_cause_open(night: Played, tmp_path: Path) -> None:
    not_so = night.estate.ordinary // 2
    incident = lived(night, tmp_path, measured=False, recorded=not_so)
    cause = diagnose(incident.pk, actor=conductor())
    assert (cause.established, cause.kind, cause.asset) == (False, "", None)
    assert cause.statement.startswith("Cause not established. The filter (")
    assert [one.speaks for one in evidence(incident, "proof") + evidence(incident, "replay")] == ["against"] * 2


def test_the_measured_count_is_believed_before_the_recorded_one_and_the_difference_is_told(
    night: Played, tmp_path: Path
) -> None:
    real, told = night.estate.ordinary, night.estate.ordinary // 2
    incident = lived(night, tmp_path, recorded=told)
    cause = diagnose(incident.pk, actor=conductor())
    assert cause.established, cause.statement
    assert cause.facts["proof"]["bad"] == str(real)
    (difference,) = evidence(incident, "counts")
    assert difference.result == {"recorded": str(told), "measured": str(real)}


def test_a_change_of_code_that_has_nothing_to_do_with_it_is_not_blamed(empty: Played, tmp_path: Path) -> None:
    incident = lived(empty, tmp_path, bad="halved")
    cause = diagnose(incident.pk, actor=conductor())
    assert not cause.established, cause.statement
    assert cause.statement.startswith("Cause not established. The filter (")
    assert "removes 0 of" in cause.statement


def test_a_warehouse_that_is_locked_is_waited_for_and_then_told_without(
    fanout: Played, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    incident = lived(fanout, tmp_path)

    def locked(asset: Asset) -> object:
        raise Unavailable("not evaluated: the DuckDB file is locked by another process")

    monkeypatch.setattr(case_module, "open_for", locked)
    with pytest.raises(Unavailable):
        diagnose(incident.pk, actor=conductor())
    assert not Cause.objects.exists()
    monkeypatch.setattr(case_module, "PATIENCE", timedelta(0))
    cause = diagnose(incident.pk, actor=conductor())
    assert not cause.established
    assert "could not be measured: the DuckDB file is locked by another process" in cause.statement


@pytest.mark.parametrize("build", ["bad", None])
def test_without_artifacts_or_a_build_nothing_is_established_and_the_reason_is_said(build: str | None) -> None:
    from tests.incidents import cast  # noqa: PLC0415

    asset = cast.table("shop.orders")
    cast.nights(asset)
    incident = cast.breach(asset, build=build)
    cause = diagnose(incident.pk, actor=conductor())
    assert not cause.established
    assert cause.statement.startswith("Cause not established. ")
    (code,) = evidence(incident, "code")
    assert code.statement.startswith("The code cannot be compared: ")
