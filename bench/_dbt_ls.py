"""How long `dbt ls --select state:modified` takes with the head's manifest in hand; run by dbt's own Python.

python _dbt_ls.py PROJECT_DIR BASE_DIR HEAD.json TIMES > {"load": seconds, "ls": [seconds], "ids": [unique ids]}

dbt is spared its start and the parsing of the project: the head is read from its manifest, once and before the clock.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
import time
from typing import Any


def main(folder: str, base: str, head: str, times: int) -> None:
    from dbt.artifacts.schemas.manifest import WritableManifest  # type: ignore[import-not-found]  # noqa: PLC0415
    from dbt.cli.main import dbtRunner  # type: ignore[import-not-found]  # noqa: PLC0415
    from dbt.contracts.graph.manifest import Manifest  # type: ignore[import-not-found]  # noqa: PLC0415

    start = time.perf_counter()
    manifest = Manifest.from_writable_manifest(WritableManifest.read_and_check_versions(head))
    found: dict[str, Any] = {"load": time.perf_counter() - start, "ls": []}
    words = ["--project-dir", folder, "--profiles-dir", folder, "--quiet", "--output", "json"]
    words += ["--output-keys", "unique_id", "--select", "state:modified", "--indirect-selection", "empty"]
    for _ in range(times):
        start = time.perf_counter()
        with contextlib.redirect_stdout(io.StringIO()):
            done = dbtRunner(manifest=manifest).invoke(["ls", *words, "--state", base])
        found["ls"].append(time.perf_counter() - start)
        if not done.success:
            raise SystemExit(str(done.exception))
        found["ids"] = sorted(json.loads(line)["unique_id"] for line in done.result)
    sys.stdout.write("\n" + json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))
