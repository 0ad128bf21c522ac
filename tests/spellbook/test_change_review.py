"""The documented ways to review a change, with real dbt: on a laptop, in a hook, and as a GitHub Actions workflow."""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.conf import settings

from catalog.sources.declared import parse
from catalog.sources.declared_file import read_yaml
from spellbook import review_command
from spellbook.command_line import main
from tests.spellbook import docs
from tests.spellbook.change_project import project
from tests.spellbook.package_repo import AT, ROOT, did, repository, run

WORKFLOW = ROOT / "docs" / "examples" / "change-review.yml"
PAGE = ROOT / "docs" / "change-review.md"
JOB: dict[str, Any] = yaml.safe_load(WORKFLOW.read_text())
STEPS: list[dict[str, Any]] = JOB["jobs"]["review"]["steps"]


def dbt() -> Path:
    executable = Path(getattr(settings, "SPELLBOOK_DBT", "") or ROOT / ".envs/dbt/bin/dbt")
    if not executable.exists():
        pytest.skip(f"no dbt at {executable}: make setup installs it")
    return executable


def says_what_will_happen(text: str) -> bool:
    """Whether a review names the column, the sync, its next run and the form that keeps the rows."""
    wanted = ("Dangerous", "is_internal", "Account mirror", "06:00 UTC", "coalesce", "Sam", "Ada")
    plain = text.replace("\\", "")
    assert [word for word in wanted if word not in plain] == [], text
    return True


@pytest.mark.dbt
@pytest.mark.timeout(300)
def test_a_filter_over_a_nullable_column_is_dangerous_before_the_merge(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    folder = project(tmp_path / "shop")
    for branch, target in (("main~1", "base"), ("change", "head")):
        did(["git", "checkout", "-q", branch], folder)
        did([dbt(), "compile", "--target-path", tmp_path / target], folder)
    monkeypatch.chdir(folder)
    words = ["review", str(tmp_path / "base"), str(tmp_path / "head"), "--at", AT, "--json", str(tmp_path / "r.json")]
    assert main([*words, "--fail-on", "dangerous"]) == 1
    read = capsysbinary.readouterr()
    assert read.err == b"The verdict is dangerous (--fail-on dangerous).\n"
    assert says_what_will_happen(read.out.decode())
    (change,) = json.loads((tmp_path / "r.json").read_text())["changes"]
    assert (change["path"], change["direction"], change["verdict"]) == (
        "models/fct_account_events.sql", "can_only_drop", "dangerous",
    )  # fmt: skip
    assert change["findings"][0]["place"]["line"] == 7
    assert [(reader["name"], reader["mode"], reader["next_read"]) for reader in change["readers"]] == [
        ("Account mirror", "mirror", "2026-09-28T06:00:00+00:00")
    ]


def test_the_workflow_fits_the_published_schema_of_workflows() -> None:
    checker = Path(sys.executable).with_name("check-jsonschema")
    for schema in ("vendor.github-workflows", "custom.github-workflows-require-timeout"):
        done = subprocess.run([checker, "--builtin-schema", schema, WORKFLOW], capture_output=True, check=False)
        assert done.returncode == 0, done.stdout


def test_the_workflow_may_only_read_and_runs_nothing_that_a_title_could_change() -> None:
    assert JOB["permissions"] == {"contents": "read"}
    assert yaml.safe_load(WORKFLOW.read_text().replace("\non:", "\ntrigger:"))["trigger"].keys() == {"pull_request"}
    assert "permissions" not in JOB["jobs"]["review"]
    assert [step["uses"] for step in STEPS if "uses" in step and not re.search(r"@[0-9a-f]{40}$", step["uses"])] == []
    assert [step["run"] for step in STEPS if "${{" in step.get("run", "")] == []
    (checkout,) = [step for step in STEPS if "checkout" in step.get("uses", "")]
    assert checkout["with"]["persist-credentials"] is False
    (kept,) = [step for step in STEPS if "upload-artifact" in step.get("uses", "")]
    assert kept["with"]["name"] == "spellbook-manifest"


def test_the_page_names_every_option_and_no_other() -> None:
    parser = argparse.ArgumentParser()
    review_command.add_arguments(parser)
    options = {word for action in parser._actions for word in action.option_strings if word.startswith("--")}
    shown = {word for row in docs.rows(PAGE) for word in re.findall(r"`(--[a-z-]+)", row[0])}
    assert shown >= options - {"--help"}
    assert set(re.findall(r"(?<=[` ])--[a-z-]+", docs.prose(PAGE))) <= options | {"--from-database", "--no-introspect"}


def test_the_declaration_of_the_page_says_which_columns_are_read() -> None:
    (block,) = [block for block in docs.blocks(PAGE, "yaml") if "consumers:" in block]
    told: list[str] = []
    (entry,) = parse(read_yaml(block.encode(), "the page"), told=told.append).consumers
    assert (entry.columns, told) == (("id", "amount"), [])


class Runner:
    """What GitHub's runner does with the `run` steps of the workflow, in a checkout of the branch."""

    def __init__(self, folder: Path, spellbook: str) -> None:
        self.temp, self.summary = folder / "temp", folder / "summary.md"
        self.temp.mkdir()
        origin = project(folder / "origin")
        did(["git", "clone", "-q", origin, folder / "checkout"], folder)
        self.checkout = folder / "checkout"
        self.values = {
            "github.event.pull_request.base.sha": did(["git", "rev-parse", "main"], origin).strip(),
            "vars.SPELLBOOK_FACTS_URL": "",
            "secrets.SPELLBOOK_FACTS_TOKEN": "",
        }
        self.environment = {**JOB["env"], "SPELLBOOK": spellbook}

    def step(self, step: Mapping[str, Any], **changed: str) -> subprocess.CompletedProcess[str]:
        own = {name: self.values[str(value).strip("${} ")] for name, value in step.get("env", {}).items()}
        paths = {"RUNNER_TEMP": str(self.temp), "GITHUB_STEP_SUMMARY": str(self.summary)}
        return run(["bash", "-e", "-c", step["run"]], self.checkout, **{**self.environment, **own, **paths, **changed})


@pytest.mark.real
@pytest.mark.timeout(600)
def test_the_workflow_reviews_a_real_pull_request(tmp_path: Path) -> None:
    runner = Runner(tmp_path, f"git+file://{repository(tmp_path / 'spellbook')}")
    steps = [step for step in STEPS if "run" in step]
    for step in steps:
        done = runner.step(step)
        assert done.returncode == 0, (step["name"], done.stdout, done.stderr)
    review = json.loads((runner.temp / "review.json").read_text())
    assert review["verdict"] == "dangerous"
    assert [change["name"] for change in review["changes"]] == ["fct_account_events"]  # not what main did meanwhile
    assert "Account mirror" in runner.summary.read_text()
    assert json.loads((runner.temp / "head" / "manifest.json").read_bytes())["nodes"]
    failed = runner.step(steps[-1], FAIL_ON="dangerous")
    assert (failed.returncode, failed.stderr) == (1, "The verdict is dangerous (--fail-on dangerous).\n")
    assert runner.summary.read_text().count("Account mirror") >= 2
    away = runner.step(steps[-1], FACTS_URL="http://127.0.0.1:9/facts")
    assert away.returncode == 0, away.stderr
    assert json.loads((runner.temp / "review.json").read_text())["readers_known"] is False


@pytest.mark.real
@pytest.mark.timeout(600)
def test_the_commands_for_a_laptop_do_what_the_page_says(tmp_path: Path) -> None:
    folder = project(tmp_path / "shop")
    did([sys.executable, "-m", "venv", tmp_path / "env"], tmp_path)
    (tmp_path / "env" / "bin" / "dbt").symlink_to(dbt())
    origin = repository(tmp_path / "spellbook")
    path = f"{tmp_path / 'env' / 'bin'}:/usr/bin:/bin:{Path(shutil.which('git') or '').parent}"
    (block,) = [block for block in docs.blocks(PAGE, "sh") if "git worktree add" in block]
    script = re.sub(r"git\+https://\S+", f"git+file://{origin}", block)
    done = run(["bash", "-e", "-c", script], folder, PATH=path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Account mirror" in done.stdout
