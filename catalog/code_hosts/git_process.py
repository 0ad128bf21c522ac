"""Run git so that nothing of the repository, the user or the machine decides what it does."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Final

from foundation.errors import BadInput, NotFound, Unavailable

SECONDS: Final = 60
SHA: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
BRANCH: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+#@=,/-]*")

# The directory belongs to whom it belongs; we only read objects. Nothing here runs a hook, filter, pager or helper.
OVERRIDES: Final = (
    "-c", "safe.directory=*", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null",
    "-c", "core.quotePath=false", "-c", "core.autocrlf=false", "-c", "protocol.allow=never",
)  # fmt: skip


def run(
    where: Path,
    *arguments: str,
    stdin: bytes = b"",
    codes: tuple[int, ...] = (0,),
    more: Mapping[str, str] = MappingProxyType({}),
) -> subprocess.CompletedProcess[bytes]:
    """git in the directory `where`, found there and nowhere above it; `more` is added to its environment.

    Raises Unavailable when git is not installed or takes longer than 60 s, BadInput with git's first line when the
    exit code is not among `codes`."""
    git = shutil.which("git")
    if git is None:
        raise Unavailable("git is not installed")
    command = [git, "--no-pager", "--literal-pathspecs", *OVERRIDES, "-C", str(where), *arguments]
    try:
        done = subprocess.run(
            command, input=stdin, capture_output=True, env={**_environment(where), **more}, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise Unavailable(f"git took longer than {SECONDS} s") from error
    if done.returncode not in codes:
        raise BadInput(_sentence(arguments[0], done.stderr))
    return done


def opened(repo: Path | str) -> Path:
    """The absolute path of a repository. Raises NotFound when there is none at exactly this path."""
    path = Path(repo).resolve()
    if not path.is_dir():
        raise NotFound(f"there is no repository {path.name}")
    try:
        run(path, "rev-parse", "--git-dir")
    except BadInput as error:
        raise NotFound(f"the directory {path.name} is not a git repository") from error
    return path


def checked_branch(branch: str) -> str:
    """A branch's short name, fit to stand behind refs/heads/. Raises BadInput."""
    if not BRANCH.fullmatch(branch) or ".." in branch or "@{" in branch or branch.endswith((".lock", "/", ".")):
        raise BadInput(f"{branch!r} is not the name of a branch")
    return branch


def checked_sha(sha: str) -> str:
    """A whole commit id in lower case. Raises BadInput; names and abbreviations are not ids."""
    if not SHA.fullmatch(sha):
        raise BadInput(f"{sha!r} is not a whole commit id")
    return sha


def checked_path(path: str) -> str:
    """A path inside a git tree. Raises BadInput for one that is absolute, leaves the tree or is not normal."""
    parts = path.split("/")
    if path.startswith("/") or "\0" in path or "\\" in path or {"", ".", ".."} & set(parts) or ".git" in parts:
        raise BadInput(f"{path!r} is not a path inside the repository")
    return str(PurePosixPath(path))


def _environment(where: Path) -> dict[str, str]:
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": os.devnull,
        "LC_ALL": "C",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_CEILING_DIRECTORIES": str(where.resolve().parent),
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ALLOW_PROTOCOL": "none",
        "GIT_TERMINAL_PROMPT": "0",
    }


def _sentence(verb: str, stderr: bytes) -> str:
    lines = stderr.decode("utf-8", "replace").strip().splitlines()
    reason = lines[0].removeprefix("fatal: ").removeprefix("error: ") if lines else "no reason given"
    return f"git {verb} failed: {reason}"
