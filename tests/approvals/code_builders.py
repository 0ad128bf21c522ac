"""A plan whose change is a real patch against a real repository, and a stand-in for dbt that only notes that it ran."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings

from approvals.models import Plan, Step
from approvals.services.ask import ask
from approvals.services.drafting import seal_body
from catalog.code_hosts.local_git import unified_diff
from examples.mixpanel_night.night.repo import commit_all, git, head
from foundation import connections
from tests.approvals import builders
from tests.approvals.builders import House

MODEL = "models/m.sql"
OLD, NEW = "select 1 as id\nfrom a\nwhere not x\n", "select 1 as id\nfrom a\nwhere coalesce(x, false) = false\n"
PROJECT = {
    MODEL: OLD,
    "models/other.sql": "select 2 as id\n",
    "dbt_project.yml": "name: p\nprofile: p\n",
    "profiles.yml": "p: {target: t, outputs: {}}\n",
}


@dataclass
class Repo:
    """The repository of the plan's code."""

    path: Path

    def write(self, name: str, text: str, message: str = "Change") -> str:
        file = self.path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return commit_all(self.path, message)

    def head(self) -> str:
        return head(self.path)

    def git(self, *arguments: str) -> str:
        return git(self.path, *arguments)


def make_repo(path: Path) -> Repo:
    path.mkdir(parents=True)
    git(path, "init", "--quiet", "--initial-branch=main")
    for name, text in PROJECT.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(text)
    commit_all(path, "Start")
    return Repo(path)


def connect(repo: Repo, **run: Any) -> None:
    params = {"profiles_dir": ".", "target": "t", "repository": "code", "env": {}, **run}
    for name, kind, purpose, namespace, values in (
        ("code", "git", "code", "", {"path": str(repo.path), "branch": "main"}),
        ("dbt", "dbt", "run", builders.NAMESPACE, params),
    ):
        connections.save(
            name, kind=kind, purpose=purpose, namespace=namespace, params=values, secret_names=[],
            actor=builders.conductor(),
        )  # fmt: skip


def fake_dbt(folder: Path, *, seconds: float = 0, code: int = 0) -> Path:
    """A program that takes dbt's place: writes one line into `ran` beside it, waits, ends with `code`."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "dbt"
    program.write_text(f'#!/bin/sh\necho "$@" >> "{folder}/ran"\nsleep {seconds}\necho the end\nexit {code}\n')
    program.chmod(0o755)
    settings.SPELLBOOK_DBT = str(program)
    return folder / "ran"


def coded(built: House, repo: Repo) -> Plan:
    """A drafted plan whose change is the rewrite of the model at the repository's present head."""
    connect(repo)
    plan = builders.plan(built)
    change = plan.steps.get(position=1)
    change.params = {
        "repository": "code", "branch": "main", "base": repo.head(), "files": [MODEL],
        "patch": unified_diff({MODEL: OLD}, {MODEL: NEW}),
    }  # fmt: skip
    change.save(update_fields=["params"])
    seal_body(plan)
    return plan


def acting(built: House, repo: Repo, *, steps: Sequence[int] | None = None) -> Plan:
    """The same plan, approved by its approver."""
    request = ask(coded(built, repo).pk, actor=builders.conductor())
    builders.post(request, built.approver, steps=steps)
    return Plan.objects.get(pk=request.plan_id)


def step(plan: Plan, position: int) -> Step:
    return plan.steps.select_related("plan__undoes", "person__principal").get(position=position)
