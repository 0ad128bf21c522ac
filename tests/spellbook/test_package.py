"""What `pip install` of this repository brings: the review, few packages, and nothing of the server."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from tests.spellbook import docs
from tests.spellbook.package_repo import AT, ROOT, did, pair, repository, run

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
OURS = ("approvals", "catalog", "foundation", "incidents", "spellbook")
BLOCKED = (
    "approvals", "celery", "cryptography", "django", "duckdb", "incidents", "jsonschema", "kombu", "mcp", "networkx",
    "ninja", "numpy", "psutil", "psycopg", "pygments", "rfc8785", "scipy", "unidiff", "uvicorn", "yaml",
)  # fmt: skip
PURE = f"""
import sys
for name in {BLOCKED}:
    sys.modules[name] = None
from spellbook.command_line import main
code = main(sys.argv[1:])
print("loaded:", *(name for name in sys.modules if name.partition(".")[0] in {OURS} and sys.modules[name]))
sys.exit(code)
"""


def modules() -> dict[str, set[str]]:
    """MODULES of setup.py."""
    tree = ast.parse((ROOT / "setup.py").read_text())
    found = next(node.value for node in tree.body if isinstance(node, ast.Assign))
    value: dict[str, set[str]] = ast.literal_eval(found)
    return value


def is_built(name: str) -> bool:
    """Whether a module is part of the package."""
    packages, parent, last = PROJECT["tool"]["setuptools"]["packages"], name.rpartition(".")[0], name.rpartition(".")[2]
    if name in packages:
        return True
    return parent in packages and last in modules().get(parent, {last})


def test_the_review_runs_without_the_server_and_all_of_it_is_in_the_package(tmp_path: Path) -> None:
    base, head = pair(tmp_path)
    words = [sys.executable, "-c", PURE, "review", base, head, "--at", AT]
    done = subprocess.run(
        [str(word) for word in words],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    text, _, loaded = done.stdout.rpartition("loaded: ")
    assert "dangerous" in text.lower()
    assert "is_internal" in text
    assert "spellbook.command_line" in loaded.split()
    assert [name for name in loaded.split() if not is_built(name)] == []


def test_the_package_has_the_versions_of_the_server() -> None:
    pins = dict(
        re.findall(r"^([a-z0-9._-]+)(?:\[[a-z]+\])?==([^ \\;]+)", (ROOT / "requirements.txt").read_text(), re.M)
    )
    asked = dict(one.split("==") for one in PROJECT["project"]["dependencies"])
    assert {name: pins.get(name.replace(".", "-")) for name in asked} == asked
    assert PROJECT["build-system"]["requires"][0].startswith("setuptools==")


def test_every_package_that_is_named_is_there() -> None:
    packages = PROJECT["tool"]["setuptools"]["packages"]
    assert [name for name in packages if not (ROOT / name.replace(".", "/") / "__init__.py").exists()] == []
    named = [ROOT / package.replace(".", "/") / f"{one}.py" for package, some in modules().items() for one in some]
    assert [str(path) for path in named if not path.exists()] == []


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder `bin` of a fresh environment into which pip put the package from a git repository."""
    folder = tmp_path_factory.mktemp("package")
    origin = repository(folder / "origin")
    did([sys.executable, "-m", "venv", folder / "env"], folder)
    did([folder / "env/bin/pip", "install", "-q", f"git+file://{origin}"], folder)
    return folder / "env" / "bin"


@pytest.mark.real
@pytest.mark.timeout(400)
def test_pip_installs_it_from_git_with_few_packages(installed: Path, tmp_path: Path) -> None:
    listed = did([installed / "pip", "list", "--format", "freeze"], tmp_path).lower().split()
    names = {line.partition("==")[0] for line in listed}
    assert {"spellbook", "sqlglot"} <= names
    assert len(names) <= 20, names
    assert names.isdisjoint({"django", "celery", "duckdb", "numpy", "psycopg"})
    base, head = pair(tmp_path)
    done = run([installed / "spellbook", "review", base, head, "--at", AT, "--fail-on", "dangerous"], tmp_path)
    assert done.returncode == 1
    assert "is_internal" in done.stdout
    assert done.stderr == "The verdict is dangerous (--fail-on dangerous).\n"


@pytest.mark.real
@pytest.mark.timeout(400)
def test_the_wheel_holds_what_the_command_line_needs_and_no_more(installed: Path, tmp_path: Path) -> None:
    origin = repository(tmp_path / "origin")
    did([installed / "pip", "wheel", "-q", "--no-deps", "-w", tmp_path, origin], tmp_path)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if ".dist-info/" not in name]
    assert [name for name in names if not name.endswith(".py")] == []
    assert [name for name in names if not is_built(re.sub(r"(/__init__)?\.py$", "", name).replace("/", "."))] == []
    assert {name.partition("/")[0] for name in names} == {"catalog", "foundation", "spellbook"}
    assert "spellbook/settings.py" not in names


@pytest.mark.real
@pytest.mark.timeout(400)
def test_pre_commit_runs_the_hook_as_the_page_writes_it(tmp_path: Path) -> None:
    origin = repository(tmp_path / "origin")
    project, base, head = tmp_path / "project", tmp_path / "before" / "target", tmp_path / "project" / "target"
    for made, target in zip(pair(tmp_path / "pair"), (base, head), strict=True):
        shutil.copytree(made, target)
    (text,) = [block for block in docs.blocks(ROOT / "docs" / "change-review.md", "yaml") if "repos:" in block]
    revision = did(["git", "rev-parse", "HEAD"], origin).strip()
    text = text.replace("https://github.com/OWNER/REPOSITORY", f"file://{origin}").replace("COMMIT", revision)
    (project / ".pre-commit-config.yaml").write_text(text)
    did(["git", "init", "-q"], project)
    did(["git", "add", "-A"], project)
    hook: list[str | Path] = [Path(sys.executable).with_name("pre-commit"), "run", "--hook-stage", "pre-push"]
    hook += ["--all-files", "--verbose"]
    refused = run(hook, project, PRE_COMMIT_HOME=str(tmp_path / "cache"))
    assert refused.returncode == 1, refused.stdout + refused.stderr
    assert "is_internal" in refused.stdout
    assert "The verdict is dangerous (--fail-on dangerous)." in refused.stdout
    shutil.copytree(base, head, dirs_exist_ok=True)
    assert "Passed" in did(hook, project, PRE_COMMIT_HOME=str(tmp_path / "cache"))
