"""The life of an incident: reach frozen once, told once, taken by one person, closed for good."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from catalog.graph.reach import reach
from catalog.models import Asset
from foundation import audit
from foundation.canonical import digest
from foundation.clock import now
from foundation.errors import BadInput, Conflict
from foundation.models import AuditRow, Outbox
from foundation.people import erase
from incidents import alerts
from incidents.models import Damage, Hold, Incident
from incidents.selectors import open_incidents, reach_with_names
from incidents.services import progress
from incidents.severity import severity_of
from tests.incidents import cast
from tests.incidents.cast import conductor

pytestmark = pytest.mark.django_db


def seen(incident: Incident) -> Incident:
    assert progress.see_reach(incident.pk, actor=conductor())
    incident.refresh_from_db()
    return incident


def told(incident: Incident) -> Incident:
    assert progress.tell(seen(incident).pk, actor=conductor())
    incident.refresh_from_db()
    return incident


def test_the_reach_is_frozen_once_with_its_digest_and_damage_is_pending_at_each_reader() -> None:
    asset, incident = cast.broken()
    mirror = cast.a_sync("copy", asset)
    cast.a_report("board", mirror, cron="0 8 * * *")
    cast.a_report("live board", asset)
    daily = cast.a_report("daily", asset, cron="0 5 * * *")
    seen(incident)
    assert incident.reach is not None
    assert incident.reach_digest == digest(incident.reach)
    assert (incident.reach["total"], len(incident.reach["consumers"])) == (4, 4)
    rows = Damage.objects.filter(incident=incident)
    assert {row.consumer for row in rows} == {mirror, daily}
    assert all(row.state == "pending" and row.expected_at is not None and row.expected_at > now() for row in rows)
    assert not progress.see_reach(incident.pk, actor=conductor())
    assert AuditRow.objects.filter(action="incident.reached").count() == 1


def test_the_frozen_reach_holds_nobodys_name_and_pages_still_show_the_name_of_today() -> None:
    operator = cast.person("Ada Operator")
    asset, incident = cast.broken()
    cast.a_sync("copy", asset, operator=operator)
    told(incident)
    assert "Ada" not in str(incident.reach)
    named = reach_with_names(incident)
    assert named is not None
    assert named["consumers"][0]["operator"] == {"person_id": operator.pk, "name": "Ada Operator"}
    erase(operator, actor=conductor())
    named = reach_with_names(incident)
    assert named is not None
    assert named["consumers"][0]["operator"]["name"] == "erased person"
    lines = [audit.sentence(row) for row in audit.timeline(incident.pk)]
    assert not any("Ada" in line for line in lines)


def test_an_incident_that_moved_up_meanwhile_is_drawn_from_there_at_the_next_look(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    above = cast.table("shop.raw")
    below, incident = cast.broken("shop.mart", above)

    def slow(asset: Asset, **options: object) -> object:
        found = reach(asset, **options)  # type: ignore[arg-type]
        Incident.objects.filter(pk=incident.pk).update(asset=above)
        return found

    monkeypatch.setattr(progress, "draw_reach", slow)
    assert progress.see_reach(incident.pk, actor=conductor())
    assert seen(incident).reach["asset_id"] == above.pk  # type: ignore[index]
    assert below.pk in {node["asset_id"] for node in incident.reach["nodes"]}  # type: ignore[index]


@pytest.mark.parametrize(
    ("mode", "next_read", "severity"),
    [
        ("mirror", timedelta(hours=1), "critical"),
        ("append", timedelta(hours=23), "critical"),
        ("unknown", None, "critical"),
        ("full", timedelta(hours=25), "high"),
        ("extract", timedelta(hours=1), "high"),
        (None, timedelta(hours=1), "high"),
    ],
)
def test_the_severity_is_that_of_the_next_run_that_leaves_damage(
    mode: str | None, next_read: timedelta | None, severity: str
) -> None:
    moment = now()
    at = (moment + next_read).isoformat() if next_read else None
    found_reach = {"total": 1, "consumers": [{"name": "copy", "mode": mode, "next_read": at}]}
    found, reason = severity_of(found_reach, moment)
    assert found == severity
    assert reason


def test_without_readers_the_severity_says_what_is_known() -> None:
    assert severity_of({"total": 3, "consumers": []}, now())[0] == "medium"
    assert severity_of({"total": 0, "consumers": []}, now()) == ("low", "nothing known reads this table")


def test_without_a_channel_the_alert_is_kept_here_and_says_so() -> None:
    _, incident = cast.broken()
    told(incident)
    assert not progress.tell(incident.pk, actor=conductor())
    lines = [audit.sentence(row) for row in audit.timeline(incident.pk) if row.action == "incident.told"]
    assert lines == ["kept here, no channel configured"]
    assert not Outbox.objects.exists()


def test_each_channel_gets_one_alert_in_the_same_transaction(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alerts, "CHANNELS", ("page:one", "page:two"))
    _, incident = cast.broken()
    told(incident)
    assert {(row.destination, row.correlation_id) for row in Outbox.objects.all()} == {
        ("page:one", incident.pk), ("page:two", incident.pk),
    }  # fmt: skip


def test_a_hold_is_asked_for_each_sync_before_its_last_useful_minute() -> None:
    operator = cast.person()
    asset, incident = cast.broken()
    copy = cast.a_sync("copy", asset, operator=operator, lead_seconds=120)
    sometime = cast.a_sync("sometime", asset, cron="")
    cast.a_report("daily", asset, cron="0 5 * * *")
    told(incident)
    holds = {hold.consumer: hold for hold in Hold.objects.filter(incident=incident)}
    assert set(holds) == {copy, sometime}
    expected = Damage.objects.get(consumer=copy).expected_at
    assert expected is not None
    assert (holds[copy].operator, holds[copy].needed_by) == (operator, expected - timedelta(seconds=120))
    assert (holds[sometime].operator, holds[sometime].needed_by, holds[sometime].due_at) == (None, None, None)


def test_telling_waits_for_the_reach() -> None:
    _, incident = cast.broken()
    assert not progress.tell(incident.pk, actor=conductor())
    assert not Hold.objects.exists()


def test_one_person_takes_an_incident_and_the_second_is_refused_on_record() -> None:
    _, incident = cast.broken()
    first, second = cast.person("First One"), cast.person("Second One")
    progress.acknowledge(incident.pk, person=first, actor=cast.by(first))
    with pytest.raises(Conflict, match="INC-1 is acknowledged already"):
        progress.acknowledge(incident.pk, person=second, actor=cast.by(second))
    rows = AuditRow.objects.filter(action="incident.acknowledged").order_by("id")
    assert [(row.principal, row.refused, row.correlation_id) for row in rows] == [
        (first.principal, False, incident.pk), (second.principal, True, incident.pk),
    ]  # fmt: skip


def test_closing_needs_a_reason_and_a_known_resolution_and_happens_once() -> None:
    _, incident = cast.broken()
    with pytest.raises(BadInput):
        progress.close(incident.pk, "repaired", reason=" ", actor=conductor())
    with pytest.raises(BadInput, match="is closed as repaired"):
        progress.close(incident.pk, "gone", reason="because", actor=conductor())
    cast.end(incident, "repaired")
    assert (incident.state, incident.due_at, incident.closed_at is not None) == ("closed", None, True)
    assert not progress.close(incident.pk, "accepted", reason="again", actor=conductor())
    assert not open_incidents().exists()


def test_the_whole_story_is_one_timeline() -> None:
    asset, incident = cast.broken()
    cast.a_sync("copy", asset)
    told(incident)
    cast.end(incident, "accepted")
    assert list(audit.timeline(incident.pk).values_list("action", flat=True)) == [
        "value.recorded", "incident.opened", "incident.reached", "incident.told", "hold.asked", "incident.closed",
    ]  # fmt: skip


def test_telling_of_many_readers_takes_few_queries() -> None:
    asset, incident = cast.broken()
    for index in range(10):
        cast.a_sync(f"copy {index}", asset)
    seen(incident)
    with CaptureQueriesContext(connection) as queries:
        progress.tell(incident.pk, actor=conductor())
    assert len(queries) < 200
