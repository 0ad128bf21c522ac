"""`make bench [ONLY=name]`: runs every module of this package that has a `run`, each in a process of its own.

A module gives `run() -> Iterable[dict]`; each dictionary is one line (`bench._measure.line` makes it). `FLOORS`, where
a module has it, maps the name of a line and its peer (`name/against`) to the lowest ratio that passes: the exit code is
1 when a ratio is below it. Absolute seconds never fail a run, since they depend on the machine.
"""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent


def main(words: list[str]) -> int:
    """`[name]` of a module or the beginning of it; `--here name` runs one module in this process."""
    if words[:1] == ["--here"]:
        return _here(words[1])
    wanted = words[0] if words else ""
    names = [one.name for one in pkgutil.iter_modules([str(HERE)]) if not one.name.startswith("_")]
    chosen = [name for name in names if name.startswith(wanted) and _measures(name)]
    if not chosen:
        print(f"No module of bench/ begins with {wanted!r}.", file=sys.stderr)
        return 2
    return max(_in_a_process_of_its_own(name) for name in chosen)


def _measures(name: str) -> bool:
    return "def run(" in (HERE / f"{name}.py").read_text(encoding="utf-8")


def _in_a_process_of_its_own(name: str) -> int:
    """The exit code; the module finds an empty data folder and no setting of an installation."""
    with tempfile.TemporaryDirectory(prefix="sbb-") as folder:
        os.chmod(folder, 0o755)  # noqa: S103 -- as root, the embedded PostgreSQL runs as a user of its own
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("SPELLBOOK_", "DATABASE_URL"))}
        kept |= {key: value for key, value in os.environ.items() if key.startswith("SPELLBOOK_TEST_")}
        settings = {
            "DJANGO_SETTINGS_MODULE": "spellbook.settings",
            "SPELLBOOK_DATA_DIR": f"{folder}/data",
            "DATABASE_URL": f"sqlite:///{folder}/unused.sqlite3",
            "SPELLBOOK_LOG": "WARNING",
            "BENCH_FOLDER": folder,
        }
        words = [sys.executable, "-m", "bench", "--here", name]
        return subprocess.run(words, cwd=ROOT, env=kept | settings, check=False).returncode


def _here(name: str) -> int:
    import django  # noqa: PLC0415 -- only here are the settings of a measurement in the environment

    django.setup()
    module = importlib.import_module(f"bench.{name}")
    floors: Mapping[str, float] = getattr(module, "FLOORS", {})
    missed = 0
    for line in module.run():
        print(json.dumps(line), flush=True)
        missed += _missed(line, floors)
    return 1 if missed else 0


def _missed(line: Mapping[str, Any], floors: Mapping[str, float]) -> bool:
    floor = floors.get(f"{line['name']}/{line['against']}")
    if floor is None or line["ratio"] >= floor:
        return False
    print(f"{line['name']} is {line['ratio']} times {line['against']}; it has to be {floor}.", file=sys.stderr)
    return True


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
