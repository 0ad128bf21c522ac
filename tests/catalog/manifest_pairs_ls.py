"""Parses one dbt project after each of many changes and asks dbt what it calls modified; run by dbt's own Python.

python manifest_pairs_ls.py PROJECT_DIR OUT_DIR < CHANGES > ANSWERS

CHANGES: {"name": {"files": {path: text, or null for a file that goes}, "selectors": ["state:modified"]}, ...}; every
change is made to the project as it was at first. ANSWERS: {"name": {"state:modified": [ids], ...}}.
The manifests are OUT_DIR/base/manifest.json and OUT_DIR/<name>/manifest.json.
"""

from __future__ import annotations

import contextlib
import io
import json
import shutil
import sys
from pathlib import Path
from typing import Any


def main(folder: Path, out: Path) -> None:
    changes = json.load(sys.stdin)
    parse(folder, out / "base")
    answers = {}
    for name, change in changes.items():
        before = {path: text_of(folder / path) for path in change["files"]}
        write(folder, change["files"])
        manifest = parse(folder, out / name)
        answers[name] = {selector: listed(folder, out, manifest, selector) for selector in change["selectors"]}
        write(folder, before)
    sys.stdout.write(json.dumps(answers))


def text_of(path: Path) -> str | None:
    return path.read_text() if path.exists() else None


def write(folder: Path, files: dict[str, str | None]) -> None:
    for path, text in files.items():
        if text is None:
            (folder / path).unlink()
        else:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text)


def parse(folder: Path, out: Path) -> Any:
    out.mkdir(parents=True)
    done = invoke(None, "parse", *arguments(folder))
    shutil.copy(folder / "target/manifest.json", out / "manifest.json")
    return done.result


def listed(folder: Path, out: Path, manifest: Any, selector: str) -> list[str]:
    words: tuple[str, ...] = ("--select", selector, "--indirect-selection", "empty", "--state", str(out / "base"))
    words += ("--resource-type", "all", "--output", "json", "--output-keys", "unique_id")
    with contextlib.redirect_stdout(io.StringIO()):
        done = invoke(manifest, "ls", *words, *arguments(folder))
    return sorted(json.loads(line)["unique_id"] for line in done.result)


def arguments(folder: Path) -> tuple[str, ...]:
    return "--project-dir", str(folder), "--profiles-dir", str(folder), "--quiet"


def invoke(manifest: Any, *words: str) -> Any:
    from dbt.cli.main import dbtRunner  # type: ignore[import-not-found]  # noqa: PLC0415 -- in the dbt environment only

    done = dbtRunner(manifest=manifest).invoke(list(words))
    if not done.success:
        raise SystemExit(f"{words}: {done.exception or done.result}")
    return done


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
