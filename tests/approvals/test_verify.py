"""Verification asks the warehouse itself, and what it cannot ask never passes."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

import duckdb
import pytest

from approvals.assertions import ask_warehouse
from approvals.models import Assertion, AutonomyRule, Outcome, Plan, Receipt, Run, Step, Verification
from approvals.services import verify
from catalog.models import Build, BuildOutput, GraphVersion, NodeClaim, Source
from catalog.warehouse_access import open_for
from foundation import connections
from foundation.audit import sentence
from foundation.clock import now
from foundation.errors import Unavailable
from foundation.models import AuditRow
from incidents.models import BuildReview
from tests.approvals.builders import NAMESPACE, House, approved, conductor, house, raise_level
from tests.approvals.code_builders import MODEL, NEW, acting, make_repo, step

pytestmark = pytest.mark.django_db


@pytest.fixture
def built() -> House:
    return house()


@pytest.fixture
def warehouse(tmp_path: Path, built: House) -> Path:
    """A DuckDB file with the table of the house: 12 rows, one NULL, one value twice."""
    file = tmp_path / "orders.duckdb"
    fill(file, "select case when i > 0 then i end as id, i // 2 as half from range(12) r(i)")
    connections.save(
        "orders", kind="duckdb", purpose="read", namespace=NAMESPACE, params={"path": str(file)}, secret_names=[],
        actor=conductor(),
    )  # fmt: skip
    source = Source.objects.create(key="dbt:orders", kind="dbt")
    NodeClaim.objects.create(
        source=source, asset=built.asset, local_id="model.p.m", added_in=GraphVersion.objects.latest("number"),
        attributes={
            "kind": "model", "dialect": "duckdb",
            "relation": {"database": "orders", "schema": "main", "identifier": "m"},
        },
    )  # fmt: skip
    return file


def fill(file: Path, query: str | None) -> None:
    with duckdb.connect(str(file)) as connection:
        connection.execute("drop table if exists main.m")
        if query is not None:
            connection.execute(f"create table main.m as {query}")


def verifying(built: House) -> Plan:
    """A plan whose approved steps are done and whose run left a reviewed build."""
    plan = approved(built)
    Step.objects.filter(plan=plan).update(state="done", ended_at=now())
    Plan.objects.filter(pk=plan.pk).update(state="verifying", version=plan.version + 1)
    build = a_build("run-1")
    Run.objects.create(
        outcome=Outcome.objects.get(request__plan=plan), step=step(plan, 2), idempotency_key="1", state="succeeded",
        runner="dbt", commit="c" * 40, claimed_at=now(), ended_at=now(), exit_code=0, build=build,
    )  # fmt: skip
    return Plan.objects.get(pk=plan.pk)


def a_build(key: str, *, reviewed: bool = True, **fields: Any) -> Build:
    values = {"kind": "dbt", "status": "succeeded", "announced_by": conductor().principal, "announced_at": now()}
    build = Build.objects.create(key=key, processed_at=now(), **{**values, **fields})
    if reviewed:
        BuildReview.objects.create(build=build, taken_over_at=now(), measured_at=now())
    return build


def ask(plan: Plan) -> bool | None:
    return verify.verify(plan.pk, actor=conductor())


def test_a_plan_whose_assertions_hold_is_verified_with_its_receipt(built: House, warehouse: Path) -> None:
    plan = verifying(built)
    assert ask(plan) is True
    ended = Plan.objects.get()
    assert (ended.state, ended.end_reason, ended.due_at) == ("verified", "1 of 1 assertions hold", None)
    kept = Verification.objects.get()
    assert (kept.passed, kept.observed) == (True, {"n": "12"})
    assert "COUNT" in kept.query
    receipt = Receipt.objects.get(type="plan")
    predicate = json.loads(bytes(receipt.statement))["predicate"]
    assert predicate["verification"][0]["observed"] == {"n": "12"}
    assert predicate["decisions"][0]["votes"][0]["principal"] == str(built.approver.principal_id)
    text = bytes(receipt.statement).decode()
    names = ("Approver", "Owner", "Stranger", "looks right", "example.org")
    assert not [name for name in names if name in text]
    row = AuditRow.objects.get(action="assertion.checked")
    assert sentence(row) == "12 rows: holds (n = 12)"
    assert row.correlation_id == built.incident.pk
    assert ask(plan) is None


def test_a_plan_whose_assertion_does_not_hold_fails_and_its_classes_fall_to_l2(built: House, warehouse: Path) -> None:
    plan = verifying(built)
    raise_level_to_three(built)
    fill(warehouse, "select 1 as id")
    assert ask(plan) is False
    ended = Plan.objects.get()
    assert (ended.state, ended.end_reason) == ("failed", "1 of 1 assertions do not hold")
    assert AutonomyRule.objects.get(step_class="rerun:dbt").level == 2
    assert Receipt.objects.filter(type="plan").count() == 1


def raise_level_to_three(built: House) -> None:
    """As if this class had earned L3."""
    with patch("approvals.levels.require_record"):
        raise_level(built, "rerun:dbt")


@pytest.mark.parametrize("gone", ["table", "file", "claim"])
def test_what_cannot_be_asked_is_asked_again_and_never_passes(built: House, warehouse: Path, gone: str) -> None:
    plan = verifying(built)
    if gone == "table":
        fill(warehouse, None)
    elif gone == "file":
        warehouse.rename(warehouse.with_suffix(".away"))
    else:
        newest = GraphVersion.objects.latest("number")
        version = GraphVersion.objects.create(number=newest.number + 1, at=now(), source=newest.source)
        NodeClaim.objects.filter(source__kind="dbt").update(removed_in=version)
    for _ in range(2):
        with pytest.raises(Unavailable, match="Not verified yet: 12 rows: "):
            ask(plan)
    assert Plan.objects.get().state == "verifying"
    assert not Verification.objects.exists()
    if gone == "table":
        fill(warehouse, "select i from range(12) r(i)")
        assert ask(plan) is True


def test_a_plan_without_an_assertion_is_not_verified(built: House, warehouse: Path) -> None:
    plan = verifying(built)
    Assertion.objects.all().delete()
    assert ask(plan) is False
    assert Plan.objects.get().end_reason == "the plan carries no assertion, so nothing proves it"


def test_it_waits_until_the_build_was_measured(built: House, warehouse: Path) -> None:
    plan = verifying(built)
    BuildReview.objects.update(measured_at=None)
    assert ask(plan) is None
    BuildReview.objects.update(measured_at=now())
    assert ask(plan) is True


def test_a_plan_in_another_state_is_left_alone(built: House, warehouse: Path) -> None:
    assert ask(approved(built)) is None


@pytest.mark.parametrize(
    ("kind", "params", "passed"),
    [
        ("row_count", {"equals": "12"}, True),
        ("row_count", {"equals": "13"}, False),
        ("no_nulls", {"column": "half"}, True),
        ("no_nulls", {"column": "id"}, False),
        ("unique", {"column": "id"}, True),
        ("unique", {"column": "half"}, False),
        ("readable", {}, True),
        ("no_nulls", {"column": "absent"}, None),
        ("unique", {"column": 'id" = 1 or "x'}, None),
    ],
)
def test_each_kind_of_assertion(
    built: House, warehouse: Path, kind: str, params: dict[str, str], passed: bool | None
) -> None:
    one = Assertion(kind=kind, asset=built.asset, params=params)
    answer = ask_warehouse(one, open_for(built.asset))
    assert answer.passed is passed
    assert bool(answer.reason) is (passed is None)


def test_without_an_approved_rerun_the_first_build_of_others_that_holds_the_change_is_asked(
    built: House, warehouse: Path, tmp_path: Path
) -> None:
    repo = make_repo(tmp_path / "repo")
    before = repo.head()
    plan = acting(built, repo, steps=[1])
    commit = repo.write(MODEL, NEW)
    Step.objects.filter(plan=plan, position=1).update(state="done", facts={"commit": commit}, ended_at=now())
    Plan.objects.filter(pk=plan.pk).update(state="verifying")
    assert ask(plan) is None
    for key, sha, ago in (("early", commit, timedelta(hours=1)), ("old code", before, timedelta(0))):
        other = a_build(key, commit=sha, started_at=now() - ago)
        BuildOutput.objects.create(build=other, asset=built.asset)
        assert ask(plan) is None
    theirs = a_build("theirs", commit=repo.write("models/other.sql", "select 3"), started_at=now())
    BuildOutput.objects.create(build=theirs, asset=built.asset)
    assert ask(plan) is True
    assert Verification.objects.get().build == theirs
