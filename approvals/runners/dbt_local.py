"""dbt on this machine: `dbt build` (or `compile`) of chosen nodes, supervised so that it survives its worker.

The specification of a run (plain JSON):
    project_dir     absolute folder of the checked-out dbt project (the checked commit)
    profiles_dir    absolute folder of profiles.yml
    target          name of the profile's target
    select          list of selectors, at least one
    exclude         list of selectors (optional)
    full_refresh    true or false (optional)
    command         build (the default) or compile
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from approvals.runners import local
from approvals.runners.base import RunnerConfig, RunState
from foundation.errors import BadInput, Unavailable

_SELECTOR = re.compile(r"[\w@+*.:/,][\w@+*.:/,-]{0,299}")
_WORD = re.compile(r"\w[\w.-]{0,99}")
_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]{0,99}")
_RESERVED = re.compile(r"PATH|HOME|LD_.*|DYLD_.*|PYTHON.*|BASH_ENV|ENV|IFS|DBT_SEND_ANONYMOUS_USAGE_STATS")
_FIELDS = frozenset({"project_dir", "profiles_dir", "target", "select", "exclude", "full_refresh", "command"})
_COMMANDS = ("build", "compile")
_MAX_SELECTORS = 2000


@dataclass(frozen=True)
class DbtSpec:
    """A checked specification."""

    project_dir: Path
    profiles_dir: Path
    target: str
    select: tuple[str, ...]
    exclude: tuple[str, ...] = ()
    full_refresh: bool = False
    command: str = "build"


def parse_spec(spec: Mapping[str, Any]) -> DbtSpec:
    """Check a specification; `BadInput` says which field is wrong."""
    unknown = sorted(set(spec) - _FIELDS)
    if unknown:
        raise BadInput(f"A dbt run has no field {unknown[0]!r}.")
    if not isinstance(spec.get("full_refresh", False), bool):
        raise BadInput("full_refresh is either true or false.")
    if spec.get("command", "build") not in _COMMANDS:
        raise BadInput("A dbt run either builds or compiles.")
    target = spec.get("target")
    if not isinstance(target, str) or not _WORD.fullmatch(target):
        raise BadInput("The dbt target must be a plain name.")
    select = selectors(spec.get("select"))
    if not select:
        raise BadInput("A dbt run needs at least one selector.")
    return DbtSpec(
        project_dir=_folder(spec.get("project_dir"), "project"),
        profiles_dir=_folder(spec.get("profiles_dir"), "profiles"),
        target=target,
        select=select,
        exclude=selectors(spec.get("exclude", [])),
        full_refresh=spec.get("full_refresh", False),
        command=spec.get("command", "build"),
    )


def selectors(values: object) -> tuple[str, ...]:
    """Checked dbt selectors: no blanks, no leading `-`, nothing that leaves the project; `BadInput` otherwise."""
    if not isinstance(values, Sequence) or isinstance(values, (str, bytes)) or len(values) > _MAX_SELECTORS:
        raise BadInput("dbt selectors are given as a list.")
    for value in values:
        if not isinstance(value, str) or not _SELECTOR.fullmatch(value) or ".." in value:
            raise BadInput(f"{value!r} is not a dbt selector.")
    return tuple(values)


def arguments(dbt: Path, spec: DbtSpec, run_folder: Path) -> list[str]:
    """The argument list; selectors stand last, and everything that dbt writes goes into the run folder."""
    argv = [
        str(dbt),
        spec.command,
        "--no-version-check",
        "--no-use-colors",
        *("--project-dir", str(spec.project_dir)),
        *("--profiles-dir", str(spec.profiles_dir)),
        *("--target", spec.target),
        *("--target-path", str(run_folder / "target")),
        *("--log-path", str(run_folder / "logs")),
    ]
    if spec.full_refresh:
        argv.append("--full-refresh")
    if spec.exclude:
        argv += ["--exclude", *spec.exclude]
    return [*argv, "--select", *spec.select]


def child_environment(declared: Mapping[str, str]) -> dict[str, str]:
    """PATH, HOME, the connection's declared variables, and nothing else; dbt sends no usage statistics."""
    for name in declared:
        if not _VARIABLE.fullmatch(name) or _RESERVED.fullmatch(name):
            raise BadInput(f"A dbt connection may not set the variable {name!r}.")
    inherited = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return {**inherited, **declared, "DBT_SEND_ANONYMOUS_USAGE_STATS": "False"}


class DbtLocal:
    """The dbt runner of this machine (see `Runner`); artifacts of a run lie in `target_folder(run_folder)`."""

    def __init__(self, config: RunnerConfig) -> None:
        self.config = config

    def start(self, run_folder: Path, spec: Mapping[str, Any]) -> RunState:
        """Start dbt, or adopt; `Unavailable` when dbt is not installed, `BadInput` for a bad specification."""
        run_folder = run_folder.resolve()
        parsed = parse_spec(spec)
        process = local.ProcessSpec(
            argv=arguments(self._dbt(), parsed, run_folder), cwd=parsed.project_dir, limits=self.config.limits
        )
        return local.launch(run_folder, process, child_environment(self.config.environment))

    def poll(self, run_folder: Path) -> RunState:
        return local.poll(run_folder)

    def cancel(self, run_folder: Path) -> None:
        local.cancel(run_folder)

    def _dbt(self) -> Path:
        dbt = self.config.executable
        if dbt is None or not dbt.is_file() or not os.access(dbt, os.X_OK):
            raise Unavailable("dbt is not installed where SPELLBOOK_DBT says.")
        return dbt.absolute()


def target_folder(run_folder: Path) -> Path:
    """Where dbt put manifest.json and run_results.json of this run."""
    return run_folder.resolve() / "target"


def _folder(value: object, what: str) -> Path:
    if not isinstance(value, str) or not Path(value).is_absolute() or ".." in Path(value).parts:
        raise BadInput(f"The {what} folder of a dbt run must be an absolute path.")
    if not Path(value).is_dir():
        raise BadInput(f"The {what} folder of the dbt run does not exist.")
    return Path(value)
