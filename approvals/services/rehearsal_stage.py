"""The stage of a rehearsal: a throw-away checkout with the change, a copy of the warehouse, a profile of our own (D21).

In the folder rehearsal-<plan>:
    checkout/            the tree of the base commit with the patch on it
    <warehouse file>     the copy, under the name that stored views call it by
    profiles/            the profile that forbids everything outside the copy
    ready                exists once all of this is whole
    asked/               what asking the copy takes
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from django.conf import settings

from approvals import rehearsal_guard
from approvals.models import Plan, Step
from approvals.services.disk import writing
from approvals.services.runs import inside, profiles_dir
from catalog.code_hosts import local_git
from catalog.selectors import relation
from catalog.warehouse_access import read_connection
from catalog.warehouses.duckdb import LOCK_WAIT, DuckDBWarehouse
from catalog.warehouses.duckdb_copies import copy_of
from catalog.warehouses.duckdb_source import Source
from foundation import connections
from foundation.errors import SpellbookError
from foundation.models import Connection

TARGET = "rehearsal"


class NotRehearsed(SpellbookError):
    """Why a change is not rehearsed, in one sentence."""


@dataclass(frozen=True)
class Stage:
    """A stage that stands: its folder, the dbt project in it, the copy, and the files that the change touches."""

    folder: Path
    tree: Path
    project: Path
    copy: Path
    files: tuple[str, ...]
    select: tuple[str, ...]

    @property
    def warehouse(self) -> DuckDBWarehouse:
        """The copy, to be asked as the warehouse itself would be; what that takes stays inside the stage."""
        return DuckDBWarehouse(Source(self.copy, self.folder / "asked"))

    def changed(self, path: str) -> bool:
        """Whether the change touches this path of the dbt project."""
        return (self.project / path).relative_to(self.tree).as_posix() in self.files


def stage_of(plan: Plan) -> Path:
    """The folder of a plan's rehearsal."""
    return Path(settings.RUNS_DIR).resolve() / f"rehearsal-{plan.pk}"


def prepare(plan: Plan) -> Stage:
    """Set the stage, or return the one that stands. NotRehearsed for a change that may not be, Unavailable when the
    disk is full.
    """
    change, rerun = plan.steps.filter(kind="change").first(), plan.steps.filter(kind="rerun").first()
    if change is None or rerun is None:
        raise NotRehearsed("the plan changes no code, or builds nothing")
    run = connections.get(str(rerun.params["connection"]))
    source, folder = _source(run.namespace), stage_of(plan)
    tree = folder / "checkout"
    project = tree / str(run.params.get("project_subdir", ""))
    stage = Stage(
        folder, tree, project, folder / source.copy_name, tuple(change.params["files"]), tuple(rerun.params["select"])
    )
    if not (folder / "ready").exists():
        with writing("The rehearsal"):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(mode=0o700, parents=True)
            _check_out(stage, change)
            _copy(source, stage)
            _write_profile(stage, plan, run)
            (folder / "ready").touch()
    return stage


def clear(plan: Plan) -> None:
    """Take the stage down."""
    shutil.rmtree(stage_of(plan), ignore_errors=True)


def _source(namespace: str) -> Source:
    row = read_connection(namespace)
    if row is None or row.kind != "duckdb":
        raise NotRehearsed("only a DuckDB file can be copied; this warehouse has no rehearsal connection")
    return DuckDBWarehouse.open(row.params, row.secret_names).source


def _check_out(stage: Stage, change: Step) -> None:
    repository = str(connections.get(str(change.params["repository"])).params["path"])
    base, patch = str(change.params["base"]), str(change.params["patch"])
    local_git.checkout(repository, base, stage.tree)
    inside(stage.tree, stage.tree, stage.project.relative_to(stage.tree).as_posix())
    folders = [(stage.project / path).relative_to(stage.tree).as_posix() for path in _model_paths(stage.project)]
    known = set(local_git.ls_files(repository, base))
    before = {path: local_git.show(repository, base, path) for path in stage.files if path in known}
    local_git.apply_patch(stage.tree, patch)
    after = {path: (stage.tree / path).read_bytes() for path in stage.files if (stage.tree / path).is_file()}
    reason = rehearsal_guard.refuse_reason(patch, before, after, model_paths=folders)
    if reason:
        raise NotRehearsed(reason)


def _copy(source: Source, stage: Stage) -> None:
    with copy_of(source, wait=LOCK_WAIT) as file:
        for part in _parts(file):
            shutil.copyfile(part, stage.folder / part.name)


def _parts(file: Path) -> Iterator[Path]:
    yield file
    log = file.with_name(f"{file.name}.wal")
    if log.exists():
        yield log


def _write_profile(stage: Stage, plan: Plan, run: Connection) -> None:
    name = str(_yaml(stage.project / "dbt_project.yml").get("profile", ""))
    content = rehearsal_guard.duckdb_profile(
        stage.copy, profile=name, database=stage.copy.stem, schema=_schema(stage, name, plan, run), target=TARGET
    )
    (stage.folder / "profiles").mkdir()
    (stage.folder / "profiles" / "profiles.yml").write_text(yaml.safe_dump(content), encoding="utf-8")


def _schema(stage: Stage, profile: str, plan: Plan, run: Connection) -> str:
    """The schema of the target that the connection runs; the first asserted table's where the profile hides it."""
    file = profiles_dir(stage.tree, stage.project, run) / "profiles.yml"
    outputs = (_yaml(file).get(profile) or {}).get("outputs") or {} if file.is_file() else {}
    written = (outputs.get(str(run.params["target"])) or {}).get("schema")
    if isinstance(written, str) and "{{" not in written:
        return written
    first = plan.assertions.select_related("asset").order_by("position").first()
    table = relation(first.asset) if first else None
    return (table.schema if table else None) or "main"


def _model_paths(project: Path) -> list[str]:
    paths = _yaml(project / "dbt_project.yml").get("model-paths", ["models"])
    return [str(path) for path in paths] if isinstance(paths, list) else []


def _yaml(file: Path) -> dict[str, Any]:
    try:
        loaded = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError):
        loaded = None
    if not isinstance(loaded, dict):
        raise NotRehearsed(f"the repository holds no {file.name} that can be read")
    return loaded
