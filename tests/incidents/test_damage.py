"""Damage follows what runs announced, late, twice, out of order or without figures; or the clock where nothing runs."""

from __future__ import annotations

import itertools
from datetime import timedelta

import pytest

from catalog.models import Asset
from foundation import audit
from foundation.clock import now
from incidents.models import Check, Damage, Incident, Result
from incidents.recovery import right_again
from incidents.services import damage, progress
from incidents.services.record import record, withdraw
from incidents.services.results import Said, keep
from tests.incidents import cast
from tests.incidents.cast import ROWS, conductor

pytestmark = pytest.mark.django_db
A_MOMENT = timedelta(milliseconds=1)  # what SQLite's clock can tell apart


def pending(mode: str = "mirror") -> tuple[Asset, Asset, Incident]:
    asset, incident = cast.broken()
    reader = cast.a_sync("copy", asset, mode=mode)
    progress.see_reach(incident.pk, actor=conductor())
    return asset, reader, incident


def row() -> Damage:
    return Damage.objects.get()


def note(build: object) -> int:
    return damage.note_sync(build, actor=conductor())  # type: ignore[arg-type]


def words(incident: Incident) -> list[str]:
    return [audit.sentence(one) for one in audit.timeline(incident.pk) if one.action.startswith("damage.")]


def test_a_run_on_the_wrong_table_is_damage_done_with_its_size_and_counts_once() -> None:
    _, reader, incident = pending()
    Incident.objects.filter(pk=incident.pk).update(due_at=None)
    run = cast.ran("sync-1", reader, began=now(), removed=6_438_000)
    assert (note(run), note(run)) == (1, 0)
    found = row()
    assert (found.state, found.done_by, found.done_at, found.rows_removed) == ("done", run, run.ended_at, 6_438_000)
    assert words(incident) == ["copy read the wrong table: 6,438,000 rows removed there"]
    incident.refresh_from_db()
    assert incident.due_at is not None


def test_a_size_that_was_not_announced_is_unknown_not_nothing() -> None:
    _, reader, incident = pending()
    note(cast.ran("sync-1", reader, began=now(), removed=None, inserted=None))
    assert (row().state, row().rows_removed) == ("done", None)
    assert words(incident) == ["copy read the wrong table: an unknown number of rows removed there"]


def test_two_runs_on_the_wrong_table_add_up_unless_one_is_unknown() -> None:
    _, reader, _ = pending()
    note(cast.ran("sync-1", reader, began=now(), removed=5))
    note(cast.ran("sync-2", reader, began=now(), removed=7))
    assert (row().rows_removed, row().done_by.key) == (12, "sync-1")  # type: ignore[union-attr]
    note(cast.ran("sync-3", reader, began=now(), removed=None, inserted=None))
    assert row().rows_removed is None


def test_a_run_before_the_bad_build_or_one_that_changed_nothing_says_nothing() -> None:
    _, reader, _ = pending()
    note(cast.ran("yesterday", reader, began=now() - timedelta(days=1)))
    note(cast.ran("idle", reader, began=now(), removed=0, inserted=0))
    assert row().state == "pending"


def test_a_failed_run_is_damage_only_when_it_says_that_it_changed_rows() -> None:
    _, reader, _ = pending()
    failed = cast.announced("f1", reader, kind="sync", status="failed", started_at=now(), ended_at=now())
    assert (note(failed), row().state) == (0, "pending")
    partly = cast.announced(
        "f2", reader, kind="sync", status="failed", started_at=now(), ended_at=now(), facts={"rows_removed": 3}
    )
    assert (note(partly), row().state, row().rows_removed) == (1, "done", 3)


def test_another_readers_run_and_other_kinds_of_builds_change_nothing() -> None:
    asset, reader, _ = pending()
    other = cast.a_sync("other", asset)
    assert note(cast.ran("o", other, began=now())) == 0
    assert note(cast.announced("d", reader, kind="load", started_at=now(), ended_at=now())) == 0
    assert row().state == "pending"


def test_the_first_run_after_the_repair_brings_the_rows_back() -> None:
    asset, reader, incident = pending()
    note(cast.ran("sync-1", reader, began=now(), removed=9))
    cast.good_again(asset)
    run = cast.ran("sync-2", reader, began=now(), removed=0, inserted=9)
    assert (note(run), note(run)) == (1, 0)
    found = row()
    assert (found.state, found.repaired_by, found.rows_inserted, found.rows_removed) == ("repaired", run, 9, 9)
    assert words(incident)[-1] == "copy read the right table again: 9 rows brought back"


def test_a_run_that_only_begins_after_the_repair_averts_the_damage() -> None:
    asset, reader, incident = pending()
    cast.good_again(asset)
    note(cast.ran("sync-1", reader, began=now(), removed=1))
    assert (row().state, row().done_at, row().rows_removed) == ("averted", None, None)
    assert words(incident) == ["copy reads only after the table was right again"]


def test_a_run_that_began_before_the_repair_and_is_announced_after_it_is_damage() -> None:
    asset, reader, _ = pending()
    began = now() - A_MOMENT
    cast.good_again(asset)
    note(cast.ran("slow news", reader, began=began, removed=4))
    assert (row().state, row().rows_removed) == ("done", 4)


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_the_order_of_announcements_does_not_matter(order: tuple[int, ...]) -> None:
    asset, reader, _ = pending()
    wrong = now() - A_MOMENT
    cast.good_again(asset)
    begins = {0: (wrong, 6, 0), 1: (now(), 0, 6), 2: (now() + timedelta(seconds=1), 1, 1)}
    for index in order:
        began, removed, inserted = begins[index]
        note(cast.ran(f"sync-{index}", reader, began=began, removed=removed, inserted=inserted))
    found = row()
    assert (found.state, found.rows_removed) == ("repaired", 6)
    assert found.done_by is not None
    assert found.done_by.key == "sync-0"


def test_a_run_that_does_not_say_when_it_began_never_repairs() -> None:
    asset, reader, _ = pending()
    note(cast.ran("sync-1", reader, began=None, removed=2))
    assert row().state == "done"
    cast.good_again(asset)
    note(cast.ran("sync-2", reader, began=None, removed=0, inserted=2))
    assert (row().state, row().rows_removed) == ("done", 2)


def test_runs_announced_while_the_reach_was_drawn_are_found_when_it_is_told() -> None:
    asset, incident = cast.broken()
    reader = cast.a_sync("copy", asset)
    assert note(cast.ran("early", reader, began=now(), removed=3)) == 0
    progress.see_reach(incident.pk, actor=conductor())
    progress.tell(incident.pk, actor=conductor())
    assert (row().state, row().rows_removed) == ("done", 3)


def test_a_relapse_is_damage_again_and_what_was_read_right_stays_right() -> None:
    asset, reader, _ = pending()
    note(cast.ran("sync-1", reader, began=now(), removed=5))
    cast.good_again(asset)
    note(cast.ran("sync-2", reader, began=now(), removed=0, inserted=5))
    note(cast.ran("sync-3", reader, began=now(), removed=0, inserted=1))
    assert row().state == "repaired"
    cast.announced("bad-2", asset, started_at=now(), ended_at=now())
    cast.breach(asset, 450, build="bad-2")
    damage.settle(row().incident_id, actor=conductor())
    assert row().state == "repaired"
    note(cast.ran("sync-4", reader, began=now(), removed=8))
    assert (row().state, row().rows_removed) == ("done", 13)


def test_closed_incidents_keep_the_damage_they_closed_with() -> None:
    _, reader, incident = pending()
    cast.end(incident, "accepted")
    assert note(cast.ran("later", reader, began=now())) == 0
    assert row().state == "pending"


def test_a_reader_without_runs_is_moved_by_the_clock() -> None:
    asset, incident = cast.broken()
    cast.a_report("daily", asset, cron="* * * * *")
    progress.see_reach(incident.pk, actor=conductor())
    moment = row().expected_at
    assert moment is not None
    early, late = moment - timedelta(seconds=1), moment + timedelta(seconds=1)
    found = row()
    assert damage._by_the_clock(found, None, early).state == "pending"
    assert damage._by_the_clock(found, None, late).state == "done"
    assert damage._by_the_clock(found, early, late).state == "averted"
    again = damage._by_the_clock(found, late, late + timedelta(minutes=2))
    assert (again.state, again.done_at, again.rows_removed) == ("repaired", moment, None)
    assert damage._by_the_clock(found, late, late).state == "done"


def test_right_again_needs_every_wrong_metric_held_in_its_newest_value() -> None:
    asset, incident = cast.broken()
    cast.nights(asset, (10, 10, 10, 10, 10), metric="revenue")
    assert record(asset, "revenue", 99, actor=conductor(), build_key="bad").incident == incident
    assert right_again(incident) is None
    record(asset, ROWS, 1000, actor=conductor(), build_key="next")
    assert right_again(incident) is None
    record(asset, "revenue", 10, actor=conductor(), build_key="next")
    assert right_again(incident) is not None
    record(asset, ROWS, 449, actor=conductor(), build_key="later")
    assert right_again(incident) is None


def test_a_newest_value_that_was_not_evaluated_or_not_judged_is_not_right_again() -> None:
    asset, incident = cast.broken()
    record(asset, ROWS, 1000, actor=conductor(), build_key="next", judged=False)
    assert right_again(incident) is None


def test_a_good_number_from_the_past_or_a_withdrawn_one_is_not_right_again() -> None:
    asset, incident = cast.broken()
    record(asset, ROWS, 1000, actor=conductor(), build_key="old", at=now() - timedelta(hours=1))
    assert right_again(incident) is None
    good = record(asset, ROWS, 1000, actor=conductor(), build_key="next").value
    assert right_again(incident) is not None
    withdraw(good, "recorded for the wrong table", actor=conductor())
    assert right_again(incident) is None


def test_a_build_is_right_when_what_was_recorded_and_what_was_measured_both_hold() -> None:
    asset, incident = cast.broken()
    record(asset, ROWS, 449, actor=conductor(), build_key="next", obtained="measured")
    record(asset, ROWS, 1000, actor=conductor(), build_key="next")
    assert right_again(incident) is None


def test_what_is_said_of_a_build_that_nobody_counted_does_not_outweigh_the_last_count() -> None:
    asset, incident = cast.broken()
    record(asset, ROWS, 449, actor=conductor(), build_key="next", obtained="measured")
    record(asset, ROWS, 1000, actor=conductor(), build_key="made up")
    assert right_again(incident) is None
    record(asset, ROWS, 1000, actor=conductor(), build_key="after", obtained="measured")
    assert right_again(incident) is not None


def test_an_announced_build_is_right_only_after_spellbook_has_looked_itself() -> None:
    asset, incident = cast.broken()
    cast.announced("next", asset, started_at=now(), ended_at=now())
    record(asset, ROWS, 1000, actor=conductor(), build_key="next")
    assert right_again(incident) is None
    cast.good_again(asset, build="after")
    assert right_again(incident) is not None


def test_a_failed_check_is_right_again_when_it_passes() -> None:
    asset = cast.table("shop.orders")
    check = Check.objects.create(asset=asset, kind="not_null", column="id", origin="dbt", local_id="t")
    result = keep(check, None, Said("failed", "3 rows"), actor=conductor())
    incident = result.finding.incident
    keep(check, None, Said("not_evaluated", "it did not run"), actor=conductor())
    assert right_again(incident) is None
    passed = keep(check, None, Said("passed"), actor=conductor())
    assert right_again(incident) == Result.objects.get(pk=passed.pk).at
