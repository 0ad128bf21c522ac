"""Rehearsals are real: dbt builds the change on a copy, and what it gives is compared with what is signed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from approvals.assertions import Answer
from approvals.models import Plan
from approvals.services import rehearse
from approvals.services.ask import ask
from approvals.services.drafting import seal_body
from approvals.services.rehearsal_stage import stage_of
from catalog.code_hosts.local_git import unified_diff
from examples.mixpanel_night.night.repo import commit_all
from foundation import connections
from foundation.audit import sentence
from foundation.clock import now
from foundation.errors import Conflict
from foundation.models import AuditRow
from tests.approvals.acting_builders import Built, conductor, diagnosed, drafted, rehearsed
from tests.estates import Estate

pytestmark = [pytest.mark.django_db, pytest.mark.dbt, pytest.mark.real, pytest.mark.timeout(300)]
FACT = "models/marts/fct_account_events.sql"


@pytest.fixture
def plan(night_built: Built, night: Estate) -> Plan:
    return drafted(diagnosed(night_built, night))


def change_to(plan: Plan, night: Estate, path: str, old: str, new: str) -> None:
    """The plan changes something else: one text of one file."""
    before = (night.repo / path).read_text() if (night.repo / path).exists() else None
    after = new if before is None else before.replace(old, new)
    assert after != before
    patch = unified_diff({} if before is None else {path: before}, {path: after})
    step = plan.steps.get(kind="change")
    step.params = {**step.params, "patch": patch, "files": [path]}
    step.save()
    seal_body(plan)


def test_the_change_is_built_on_a_copy_and_gives_what_is_signed(plan: Plan, night: Estate) -> None:
    before = night.duck_path.read_bytes()
    outcome = rehearsed(plan)
    assert (outcome["state"], outcome["reason"], outcome["exit_code"]) == ("rehearsed", "", 0)
    rows, nulls = outcome["predicted"]
    assert rows["observed"] == {"n": str(night.rows - night.internal)}  # type: ignore[attr-defined]
    assert nulls["observed"] == {"n": "0"}
    assert rows["passed"] is nulls["passed"] is True
    assert night.duck_path.read_bytes() == before
    assert not stage_of(plan).exists()
    row = AuditRow.objects.get(action="plan.rehearsed")
    assert sentence(row) == "rehearsed"
    assert rehearsed(plan) == outcome
    assert AuditRow.objects.filter(action="plan.rehearsed").count() == 1
    assert ask(plan.pk, actor=conductor()).state == "pending"  # what was predicted has a canonical form


def test_a_wrong_prediction_is_contradicted_and_asks_nobody(plan: Plan) -> None:
    plan.assertions.filter(kind="row_count").update(params={"equals": "1"})
    seal_body(plan)
    outcome = rehearsed(plan)
    assert outcome["state"] == "contradicted"
    assert outcome["reason"].startswith("on the copy this does not hold: ")
    with pytest.raises(Conflict, match="contradicted"):
        ask(plan.pk, actor=conductor())


def test_a_change_that_dbt_cannot_build_is_contradicted(plan: Plan, night: Estate) -> None:
    change_to(plan, night, FACT, "where not a.is_internal", "where a.no_such_column = 1")
    outcome = rehearsed(plan)
    assert outcome["state"] == "contradicted"
    assert outcome["exit_code"] == 1


@pytest.mark.parametrize(
    ("path", "old", "new", "reason"),
    [
        (FACT, "select", "{{ config(post_hook='drop table x') }}\nselect", "hook"),
        (FACT, "select", "{% set x = run_query('select 1') %}\nselect", "Jinja"),
        ("macros/new.sql", "", "{% macro m() %}{% endmacro %}\n", "outside the model paths"),
        ("dbt_project.yml", "materialized: table", "materialized: view", "outside the model paths"),
    ],
)
def test_what_could_run_code_is_not_rehearsed_and_why_is_said(
    plan: Plan, night: Estate, path: str, old: str, new: str, reason: str
) -> None:
    change_to(plan, night, path, old, new)
    outcome = rehearsed(plan)
    assert outcome["state"] == "not rehearsed"
    assert reason in outcome["reason"]
    assert not (stage_of(plan) / "compile").exists()


def test_a_model_that_reads_a_file_is_stopped_before_it_is_built(plan: Plan, night: Estate, tmp_path: Path) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("a\n1\n")
    reads = f"where 1 = (select count(*) from read_csv('{secret}'))"  # noqa: S608
    change_to(plan, night, FACT, "where not a.is_internal", reads)
    outcome = rehearsed(plan)
    assert outcome["state"] == "not rehearsed"
    assert "is not a plain SELECT" in outcome["reason"]
    assert "read_csv" in outcome["reason"].lower()


def test_a_project_that_needs_its_own_environment_is_not_rehearsed(plan: Plan, night: Estate) -> None:
    step = plan.steps.get(kind="change")
    project = night.repo / "dbt_project.yml"
    project.write_text(
        project.read_text().replace("models:\n", "models:\n  +tags: \"{{ env_var('ONLY_THERE') }}\"\n", 1)
    )
    step.params = {**step.params, "base": commit_all(night.repo, "Ask the environment")}
    step.save()
    seal_body(plan)
    outcome = rehearsed(plan)
    assert outcome["state"] == "not rehearsed"
    assert "dbt could not compile it" in outcome["reason"]


def test_another_warehouse_and_a_plan_without_a_change_are_not_rehearsed(plan: Plan) -> None:
    row = connections.get("warehouse")
    connections.save(
        "warehouse", kind="duckdb", purpose="read", namespace="duckdb://other", params=row.params, secret_names=[],
        actor=conductor(),
    )  # fmt: skip
    outcome = rehearsed(plan)
    assert outcome["state"] == "not rehearsed"
    assert "no rehearsal connection" in outcome["reason"]


def test_a_long_rehearsal_goes_on_in_the_next_look_and_is_not_begun_again(
    plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rehearse, "PATIENCE_SECONDS", 0)
    looks: list[Any] = []
    while not looks or looks[-1] is None:
        looks.append(rehearse.rehearse(plan.pk, actor=conductor()))
        if looks[-1] is None:
            logs = stage_of(plan).glob("*/log")
            assert all(path.read_text().count("Running with dbt=") <= 1 for path in logs)
            monkeypatch.setattr(rehearse, "PATIENCE_SECONDS", 0 if len(looks) < 3 else 60)
    assert looks[0] is None
    assert looks[-1]["state"] == "rehearsed"


def test_a_stage_that_was_half_set_when_its_worker_died_is_set_anew(plan: Plan) -> None:
    stage_of(plan).mkdir(parents=True)
    (stage_of(plan) / "checkout").mkdir()
    (stage_of(plan) / "checkout" / "left-over").touch()
    assert rehearsed(plan)["state"] == "rehearsed"


def test_what_nobody_could_tell_on_the_copy_is_not_rehearsed_and_never_contradicted(
    plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    unknown = Answer(None, {}, "", "the query took too long", now())
    monkeypatch.setattr(rehearse, "ask_warehouse", lambda one, warehouse: unknown)
    outcome = rehearsed(plan)
    assert outcome["state"] == "not rehearsed"
    assert outcome["reason"].endswith("the query took too long")
