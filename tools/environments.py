"""Make the Python environments: `.venv` for Spellbook, `.envs/dbt` for dbt, whose pins conflict with ours.

`environments.py openlineage` makes `.envs/openlineage` too: OpenLineage's own producers, for the tests against them.

Each carries the digest of the requirement files that it was made from; when nothing changed, nothing happens. Runs on
the system's Python with the standard library alone, and still parses on old ones to refuse them with a sentence.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import subprocess
import sys
from collections.abc import Sequence

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ENVIRONMENTS = (
    (".venv", ("requirements.txt", "requirements-dev.txt")),
    (os.path.join(".envs", "dbt"), ("requirements-dbt.txt",)),
)

ON_DEMAND = {"openlineage": (os.path.join(".envs", "openlineage"), ("requirements-openlineage.txt",))}


def digest(files: Sequence[str]) -> str:
    """SHA-256 over the interpreter's version and the content of `files`."""
    total = hashlib.sha256(repr(sys.version_info[:3]).encode())
    for name in files:
        with open(os.path.join(ROOT, name), "rb") as file:
            total.update(file.read())
    return total.hexdigest()


def read(path: str) -> str:
    try:
        with open(path) as file:
            return file.read()
    except OSError:
        return ""


def run(command: list[str], failure: str) -> None:
    """Run `command`; when it fails, show the end of what it said and one sentence."""
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True, check=False
    )
    if done.returncode:
        lines = [line for line in done.stdout.splitlines() if not line.startswith("WARNING")]
        sys.exit("\n".join([*lines[-15:], failure]))


def make(folder: str, files: Sequence[str]) -> None:
    path = os.path.join(ROOT, folder)
    stamp = os.path.join(path, "requirements.sha256")
    wanted = digest(files)
    if read(stamp) == wanted:
        return
    print("making " + folder + " (once; about a minute)", flush=True)
    python = os.path.join(path, "bin", "python")
    # Also over an old environment: it may have been made by a Python that is gone.
    run([sys.executable, "-m", "venv", path], "Python cannot make an environment: install the package python3-venv.")
    command = [
        python,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-input",
        "--disable-pip-version-check",
        "--require-hashes",
    ]
    for name in files:
        command += ["-r", os.path.join(ROOT, name)]
    run(command, "The packages of " + folder + " could not be installed: is the package registry within reach?")
    with open(stamp, "w") as file:
        file.write(wanted)


def main() -> None:
    if sys.version_info < (3, 11):
        version = ".".join(str(part) for part in sys.version_info[:2])
        sys.exit("Spellbook needs Python 3.11 or newer and this is " + version + ": try make PYTHON=python3.12.")
    strange = [name for name in sys.argv[1:] if name not in ON_DEMAND]
    if strange:
        sys.exit("There is no environment " + strange[0] + "; there is " + ", ".join(ON_DEMAND) + ".")
    with open(os.path.join(ROOT, "Makefile")) as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two makes at once: the second waits and finds everything done
        for folder, files in ENVIRONMENTS + tuple(ON_DEMAND[name] for name in sys.argv[1:]):
            make(folder, files)


if __name__ == "__main__":
    main()
