"""From a diagnosed incident to a plan: real manifests, real git."""

from __future__ import annotations

from typing import Any

import pytest

from approvals.body import current_digest
from approvals.models import Draft, Plan, Step
from approvals.services import draft
from approvals.services.incident_receipt import close_with_receipt
from catalog.models import AssetRole, Build, Domain
from foundation import connections
from foundation.audit import sentence
from foundation.clock import now
from foundation.errors import NotFound
from foundation.models import AuditRow, Person
from incidents.models import Cause, Incident
from tests.approvals.acting_builders import Built, conductor, diagnosed, drafted, opened
from tests.estates import Estate

pytestmark = [pytest.mark.django_db, pytest.mark.dbt, pytest.mark.timeout(300)]


@pytest.fixture
def incident(night_built: Built, night: Estate) -> Incident:
    return diagnosed(night_built, night)


def test_a_plan_has_the_change_the_rerun_and_the_message_each_with_its_undo(incident: Incident, night: Estate) -> None:
    plan = drafted(incident)
    change, rerun, message = plan.steps.all()
    assert (change.kind, change.actor, change.step_class) == ("change", "owner", "change:null-safe-filter")
    assert change.person is not None
    assert change.person.email == "dbt.owner@example.com"
    assert change.params["base"] == night.commit()
    assert (rerun.kind, rerun.actor, rerun.params["after"]) == ("rerun", "spellbook", [1])
    assert rerun.params["select"] == ["fct_account_events+", "stg_app__accounts+"]
    assert message.person is not None
    assert message.params["to"] == str(message.person.principal_id)
    assert f"up to {night.unmarked:,} rows" in message.params["text"]  # type: ignore[attr-defined]
    assert all(step.undo and step.state == "proposed" for step in (change, rerun, message))
    assert (plan.state, plan.revision, plan.due_at) == ("draft", 1, None)
    assert plan.plan_digest == current_digest(plan)
    assert plan.expected_seconds >= draft.MARGIN_SECONDS


def test_the_assertions_are_counted_from_what_was_measured(incident: Incident, night: Estate) -> None:
    plan = drafted(incident)
    rows, nulls = plan.assertions.select_related("asset")
    assert (rows.kind, rows.asset.name) == ("row_count", "warehouse.analytics.fct_account_events")
    assert rows.params == {"equals": str(night.rows - night.internal)}  # type: ignore[attr-defined]
    assert "of the last good build" in rows.sentence
    assert (nulls.kind, nulls.params) == ("no_nulls", {"column": "is_internal"})


def test_drafting_twice_gives_the_same_plan(incident: Incident) -> None:
    plan = drafted(incident)
    assert drafted(incident) == plan
    assert Plan.objects.count() == Draft.objects.count() == 1
    (row,) = AuditRow.objects.filter(action="plan.drafted")
    assert row.correlation_id == incident.pk


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"established": False, "kind": ""}, "the cause is not established"),
        ({"kind": "data"}, "nothing in code changed"),
        ({"asset": None}, "cannot be compared"),
        ({"facts": {}}, "no fix class knows this cause"),
    ],
)
def test_where_no_fix_is_known_the_reason_is_kept_once(
    night_built: Built, night: Estate, change: dict[str, Any], reason: str
) -> None:
    incident = opened(night_built, night)
    Incident.objects.update(last_good_build=Build.objects.get(key="night-0"))
    cause = {"established": True, "kind": "code", "asset": incident.asset, "facts": {}, "statement": "?", "at": now()}
    Cause.objects.create(incident=incident, **{**cause, **change})
    for _ in range(2):
        assert draft.draft(incident.pk, actor=conductor()) is None
    assert reason in Draft.objects.get().reason
    (row,) = AuditRow.objects.filter(action="plan.none")
    assert sentence(row).startswith("no plan: ")
    assert not Plan.objects.exists()


def test_nobody_to_merge_and_no_runner_are_reasons_too(incident: Incident) -> None:
    AssetRole.objects.filter(role="owner").delete()
    Domain.objects.update(owner=None)
    assert draft.draft(incident.pk, actor=conductor()) is None
    assert "nobody could merge" in Draft.objects.get().reason


def test_a_deactivated_owner_is_not_given_a_step(incident: Incident) -> None:
    AssetRole.objects.filter(role="owner").update(person=Person.objects.get(email__startswith="on.call"))
    Person.objects.filter(email__startswith="on.call").update(is_active=False)
    person = drafted(incident).steps.get(kind="change").person
    assert person is not None
    assert person.email == "dbt.owner@example.com"


def test_without_a_dbt_connection_of_this_warehouse_there_is_no_plan(incident: Incident) -> None:
    row = connections.get("dbt")
    connections.save(
        "dbt", kind="dbt", purpose="run", namespace="duckdb://elsewhere", params=row.params, secret_names=[],
        actor=conductor(),
    )  # fmt: skip
    assert draft.draft(incident.pk, actor=conductor()) is None
    assert "may run dbt" in Draft.objects.get().reason


def test_a_repository_that_is_away_leaves_nothing_behind(incident: Incident, night: Estate) -> None:
    night.repo.rename(night.folder / "moved")
    with pytest.raises(NotFound):
        draft.draft(incident.pk, actor=conductor())
    assert not Draft.objects.exists()
    (night.folder / "moved").rename(night.repo)
    assert drafted(incident).steps.count() == 3
    assert Step.objects.count() == 3


def test_nothing_is_drafted_for_an_incident_that_was_closed_while_git_was_read(
    incident: Incident, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = draft._owner

    def owner(case: Any) -> Person:
        close_with_receipt(incident.pk, actor=conductor(), resolution="accepted", reason="it stays so")
        return real(case)

    monkeypatch.setattr(draft, "_owner", owner)
    assert draft.draft(incident.pk, actor=conductor()) is None
    assert Draft.objects.get().reason == "the incident was closed meanwhile"
    assert not Plan.objects.exists()
