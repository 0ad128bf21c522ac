"""Child processes of this machine that outlive whoever started them: launch, watch and cancel by run folder.

The folder is the only memory (see `supervisor`), so any process of this machine can adopt a run.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, cast

from approvals.runners.base import Limits, Reason, RunState
from foundation.errors import Conflict, Unavailable

SUPERVISOR = Path(__file__).with_name("supervisor.py")
START_SECONDS = 30
_TAIL_BYTES = 4096
_LINE_CHARACTERS = 300


@dataclass(frozen=True)
class ProcessSpec:
    """What to run: argument list, working folder, limits. The environment is given at launch and never stored."""

    argv: Sequence[str]
    cwd: Path
    limits: Limits

    def content(self) -> bytes:
        value = {"argv": list(self.argv), "cwd": str(self.cwd), "limits": asdict(self.limits)}
        return json.dumps(value, sort_keys=True).encode()


def launch(run_folder: Path, spec: ProcessSpec, environment: Mapping[str, str]) -> RunState:
    """Start the process under a supervisor, or adopt the run that the folder already has.

    Of any number of callers at the same time exactly one starts it. Raises `Conflict` when the folder belongs to
    another specification, and `Unavailable` when the folder cannot be written or the supervisor cannot start.
    """
    _store_spec(run_folder, spec)
    known = poll(run_folder)
    if known.state != "lost":
        return known
    answer = _start_supervisor(run_folder, environment)
    if answer.startswith("error: "):
        raise Unavailable(answer.removeprefix("error: "))
    return poll(run_folder)


def poll(run_folder: Path) -> RunState:
    """What the folder says about its run."""
    ended = _read_exit(run_folder)
    if ended is None and _is_held(run_folder):
        return _running(run_folder)
    ended = ended or _read_exit(run_folder)  # it may have ended between the two looks
    if ended is not None:
        return ended
    process = _read(run_folder / "process.json")
    return RunState("lost", started_at=_moment(process.get("started_at")), last_line=last_line(run_folder))


def cancel(run_folder: Path) -> None:
    """Ask the run to stop.

    The mark in the folder is enough while the supervisor lives; the signals are for a disk too full to take the mark,
    and for a child that has lost its supervisor.
    """
    try:
        (run_folder / "cancel").touch(mode=0o600)
        marked = True
    except OSError:
        marked = False
    process = _read(run_folder / "process.json")
    asked = _signal(process.get("supervisor_pid"), process.get("start_ticks"), os.kill)
    asked = asked or _signal(process.get("pid"), process.get("child_ticks"), os.killpg)
    if not marked and not asked:
        raise Unavailable("The run could not be asked to stop: its folder cannot be written.")


def last_line(run_folder: Path) -> str:
    """The newest line of the log that is not blank, without control characters, cut to 300 characters."""
    try:
        with (run_folder / "log").open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _TAIL_BYTES))
            lines = file.read().decode("utf-8", "replace").split("\n")
    except OSError:
        return ""
    texts = ("".join(c for c in line if c.isprintable()).strip() for line in reversed(lines))
    return next((text for text in texts if text), "")[:_LINE_CHARACTERS]


def _store_spec(run_folder: Path, spec: ProcessSpec) -> None:
    """Keep the specification; the first writer wins, and everybody after must mean the same."""
    path, content = run_folder / "spec.json", spec.content()
    beside = run_folder / f".spec.{secrets.token_hex(8)}"
    try:
        run_folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with open(beside, "xb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileExistsError):
            os.link(beside, path)
        stored = path.read_bytes()
    except OSError as error:
        raise Unavailable(f"The run folder cannot be written: {error.strerror}.") from None
    finally:
        with contextlib.suppress(OSError):
            beside.unlink(missing_ok=True)
    if stored != content:
        raise Conflict("This run folder already belongs to another run.")


def _start_supervisor(run_folder: Path, environment: Mapping[str, str]) -> str:
    try:
        done = subprocess.run(
            [sys.executable, "-I", str(SUPERVISOR), str(run_folder.resolve())],
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            start_new_session=True,
            timeout=START_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return "error: The supervisor of the run could not be started."
    return done.stdout.decode("utf-8", "replace").strip() or "error: The supervisor of the run could not be started."


def _is_held(run_folder: Path) -> bool:
    """Whether supervisor or child live: somebody has the lock."""
    try:
        with (run_folder / "lock").open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def _running(run_folder: Path) -> RunState:
    process = _read(run_folder / "process.json")
    return RunState(
        "running",
        pid=_number(process.get("pid")),
        started_at=_moment(process.get("started_at")),
        last_line=last_line(run_folder),
    )


def _read_exit(run_folder: Path) -> RunState | None:
    record = _read(run_folder / "exit.json")
    code, reason = _number(record.get("exit_code")), record.get("reason")
    if code is None or not isinstance(reason, str):
        return None
    return RunState(
        "succeeded" if code == 0 and reason == "exited" else "failed",
        exit_code=code,
        pid=_number(_read(run_folder / "process.json").get("pid")),
        started_at=_moment(record.get("started_at")),
        ended_at=_moment(record.get("ended_at")),
        last_line=last_line(run_folder),
        reason=cast(Reason, reason),
    )


def _signal(pid: object, ticks: object, send: Callable[[int, int], None]) -> bool:
    """Send TERM if the process of that pid is still the same one: pids are used again, start ticks are not."""
    if not isinstance(pid, int) or ticks is None or ticks != _start_ticks(pid):
        return False
    try:
        send(pid, signal.SIGTERM)
    except OSError:
        return False
    return True


def _start_ticks(pid: int) -> int | None:
    """When a living process started, in clock ticks since boot (proc(5)); None for one that is dead, reaped or not."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
        fields = stat.rpartition(")")[2].split()
        return None if fields[0] in "ZX" else int(fields[19])
    except (OSError, ValueError, IndexError):
        return None


def _read(path: Path) -> dict[str, Any]:
    """The object in a JSON file; empty when there is none."""
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def _number(value: object) -> int | None:
    return value if isinstance(value, int) else None


def _moment(value: object) -> datetime | None:
    try:
        return datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
