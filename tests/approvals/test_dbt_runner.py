"""The dbt runner: its arguments and refusals, and real dbt builds, supervised, adopted and rehearsed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from approvals import rehearsal_guard
from approvals.runners import registry
from approvals.runners.base import Limits, Runner, RunnerConfig, RunState
from approvals.runners.dbt_local import arguments, child_environment, parse_spec, target_folder
from foundation.errors import BadInput, Unavailable

DBT = Path(os.environ.get("SPELLBOOK_DBT") or Path(__file__).resolve().parents[2] / ".envs/dbt/bin/dbt")
needs_dbt = pytest.mark.skipif(not DBT.exists(), reason="dbt is not installed")


def spec_of(project: Path, **changed: Any) -> dict[str, Any]:
    return {"project_dir": str(project), "profiles_dir": str(project), "target": "dev", "select": ["+a+"], **changed}


@pytest.mark.parametrize(
    "selector",
    ["a", "+a+", "2+a", "@a", "a+1", "tag:nightly", "path:models/a.sql", "state:modified+", "a,b", "pkg.a-b"],
)
def test_selectors_of_dbt_are_accepted(tmp_path: Path, selector: str) -> None:
    assert parse_spec(spec_of(tmp_path, select=[selector])).select == (selector,)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("select", []), ("select", "a"), ("select", ["-x"]), ("select", ["--profiles-dir"]), ("select", ["a b"]),
        ("select", [""]), ("select", ["a\n"]), ("select", ["path:../x"]), ("select", [1]), ("select", None),
        ("select", ["a"] * 2001), ("select", ["$(x)"]), ("exclude", ["-x"]), ("target", "-x"), ("target", "a b"),
        ("target", None), ("project_dir", "relative"), ("project_dir", "/nowhere/at/all"),
        ("profiles_dir", "/tmp/../etc"),
        ("project_dir", None), ("full_refresh", "yes"), ("vars", {}), ("command", "run"), ("command", ["build"]),
    ],
)  # fmt: skip
def test_a_bad_specification_is_one_clear_error(tmp_path: Path, field: str, value: object) -> None:
    with pytest.raises(BadInput):
        parse_spec(spec_of(tmp_path, **{field: value}))


def test_the_arguments_are_a_list_with_the_selectors_last(tmp_path: Path) -> None:
    spec = parse_spec(spec_of(tmp_path, select=["a+", "b"], exclude=["c"], full_refresh=True))
    argv = arguments(Path("/opt/dbt"), spec, Path("/runs/7"))
    assert argv[:3] == ["/opt/dbt", "build", "--no-version-check"]
    assert argv[-6:] == ["--full-refresh", "--exclude", "c", "--select", "a+", "b"]
    assert argv[argv.index("--target-path") + 1] == "/runs/7/target"


def test_the_environment_is_what_is_declared_and_little_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPELLBOOK_SECRET_KEY", "hush")
    environment = child_environment({"SPELLBOOK_CONN_PASSWORD": "word"})
    assert set(environment) <= {"PATH", "HOME", "SPELLBOOK_CONN_PASSWORD", "DBT_SEND_ANONYMOUS_USAGE_STATS"}
    assert environment["DBT_SEND_ANONYMOUS_USAGE_STATS"] == "False"
    for name in ("LD_PRELOAD", "PATH", "HOME", "PYTHONPATH", "lower", "A B", "", "BASH_ENV"):
        with pytest.raises(BadInput):
            child_environment({name: "x"})


def test_a_missing_dbt_and_an_unknown_runner_are_one_sentence(tmp_path: Path) -> None:
    for executable in (None, tmp_path / "dbt", tmp_path):
        with pytest.raises(Unavailable, match="dbt is not installed"):
            registry.make("dbt", RunnerConfig(executable)).start(tmp_path / "run", spec_of(tmp_path))
    assert not (tmp_path / "run").exists()
    with pytest.raises(BadInput, match="known: dbt"):
        registry.make("cron", RunnerConfig())


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A tiny project: a seed, an incremental model on it, and a view that reads the model by its full name."""
    folder = tmp_path / "project"
    files = {
        "dbt_project.yml": "name: tiny\nversion: '1.0'\nprofile: tiny\nmodel-paths: [models]\nseed-paths: [seeds]\n",
        "profiles.yml": "tiny: {target: dev, outputs: {dev: {type: duckdb, threads: 1, "
        "path: \"{{ env_var('SPELLBOOK_CONN_DUCKDB') }}\"}}}\n",
        "seeds/raw.csv": "id,v\n1,2\n2,3\n",
        "models/a.sql": "{{ config(materialized='incremental', unique_key='id') }} select * from {{ ref('raw') }}",
        "models/b.sql": "select id, v from {{ ref('a') }}",
        "models/schema.yml": "models: [{name: a, columns: [{name: id, data_tests: [not_null]}]}]\n",
    }
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    return folder


def runner_for(warehouse: Path, **limits: Any) -> Runner:
    config = RunnerConfig(DBT, {"SPELLBOOK_CONN_DUCKDB": str(warehouse)}, Limits(wall_seconds=90, **limits))
    return registry.make("dbt", config)


def ended(runner: Runner, folder: Path) -> RunState:
    end = time.monotonic() + 90
    while (state := runner.poll(folder)).state == "running":
        assert time.monotonic() < end
        time.sleep(0.05)
    return state


def statuses(folder: Path) -> dict[str, str]:
    results = json.loads((target_folder(folder) / "run_results.json").read_text())["results"]
    return {result["unique_id"].split(".")[2]: result["status"] for result in results}


@needs_dbt
@pytest.mark.dbt
def test_a_real_build_survives_its_worker_is_adopted_and_leaves_its_artifacts(tmp_path: Path, project: Path) -> None:
    run, warehouse = tmp_path / "run", tmp_path / "tiny.duckdb"
    spec = spec_of(project, select=["+b"])
    code = (
        "import sys, json, os, signal; sys.path.insert(0, sys.argv[1])\n"
        "from pathlib import Path\n"
        "from approvals.runners import registry\n"
        "from approvals.runners.base import Limits, RunnerConfig\n"
        "config = RunnerConfig(Path(sys.argv[2]), {'SPELLBOOK_CONN_DUCKDB': sys.argv[3]}, Limits(wall_seconds=90))\n"
        "registry.make('dbt', config).start(Path(sys.argv[4]), json.loads(sys.argv[5]))\n"
        "os.killpg(0, signal.SIGKILL)"
    )
    root = Path(__file__).resolve().parents[2]
    worker = subprocess.run(
        [sys.executable, "-c", code, str(root), str(DBT), str(warehouse), str(run), json.dumps(spec)],
        start_new_session=True,
        check=False,
    )
    assert worker.returncode == -9
    runner = runner_for(warehouse)
    adopted = runner.start(run, spec)
    assert adopted.state == "running"
    state = ended(runner, run)
    assert (state.state, state.exit_code) == ("succeeded", 0), (run / "log").read_text()
    assert statuses(run) == {"raw": "success", "a": "success", "b": "success", "not_null_a_id": "pass"}
    assert runner.start(run, spec) == state
    assert (run / "log").read_text().count("Running with dbt=") == 1
    assert not (project / "target").exists()
    assert not (project / "logs").exists()


@needs_dbt
@pytest.mark.dbt
def test_a_rehearsal_builds_on_a_copy_and_reads_no_file_of_the_host(tmp_path: Path, project: Path) -> None:
    warehouse = tmp_path / "tiny.duckdb"
    good = runner_for(warehouse)
    good.start(tmp_path / "good", spec_of(project, select=["+b"]))
    assert ended(good, tmp_path / "good").state == "succeeded"
    copy = tmp_path / "copy" / "tiny.duckdb"
    copy.parent.mkdir()
    shutil.copy(warehouse, copy)
    before = warehouse.read_bytes()
    profiles = tmp_path / "profiles"
    profiles.mkdir()
    profile = rehearsal_guard.duckdb_profile(copy, profile="tiny", database="tiny")
    (profiles / "profiles.yml").write_text(yaml.safe_dump(profile))
    (project / "models/c.sql").write_text("select b.*, current_setting('memory_limit') as m from {{ ref('b') }} as b")
    secret = tmp_path / "secret.txt"
    secret.write_text("hush")
    (project / "models/thief.sql").write_text(
        f"{{{{ config(materialized='table') }}}} select * from read_text('{secret}')"  # noqa: S608
    )
    rehearsal = registry.make("dbt", RunnerConfig(DBT, {}, rehearsal_guard.LIMITS))
    spec = spec_of(
        project,
        profiles_dir=str(profiles),
        target="rehearsal",
        select=["a", "b", "c", "thief"],
        exclude=list(rehearsal_guard.EXCLUDE),
    )
    rehearsal.start(tmp_path / "rehearsal", spec)
    state = ended(rehearsal, tmp_path / "rehearsal")
    assert (state.state, state.exit_code) == ("failed", 1)
    found = statuses(tmp_path / "rehearsal")
    assert found == {"a": "success", "b": "success", "c": "success", "not_null_a_id": "pass", "thief": "error"}
    assert "file system operations are disabled" in (tmp_path / "rehearsal/log").read_text()
    assert warehouse.read_bytes() == before
