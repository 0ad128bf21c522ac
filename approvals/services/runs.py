"""A claimed run: started once under a supervisor, adopted after a crash, followed until it has ended (D22)."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

from django.conf import settings

from approvals import actions
from approvals.models import Run, Step
from approvals.runners import registry
from approvals.runners.base import Runner, RunnerConfig, RunState
from approvals.runners.dbt_local import target_folder
from approvals.scope import timeline_of
from approvals.services import steps
from approvals.services.disk import writing
from approvals.services.stop import stop_row_for_claim
from catalog.code_hosts.checkouts import checkout
from catalog.models import Build
from catalog.services import builds
from catalog.warehouse_access import read_connection
from foundation import audit, connections
from foundation.audit import Actor
from foundation.clock import now
from foundation.errors import BadInput
from foundation.failpoint import hit
from foundation.locks import lock, transaction
from foundation.models import Connection
from foundation.secrets import secret

ARTIFACTS = ("manifest", "run_results")


def start(run: Run, *, actor: Actor) -> bool:
    """Start the process of a claimed run, or adopt the one that lives. The stop is read once more right before.

    Raises Unavailable when the disk is full or dbt is missing; nothing half-made stays, the next look tries again.
    """
    connection = connections.get(str(run.step.params["connection"]))
    spec = _spec(run, _project(run, connection), connection)
    runner = registry.make(run.runner, RunnerConfig(Path(settings.SPELLBOOK_DBT), _environment(connection)))
    with transaction():
        if stop_row_for_claim().active:  # guard: I10
            Run.objects.filter(pk=run.pk).update(due_at=None)  # the stop made it due to be ended; nothing lives
            return False
    runner.start(run_folder(run), spec)
    hit("dispatch.after_start")
    return _started(run, actor)


def follow(step: Step, *, actor: Actor) -> bool:
    """Look at the run of a step that is acting: start it if nobody has, end the step when it has ended."""
    run = Run.objects.select_related("step__plan__undoes").get(step=step)
    runner = registry.make(run.runner, RunnerConfig())
    found = runner.poll(run_folder(run))
    if found.state == "lost":
        return start(run, actor=actor)
    if run.state == "claimed":
        return _started(run, actor)
    if found.state == "running":
        return _obey_stop(run, runner)
    return _ended(run, found, actor)


def run_folder(run: Run) -> Path:
    """Where the supervisor of a run keeps pid, log and exit code."""
    return Path(settings.RUNS_DIR) / str(run.pk)


def _started(run: Run, actor: Actor) -> bool:
    with transaction():
        row = lock(Run.objects.all(), pk=run.pk)
        moved = Run.objects.filter(pk=row.pk, state="claimed").update(state="running", started_at=now())
        if moved:
            facts: dict[str, str | int | None] = {"position": run.step.position}
            correlation = timeline_of(run.step.plan)
            audit.record(actor, actions.RUN_STARTED, row, correlation_id=correlation, facts=facts)
    return bool(moved)


def _project(run: Run, connection: Connection) -> Path:
    """The checked commit in a folder of its own; it gets its name only when it is whole."""
    project = run_folder(run) / "project"
    if project.is_dir():
        return project
    code = connections.get(str(connection.params["repository"]))
    new = run_folder(run) / "project.new"
    with writing("The run"):
        run_folder(run).mkdir(mode=0o700, parents=True, exist_ok=True)
        shutil.rmtree(new, ignore_errors=True)
        checkout(str(code.params["path"]), run.commit, new)
        os.replace(new, project)
    return project


def _spec(run: Run, project: Path, connection: Connection) -> dict[str, Any]:
    params = connection.params
    folder = inside(project, project, str(params.get("project_subdir", "")))
    return {
        "project_dir": str(folder),
        "profiles_dir": str(profiles_dir(project, folder, connection)),
        "target": str(params["target"]),
        "select": list(run.step.params["select"]),
    }


def profiles_dir(tree: Path, project: Path, connection: Connection) -> Path:
    """Where the connection says that profiles.yml lies: an absolute folder, or one inside the checked-out commit."""
    declared = Path(str(connection.params.get("profiles_dir", ".")))
    return declared if declared.is_absolute() else inside(tree, project, str(declared))


def inside(tree: Path, start: Path, relative: str) -> Path:
    """The absolute form of a folder that must not leave the tree. BadInput when it does."""
    found = (start / relative).resolve()
    if not found.is_relative_to(tree.resolve()):
        raise BadInput(f"The folder {relative} leaves the repository; give an absolute path or one inside it.")
    return found


def _environment(connection: Connection) -> dict[str, str]:
    """What the connection declares for dbt, and the secrets that it names under their own names."""
    declared = {str(name): str(value) for name, value in connection.params.get("env", {}).items()}
    return declared | {name: secret(name) for name in connection.secret_names}


def _obey_stop(run: Run, runner: Runner) -> bool:
    """A run in flight is asked to end while the stop is set; how it ended shows in a later look (D14)."""
    with transaction():
        active = stop_row_for_claim().active
    if active:
        runner.cancel(run_folder(run))
        Run.objects.filter(pk=run.pk).update(due_at=None)
    return False


def _ended(run: Run, found: RunState, actor: Actor) -> bool:
    state, said, build = _outcome(run, found, actor)
    facts: dict[str, str | int | None] = {"run": str(run.pk), "commit": run.commit, "exit_code": found.exit_code}
    with transaction():
        step = lock(Step.objects.all(), pk=run.step_id)
        row = lock(Run.objects.all(), pk=run.pk)
        ended = Run.objects.filter(pk=row.pk, state="running").update(
            state=state, ended_at=found.ended_at or now(), exit_code=found.exit_code,
            last_line=found.last_line[:500], build=build, due_at=None,
        )  # fmt: skip
        if ended:
            told = {"state": state, "exit_code": found.exit_code, "last_line": found.last_line[:200] or "no output"}
            correlation = timeline_of(run.step.plan)
            audit.record(actor, actions.RUN_ENDED, row, correlation_id=correlation, facts=told)
        return steps.end(step, "done" if state == "succeeded" else "failed", facts, said, actor=actor)


def _outcome(run: Run, found: RunState, actor: Actor) -> tuple[str, str, Build | None]:
    """How a run ended, in a word and in a sentence, with its build; artifacts that cannot be read are a failure."""
    if found.reason == "cancelled":
        return "cancelled", "the run was cancelled", None
    if found.state != "succeeded":
        return "failed", f"the run failed with exit code {found.exit_code}", None
    try:
        return "succeeded", "the run succeeded", _announce(run, found, actor)
    except BadInput as error:
        return "failed", f"the run left nothing that can be checked: {error}", None


def _announce(run: Run, found: RunState, actor: Actor) -> Build:
    """The run is a build like any other: its artifacts go the same way as those of an orchestrator."""
    connection = connections.get(str(run.step.params["connection"]))
    reader = read_connection(connection.namespace)
    moment = now()  # the run tells its times by the clock of its machine, which may be ahead of the database's
    began, ended = (min(at, moment) if at else None for at in (found.started_at, found.ended_at))
    files = {name: target_folder(run_folder(run)) / f"{name}.json" for name in ARTIFACTS}
    build, _ = builds.announce(
        key=f"run-{run.pk}", kind="dbt", producer="spellbook", status="succeeded", actor=actor,
        started_at=began, ended_at=ended, commit=run.commit,
        repository=str(connection.params["repository"]), connection=reader.name if reader else "",
        artifacts={name: file.read_bytes() for name, file in files.items() if file.is_file()},
    )  # fmt: skip
    return build
