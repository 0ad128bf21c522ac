"""Rehearsing a plan's change: the real build, on a copy of the warehouse, in a throw-away checkout (D21)."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any
from uuid import UUID

from django.conf import settings

from approvals import actions, rehearsal_guard
from approvals.assertions import ask_warehouse
from approvals.models import Assertion, Plan
from approvals.runners import registry
from approvals.runners.base import RunnerConfig, RunState
from approvals.runners.dbt_local import target_folder
from approvals.scope import timeline_of
from approvals.services.rehearsal_stage import TARGET, NotRehearsed, Stage, clear, prepare
from catalog.selectors import dbt_node, relation
from catalog.sources import manifest, run_results
from catalog.sources.manifest import Manifest
from catalog.sources.naming import dialect_of
from catalog.warehouses.guard import Refused, parse_select
from foundation import audit
from foundation.audit import Actor
from foundation.errors import Busy, SpellbookError
from foundation.locks import lock, transaction

POLL_SECONDS = 0.2
PATIENCE_SECONDS = 60  # well inside the lease of whoever calls; a longer rehearsal goes on in the next look
NODE_FAILED = 1  # dbt's exit code when a model or a test failed; any other failure says nothing about the change
FORBIDDEN = "disabled by configuration"  # DuckDB's words when a statement wants out of the copy


def rehearse(plan_id: UUID, *, actor: Actor) -> dict[str, Any] | None:
    """Build the change on a copy and ask every assertion there; the answer is kept with the plan before it is asked.

    `state`: rehearsed (dbt succeeded and every assertion held), contradicted (it ran and did not hold: the plan is not
    put before anybody), or not rehearsed, with the reason. `predicted` holds what each assertion measured on the copy.
    None while dbt still runs: the next call adopts it, after a crash too.
    """
    plan = Plan.objects.select_related("undoes").get(pk=plan_id)
    if plan.rehearsal is not None:
        return dict(plan.rehearsal)
    try:
        outcome = _rehearse(plan)
    except Busy:
        raise
    except SpellbookError as reason:
        outcome = {"state": "not rehearsed", "reason": str(reason)}
    if outcome is not None:
        _keep(plan, outcome, actor)
        clear(plan)
    return outcome


def _rehearse(plan: Plan) -> dict[str, Any] | None:
    stage, give_up = prepare(plan), time.monotonic() + PATIENCE_SECONDS
    asked = list(plan.assertions.order_by("position").select_related("asset"))
    compiled = _dbt(stage, "compile", [one.strip("+") for one in stage.select], give_up)
    if compiled is None:
        return None
    _check_compiled(stage, compiled, asked)
    built = _dbt(stage, "build", list(stage.select), give_up)
    if built is None:
        return None
    _check_ran(stage, built)
    return _answers(stage, built, asked)


def _dbt(stage: Stage, command: str, select: list[str], give_up: float) -> RunState | None:
    """One dbt command with the limits of a rehearsal and nothing of ours in its environment; None: it still runs."""
    dbt = registry.make("dbt", RunnerConfig(executable=Path(settings.SPELLBOOK_DBT), limits=rehearsal_guard.LIMITS))
    spec = {
        "command": command,
        "project_dir": str(stage.project.resolve()),
        "profiles_dir": str(stage.folder / "profiles"),
        "target": TARGET,
        "select": select,
        "exclude": list(rehearsal_guard.EXCLUDE),
    }
    state = dbt.start(stage.folder / command, spec)
    while state.state == "running":
        if time.monotonic() >= give_up:
            return None
        time.sleep(POLL_SECONDS)
        state = dbt.poll(stage.folder / command)
    return state


def _check_compiled(stage: Stage, compiled: RunState, asked: list[Assertion]) -> None:
    """Before anything is built: each changed model is one plain SELECT (D9), and stands where it is asked for."""
    if compiled.state != "succeeded":
        raise NotRehearsed(f"dbt could not compile it outside of its own environment: {compiled.last_line}")
    found = manifest.read(_artifact(stage, "compile", "manifest"))
    for node in found.nodes.values():
        if node.kind != "model" or not stage.changed(node.path):
            continue
        try:
            parse_select(node.compiled_code or "", dialect_of(found.adapter))
        except Refused as refused:
            raise NotRehearsed(f"the compiled SQL of {node.name} is not a plain SELECT: {refused}") from None
    for one in asked:
        _check_place(found, one)


def _check_place(found: Manifest, one: Assertion) -> None:
    claim, table = dbt_node(one.asset), relation(one.asset)
    node = found.nodes.get(claim.local_id) if claim else None
    if node is None or table is None:
        return
    if (node.schema or "", node.identifier) != (table.schema or "", table.identifier):
        raise NotRehearsed(f"a rehearsal would build {node.schema}.{node.identifier} instead of {table}")


def _check_ran(stage: Stage, built: RunState) -> None:
    """A build that ended for reasons of the stage, not of the change, is no rehearsal."""
    if built.state != "succeeded" and (built.reason != "exited" or built.exit_code != NODE_FAILED):
        raise NotRehearsed(f"dbt ended with exit code {built.exit_code} on the copy: {built.last_line}")
    results = run_results.read(_artifact(stage, "build", "run_results")).results.values()
    outside = next((one for one in results if FORBIDDEN in one.message), None)
    if outside is not None:
        raise NotRehearsed(f"{outside.unique_id} reads outside of the warehouse, which a rehearsal forbids")


def _answers(stage: Stage, built: RunState, asked: list[Assertion]) -> dict[str, Any]:
    predicted = []
    for one in asked:
        answer = ask_warehouse(one, stage.warehouse)
        predicted.append(
            {"assertion": one.sentence, "observed": answer.observed, "passed": answer.passed, "reason": answer.reason}
        )
    broken = next((one for one in predicted if one["passed"] is False), None)
    untold = next((one for one in predicted if one["passed"] is None), None)
    if built.state == "succeeded" and broken is None and untold is not None:
        raise NotRehearsed(f"on the copy nobody could tell whether {untold['assertion']}: {untold['reason']}")
    return {
        "state": "rehearsed" if built.state == "succeeded" and broken is None else "contradicted",
        "reason": _why(built, broken),
        "seconds": _seconds(built),
        "exit_code": built.exit_code,
        "predicted": predicted,
        "last_line": built.last_line,
    }


def _why(built: RunState, broken: dict[str, Any] | None) -> str:
    if built.state != "succeeded":
        return f"dbt ended with exit code {built.exit_code} on the copy: {built.last_line}"
    return f"on the copy this does not hold: {broken['assertion']}" if broken else ""


def _seconds(built: RunState) -> int | None:
    if built.started_at is None or built.ended_at is None:
        return None
    return round((built.ended_at - built.started_at).total_seconds())


def _artifact(stage: Stage, command: str, name: str) -> bytes:
    try:
        return (target_folder(stage.folder / command) / f"{name}.json").read_bytes()
    except OSError:
        raise NotRehearsed(f"dbt {command} left no {name} on the copy") from None


def _keep(plan: Plan, outcome: dict[str, Any], actor: Actor) -> None:
    with transaction():
        row = lock(Plan.objects.select_related("undoes"), pk=plan.pk)
        if not Plan.objects.filter(pk=row.pk, rehearsal__isnull=True, state="draft").update(rehearsal=outcome):
            return
        facts = {"state": outcome["state"], "reason": f": {outcome['reason']}" if outcome["reason"] else ""}
        audit.record(actor, actions.PLAN_REHEARSED, row, correlation_id=timeline_of(row), facts=facts)
