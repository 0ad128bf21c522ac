"""This repository as it stands, committed into a git repository of its own, and small manifests to review with it."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.catalog.manifests import exposure, manifest, model, source

ROOT = Path(__file__).resolve().parents[2]
COPIED = (
    "catalog", "foundation", "spellbook", "pyproject.toml", "setup.py", "README.md", "LICENSE",
    ".pre-commit-hooks.yaml",
)  # fmt: skip
AT = "2026-09-28T05:13:00+00:00"
BOARD = {"spellbook": {"tool": "copier", "mode": "mirror", "schedule": {"cron": "0 * * * *"}}}


def run(words: Sequence[str | Path], folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """What a command says when nothing of this process's environment but its path and package index reaches it."""
    kept = {
        name: value for name, value in os.environ.items() if name == "PATH" or name.startswith(("PIP_", "SSL_", "UV_"))
    }
    home = {"HOME": str(folder), "GIT_CONFIG_GLOBAL": os.devnull}
    who = {f"GIT_{role}_{part}": "t@example.com" for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")}
    return subprocess.run(
        [str(word) for word in words],
        cwd=folder,
        env=kept | home | who | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def did(words: Sequence[str | Path], folder: Path, **environment: str) -> str:
    """As `run` for a command that has to succeed; its standard output."""
    done = run(words, folder, **environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def repository(folder: Path) -> Path:
    """A git repository with the files of this one that its package is made of."""
    folder.mkdir(parents=True)
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, folder / name)
    return committed(folder)


def committed(folder: Path) -> Path:
    """The folder, with all that stands in it committed."""
    did(["git", "init", "-q", "-b", "main"], folder)
    did(["git", "add", "-A"], folder)
    did(["git", "commit", "-q", "-m", "all"], folder)
    return folder


def shop(where: str = "") -> bytes:
    """A manifest whose model `orders` ends so, and a mirror that reads it each hour."""
    code = f"select id, is_internal from raw.orders {where}".strip()  # noqa: S608  a model's text
    told: dict[str, Any] = {"raw_code": code, "compiled_code": code, "checksum": {"name": "sha256", "checksum": code}}
    orders = model("orders", "source.shop.raw.orders", **told)
    board = exposure("copy", "model.shop.orders", meta=BOARD)
    return manifest([orders], sources=[source("orders")], exposures=[board])


def pair(folder: Path) -> tuple[Path, Path]:
    """The folders of a base and a head manifest; the change keeps only rows that are not internal."""
    for name, where in (("base", ""), ("head", "where not is_internal")):
        (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / name / "manifest.json").write_bytes(shop(where))
    return folder / "base", folder / "head"
