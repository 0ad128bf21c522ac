"""An undo is a plan: the reverse change against the branch as it is, with its own digest, request and proof (I16)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from approvals.body import current_digest
from approvals.models import AutonomyRule, Plan, Step
from approvals.selectors import plan_for
from approvals.services import ending
from approvals.services.undo import draft_undo, prepare
from catalog.code_hosts.local_git import apply_patch, checkout
from foundation.clock import now
from foundation.errors import Conflict, NotFound
from foundation.models import AuditRow, Person
from tests.approvals.acting_builders import Built, approve, carry_out, conductor, diagnosed, drafted, rehearsed, state
from tests.approvals.builders import House, as_actor, house, raise_level
from tests.approvals.code_builders import MODEL, NEW, OLD, Repo, acting, make_repo, step
from tests.estates import Estate

pytestmark = pytest.mark.django_db


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return make_repo(tmp_path / "repo")


@pytest.fixture
def built() -> House:
    return house()


@pytest.fixture
def done(built: House, repo: Repo) -> Plan:
    """A plan whose change was merged and which has failed since."""
    plan = acting(built, repo)
    facts = {"commit": repo.write(MODEL, NEW)}
    Step.objects.filter(plan=plan, position=1).update(state="done", facts=facts, ended_at=now())
    Step.objects.filter(plan=plan, position=2).update(state="failed", ended_at=now())
    end(plan)
    return plan


def end(plan: Plan) -> None:
    ending.fail(Plan.objects.get(pk=plan.pk), "step 2 failed", actor=conductor())


def undo(plan: Plan, **who: Any) -> Plan:
    return draft_undo(plan.pk, actor=who.get("actor", conductor()))


def test_the_undo_is_a_plan_of_its_own_that_puts_the_old_text_back(done: Plan, repo: Repo, tmp_path: Path) -> None:
    later = repo.write("models/other.sql", "select 3 as id\n")
    plan = undo(done)
    assert (plan.undoes, plan.incident, plan.state) == (done, None, "draft")
    assert plan.plan_digest == current_digest(plan) != done.plan_digest
    change, rerun = plan.steps.all()
    assert (change.kind, change.actor, change.step_class) == ("change", "owner", "change:undo")
    assert change.params["base"] == later
    assert rerun.params == step(done, 2).params
    checkout(repo.path, later, tmp_path / "tree")
    apply_patch(tmp_path / "tree", change.params["patch"])
    assert (tmp_path / "tree" / MODEL).read_text() == OLD
    assert (tmp_path / "tree" / "models/other.sql").read_text() == "select 3 as id\n"
    row = AuditRow.objects.get(action="plan.undo")
    assert row.correlation_id == done.incident_id


def test_asking_for_it_twice_gives_the_same_undo_and_it_is_no_revision_of_the_plan(done: Plan, built: House) -> None:
    assert undo(done) == undo(done)
    assert plan_for(built.incident) == done


def test_where_nothing_was_measured_the_undo_claims_only_what_it_can_prove(done: Plan) -> None:
    one = undo(done).assertions.get()
    assert (one.kind, one.params) == ("readable", {})
    assert "how many rows it had before was not measured" in one.sentence


def test_files_that_have_moved_on_refuse_the_undo(done: Plan, repo: Repo, built: House) -> None:
    repo.write(MODEL, NEW + "limit 5\n")
    with pytest.raises(Conflict, match=f"{MODEL} has been changed since"):
        undo(done, actor=as_actor(built.owner))
    row = AuditRow.objects.get(action="plan.undo_refused")
    assert row.refused
    assert row.correlation_id == done.incident_id
    assert not Plan.objects.filter(undoes__isnull=False).exists()


def test_a_branch_without_the_change_refuses_the_undo(done: Plan, repo: Repo) -> None:
    repo.git("reset", "--quiet", "--hard", "HEAD^")
    with pytest.raises(Conflict, match="no longer contains the change"):
        undo(done)


def test_what_was_never_merged_or_has_not_ended_is_not_taken_back(built: House, repo: Repo) -> None:
    plan = acting(built, repo)
    with pytest.raises(Conflict, match="has not ended yet"):
        undo(plan)
    Step.objects.filter(plan=plan, position=2).update(state="failed")
    end(plan)
    with pytest.raises(Conflict, match="Nothing of this plan was merged"):
        undo(plan)
    with pytest.raises(NotFound):
        draft_undo(built.incident.pk, actor=conductor())


def test_an_owner_who_left_is_replaced_by_the_domains(done: Plan, built: House) -> None:
    done.steps.filter(kind="change").update(person=built.stranger)
    Person.objects.filter(pk=built.stranger.pk).update(is_active=False)
    person = undo(done).steps.get(kind="change").person
    assert person == built.owner


@pytest.mark.dbt
@pytest.mark.real
@pytest.mark.timeout(300)
def test_a_verified_repair_is_taken_back_and_verified(night_built: Built, night: Estate) -> None:
    incident = diagnosed(night_built, night)
    plan = drafted(incident)
    approve(plan)
    assert carry_out(night, plan) is True
    assert incident.domain is not None
    taken = undo(plan)
    rows = taken.assertions.get(kind="row_count", asset__name__endswith="fct_account_events")
    assert rows.params == {"equals": str(night.ordinary)}  # type: ignore[attr-defined]
    assert rehearsed(taken)["state"] == "rehearsed"
    approve(taken)
    assert carry_out(night, taken) is True
    assert state(taken) == "verified"
    assert night.count(night.watched) == night.ordinary  # type: ignore[attr-defined]
    with pytest.raises(Conflict, match="taken back already"):
        undo(plan)


def test_an_undo_that_was_carried_out_takes_its_class_down(
    done: Plan, built: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("approvals.levels.require_record", lambda *a: None)
    raise_level(built, "filter")
    plan = undo(done)
    Plan.objects.filter(pk=plan.pk).update(state="verifying")
    ending.end(Plan.objects.get(pk=plan.pk), "verified", "it holds", actor=conductor())
    assert AutonomyRule.objects.get(step_class="filter").level == 2


def test_a_drafted_undo_is_rehearsed_and_put_before_the_approver_by_itself(done: Plan) -> None:
    plan = undo(done)
    assert plan.due_at is not None
    assert prepare(plan.pk, actor=conductor()), "first its rehearsal is kept, whatever it says"
    prepare(plan.pk, actor=conductor())
    asked = Plan.objects.get(pk=plan.pk)
    assert (asked.state, asked.due_at, asked.lease_token) == ("asking", None, None)
