"""Asks dbt itself what lies above and below each node of a project: run by the Python of the dbt environment.

python dbt_ls.py PROJECT_DIR > {"<unique id>": {"down": [ids], "up": [ids]}, ...}
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
from typing import Any

KINDS = ("model", "seed", "snapshot", "source", "exposure")


def main(folder: str) -> None:
    from dbt.cli.main import dbtRunner  # type: ignore[import-not-found]  # noqa: PLC0415 -- in the dbt environment only

    where = ["--project-dir", folder, "--profiles-dir", folder, "--quiet"]
    parsed = dbtRunner().invoke(["parse", *where])
    if not parsed.success:
        raise SystemExit(str(parsed.exception))
    runner: Any = dbtRunner(manifest=parsed.result)
    types = [word for kind in KINDS for word in ("--resource-type", kind)]

    def listed(*select: str) -> list[str]:
        arguments = ["ls", *where, *types, "--output", "json", "--output-keys", "unique_id", *select]
        with contextlib.redirect_stdout(io.StringIO()):
            done = runner.invoke(arguments)
        if not done.success:
            raise SystemExit(f"{select}: {done.exception}")
        return sorted(json.loads(line)["unique_id"] for line in done.result)

    found = {}
    for unique_id in listed():
        name = selector(unique_id, parsed.result)
        below, above = listed("--select", f"{name}+"), listed("--select", f"+{name}")
        found[unique_id] = {"down": below, "up": above}
    sys.stdout.write(json.dumps(found))


def selector(unique_id: str, manifest: Any) -> str:
    """What `--select` calls one node and no other."""
    kind, _, rest = unique_id.partition(".")
    if kind in ("source", "exposure"):
        return f"{kind}:{rest}"
    return ".".join(manifest.nodes[unique_id].fqn)


if __name__ == "__main__":
    main(sys.argv[1])
