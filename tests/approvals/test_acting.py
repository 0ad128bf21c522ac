"""The whole way of a plan on real components: approved, merged, built by dbt, verified, each step with its receipt."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from approvals.ledger.statement import parse_statement
from approvals.models import Plan, Receipt, Run, Step
from approvals.services import acting, closing, would_do
from approvals.services.drafting import seal_body
from approvals.services.stop import set_stop
from foundation import due
from foundation.audit import Actor, sentence
from foundation.clock import now
from foundation.errors import Conflict, NotFound, Unavailable
from foundation.models import AuditRow
from incidents.models import Damage, Incident
from tests.approvals import builders, code_builders
from tests.approvals.acting_builders import (
    Built,
    act_until,
    advance,
    approve,
    carry_out,
    conductor,
    diagnosed,
    drafted,
    rehearsed,
    state,
)
from tests.approvals.builders import House, approved, house
from tests.estates import Estate


@pytest.mark.django_db
@pytest.mark.dbt
@pytest.mark.real
@pytest.mark.timeout(300)
def test_the_night_is_repaired_from_approval_to_verification(night_built: Built, night: Estate) -> None:
    plan = drafted(diagnosed(night_built, night))
    assert rehearsed(plan)["state"] == "rehearsed"
    approve(plan)
    assert state(plan) == "acting"
    assert advance(plan)  # the message goes out while the merge is waited for
    assert not advance(plan)
    assert carry_out(night, plan) is True
    ended = Plan.objects.get(pk=plan.pk)
    assert (ended.state, ended.end_reason) == ("verified", "2 of 2 assertions hold")
    assert night.count(night.watched) == night.rows - night.internal  # type: ignore[attr-defined]
    assert [step.state for step in plan.steps.all()] == ["done", "done", "done"]
    assert plan.steps.get(kind="message").facts["delivery"] == "kept here, no channel configured"
    run = Run.objects.get()
    assert run.build is not None
    assert run.build.outputs.filter(asset__name__endswith="fct_account_events").exists()
    _receipts_tell_it(plan, run)
    said = [sentence(row) for row in AuditRow.objects.filter(correlation_id=plan.incident_id).order_by("pk")]
    assert "every approved step is done; the warehouse is asked next" in said
    assert said.index("2 of 2 assertions hold") > said.index(f"step 2 is dispatched on commit {run.commit[:10]}")


def _receipts_tell_it(plan: Plan, run: Run) -> None:
    wanted = {f"step/{plan.pk}/{position}" for position in (1, 2, 3)}
    assert set(Receipt.objects.filter(type="step").values_list("subject", flat=True)) == wanted
    statement = parse_statement(bytes(Receipt.objects.get(type="plan").statement))
    predicate = json.loads(bytes(Receipt.objects.get(type="plan").statement))["predicate"]
    assert (predicate["state"], predicate["rehearsal"]) == ("verified", "rehearsed")
    assert predicate["runs"][0]["commit"] == run.commit
    assert [one["passed"] for one in predicate["verification"]] == [True, True]
    assert len(statement.receipts) == 3
    text = b"".join(bytes(one.statement) for one in Receipt.objects.filter(type__in=["step", "plan"])).decode()
    people = ("engineer", "lead@", "dbt owner", "Administrator", "example.com", "pull request")
    assert not [name for name in people if name in text]


@pytest.mark.django_db
@pytest.mark.dbt
@pytest.mark.real
@pytest.mark.timeout(300)
def test_a_repair_that_does_not_hold_ends_as_failed(night_built: Built, night: Estate) -> None:
    plan = drafted(diagnosed(night_built, night))
    plan.assertions.filter(kind="row_count").update(params={"equals": "7"})
    seal_body(plan)
    approve(plan)
    assert carry_out(night, plan) is False
    assert state(plan) == "failed"
    assert json.loads(bytes(Receipt.objects.get(type="plan").statement))["predicate"]["state"] == "failed"


@pytest.mark.django_db
@pytest.mark.dbt
@pytest.mark.real
@pytest.mark.timeout(300)
def test_the_fan_out_is_taken_back(fanout_built: Built, fanout: Estate) -> None:
    plan = drafted(diagnosed(fanout_built, fanout))
    assert rehearsed(plan)["state"] == "rehearsed"
    approve(plan)
    assert carry_out(fanout, plan) is True
    assert fanout.count(fanout.watched) == fanout.rows


@pytest.fixture
def built() -> House:
    return house()


@pytest.mark.django_db
def test_steps_that_were_not_approved_are_skipped_and_what_needs_them_never_runs(built: House) -> None:
    plan = approved(built, steps=[3])
    Step.objects.filter(plan=plan, position=2).update(state="waiting")  # as if somebody had said so
    assert [advance(plan), advance(plan)] == [True, True]
    assert [step.state for step in plan.steps.all()] == ["not_approved", "abandoned", "done"]
    assert not Run.objects.exists()
    assert advance(plan)
    assert state(plan) == "verifying"
    assert not advance(plan)
    (row,) = AuditRow.objects.filter(action="plan.step_abandoned")
    assert sentence(row) == "step 2 is not done: it needs step 1, which is not done"


@pytest.mark.django_db
def test_a_message_is_sent_once_and_says_where_it_is(built: House) -> None:
    plan = approved(built, steps=[3])
    assert advance(plan)
    message = plan.steps.get(position=3)
    assert (message.state, message.facts) == ("done", {"delivery": "kept here, no channel configured"})
    (row,) = AuditRow.objects.filter(action="plan.step_done")
    assert sentence(row) == "step 3: message to nobody: kept here, no channel configured"


@pytest.mark.django_db
def test_what_cannot_be_done_now_does_not_hold_up_the_rest(built: House, tmp_path: Path) -> None:
    plan = code_builders.acting(built, code_builders.make_repo(tmp_path / "repo"))
    (tmp_path / "repo").rename(tmp_path / "away")
    assert advance(plan)
    assert plan.steps.get(position=3).state == "done"
    with pytest.raises(NotFound):
        advance(plan)
    assert state(plan) == "acting"


@pytest.mark.django_db
def test_a_plan_that_nobody_approved_is_not_touched(built: House) -> None:
    request = builders.asked(built)
    assert not acting.advance(request.plan_id, actor=conductor())
    assert {step.state for step in request.plan.steps.all()} == {"proposed"}


@pytest.mark.django_db
def test_an_approved_plan_is_due_at_once_and_no_longer_when_it_has_ended(built: House) -> None:
    plan = approved(built)
    row = due.claim_one(Plan.objects.all(), plan.pk, lease=timedelta(minutes=5))
    assert row is not None
    Step.objects.filter(plan=plan, position=2).update(state="failed")
    assert advance(plan)
    assert not due.finish(row, due_at=now())  # whoever held it does not make an ended plan due again
    ended = Plan.objects.get()
    assert (ended.state, ended.due_at, ended.lease_until) == ("failed", None, None)
    assert [step.state for step in plan.steps.all()] == ["abandoned", "failed", "abandoned"]
    assert not advance(plan)


@pytest.mark.django_db
def test_a_stop_keeps_the_claim_and_lets_the_message_through(built: House, tmp_path: Path) -> None:
    plan = code_builders.acting(built, code_builders.make_repo(tmp_path / "repo"))
    set_stop("wait", person=built.stranger)
    assert advance(plan)
    assert not Run.objects.exists()


@pytest.mark.django_db
def test_a_step_of_a_kind_that_nothing_carries_out_is_said(built: House) -> None:
    plan = approved(built, steps=[3])
    Step.objects.filter(plan=plan, position=3).update(kind="grant")
    with pytest.raises(Unavailable, match="of the kind grant"):
        advance(plan)


@pytest.mark.django_db
def test_a_repair_by_others_ends_what_waits_and_closes_the_incident_in_one_step(built: House) -> None:
    request = builders.asked(built)
    Damage.objects.update(state="averted")
    assert closing.repaired_outside(built.incident.pk, actor=conductor())
    request.refresh_from_db()
    incident = Incident.objects.get()
    assert (request.state, state(request.plan)) == ("superseded", "superseded")
    assert (incident.state, incident.resolution) == ("closed", "repaired_outside")
    assert Receipt.objects.filter(type="incident").count() == 1
    assert not closing.repaired_outside(built.incident.pk, actor=conductor())


@pytest.mark.django_db
def test_a_plan_that_was_approved_meanwhile_is_carried_out_and_the_incident_stays_open(built: House) -> None:
    plan = approved(built)
    assert not closing.repaired_outside(built.incident.pk, actor=conductor())
    assert (state(plan), Incident.objects.get().state) == ("acting", "open")
    assert not Receipt.objects.filter(type="incident").exists()


@pytest.mark.django_db
def test_a_person_who_closes_the_incident_ends_the_approved_plan_that_waits(built: House) -> None:
    plan = approved(built)
    closing.close_by_hand(
        built.incident.pk,
        "repaired_outside",
        "Built by hand.",
        person=built.owner,
        actor=Actor(built.owner.principal, "web"),
    )
    assert (state(plan), Incident.objects.get().state) == ("failed", "closed")
    assert {step.state for step in plan.steps.all()} == {"abandoned"}
    assert set(Receipt.objects.values_list("type", flat=True)) >= {"plan", "step", "incident"}


@pytest.mark.django_db
def test_a_run_in_flight_keeps_the_incident_open(built: House) -> None:
    plan = approved(built)
    Step.objects.filter(plan=plan, position=2).update(state="acting")
    with pytest.raises(Conflict, match="still being carried out"):
        closing.close_by_hand(
            built.incident.pk,
            "repaired_outside",
            "Built by hand.",
            person=built.owner,
            actor=Actor(built.owner.principal, "web"),
        )
    assert (state(plan), Incident.objects.get().state) == ("acting", "open")


@pytest.mark.django_db
def test_below_l2_a_plan_is_kept_aside_once(built: House) -> None:
    plan = builders.plan(built)
    assert would_do.keep(plan.pk, actor=conductor())
    assert not would_do.keep(plan.pk, actor=conductor())
    assert state(plan) == "would_do"
    assert AuditRow.objects.filter(action="plan.would_do").count() == 1


@pytest.mark.django_db
def test_nothing_runs_before_its_change_is_merged(built: House, tmp_path: Path, settings: Any) -> None:
    repo = code_builders.make_repo(tmp_path / "repo")
    plan = code_builders.acting(built, repo)
    settings.RUNS_DIR = tmp_path / "runs"
    ran = code_builders.fake_dbt(tmp_path / "bin")
    for _ in range(4):
        advance(plan)
    assert not ran.exists()
    assert [step.state for step in plan.steps.all()] == ["waiting", "waiting", "done"]
    repo.write(code_builders.MODEL, code_builders.NEW)
    act_until(plan, lambda: state(plan) == "verifying")
    assert len(ran.read_text().splitlines()) == 1
