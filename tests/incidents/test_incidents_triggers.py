"""What the database itself refuses on this floor, whoever writes."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

import pytest
from django.db import IntegrityError, connection, transaction

from catalog.models import Asset
from foundation import triggers
from foundation.clock import now
from incidents.models import (
    Baseline,
    Cause,
    Confirmation,
    Damage,
    Evidence,
    Finding,
    Hold,
    Incident,
    Metric,
    Result,
    Value,
)
from incidents.services import progress
from incidents.services.record import withdraw
from tests.incidents import cast
from tests.incidents.cast import conductor

pytestmark = pytest.mark.django_db


@pytest.fixture
def incident() -> Incident:
    asset, incident = cast.broken()
    cast.a_sync("copy", asset)
    progress.see_reach(incident.pk, actor=conductor())
    progress.tell(incident.pk, actor=conductor())
    Cause.objects.create(incident=incident, established=False, statement="?", at=now())
    Evidence.objects.create(incident=incident, kind="code", statement="!", measured_at=now())
    Confirmation.objects.create(incident=incident, consumer=asset, metric="m", at=now())
    incident.refresh_from_db()
    return incident


def refused(act: Callable[[], object]) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        act()


@pytest.mark.parametrize(
    "changes",
    [
        {"number": Decimal(5)},
        {"metric": None},
        {"at": None},
        {"obtained": "measured"},
        {"backdated": True},
        {"query": "select 1"},
    ],
)
def test_a_number_stays_as_it_was_recorded(incident: Incident, changes: dict[str, object]) -> None:
    known = {"metric": Metric.objects.create(asset=incident.asset, name="other"), "at": now()}
    given = {name: known.get(name) if value is None else value for name, value in changes.items()}
    refused(lambda: Value.objects.update(**given))


def test_a_withdrawn_value_stays_withdrawn(incident: Incident) -> None:
    value = Value.objects.earliest("pk")
    withdraw(value, "a test", actor=conductor())
    refused(lambda: Value.objects.filter(pk=value.pk).update(withdrawn_at=None))
    refused(lambda: Value.objects.filter(pk=value.pk).update(withdrawn_reason="other"))


@pytest.mark.parametrize("model", [Baseline, Evidence, Cause, Finding])
def test_verdicts_and_evidence_are_append_only(incident: Incident, model: type) -> None:
    table = model._meta.db_table  # type: ignore[attr-defined]
    column = {"incidents_baseline": "reason", "incidents_finding": "at"}.get(table, "statement")
    with connection.cursor() as cursor:
        refused(lambda: cursor.execute(f'UPDATE "{table}" SET "{column}" = "{column}"'))  # noqa: S608
        refused(lambda: cursor.execute(f'DELETE FROM "{table}"'))  # noqa: S608


def test_results_are_append_only(incident: Incident) -> None:
    check = incident.asset.checks.create(kind="unique", origin="dbt", local_id="x")
    Result.objects.create(check_run=check, status="passed", at=now())
    refused(lambda: Result.objects.update(status="failed"))
    with connection.cursor() as cursor:
        refused(lambda: cursor.execute("DELETE FROM incidents_result"))


@pytest.mark.parametrize("table", ["value", "incident", "hold", "damage", "confirmation"])
def test_rows_of_a_story_are_never_deleted(incident: Incident, table: str) -> None:
    with connection.cursor() as cursor:
        refused(lambda: cursor.execute(f"DELETE FROM incidents_{table}"))  # noqa: S608


def test_the_reach_is_frozen_once_drawn(incident: Incident) -> None:
    other = Asset.objects.exclude(pk=incident.asset_id).first()
    other_reaches: list[dict[str, object]] = [{"reach": {}}, {"reach": None}, {"reach_digest": ""}, {"asset": other}]
    for changes in other_reaches:
        refused(lambda changes=changes: Incident.objects.update(**changes))  # type: ignore[misc]
    Incident.objects.update(severity="low", due_at=now())


def test_number_and_opening_of_an_incident_never_change(incident: Incident) -> None:
    refused(lambda: Incident.objects.update(number=99))
    refused(lambda: Incident.objects.update(opened_at=now()))


def test_a_closed_incident_stays_closed_as_it_was(incident: Incident) -> None:
    cast.end(incident, "repaired")
    endings: tuple[dict[str, object], ...] = (
        {"state": "open", "resolution": "", "closed_at": None},
        {"resolution": "accepted"},
        {"closed_at": now()},
    )
    for changes in endings:
        refused(lambda changes=changes: Incident.objects.update(**changes))  # type: ignore[misc]


def test_what_was_asked_and_expected_never_changes(incident: Incident) -> None:
    refused(lambda: Hold.objects.update(needed_by=None))
    refused(lambda: Damage.objects.update(expected_at=None))


def test_the_catalogue_has_all_of_them() -> None:
    assert [line for line in triggers.missing() if "incidents" in line] == []
