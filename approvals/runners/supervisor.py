"""Watches over one child process, whatever happens to the process that started it (a stand-alone script, stdlib only).

    python -I supervisor.py RUN_FOLDER        environment = the child's whole environment

Started by `local.launch`, which reads one word from standard output: `started`, `held` (a living run has the lock),
`finished` (an exit code exists), or `error: <sentence>`. The supervisor leaves the caller's process group and session
by a double fork, so that no kill of the caller, of its group, or of its session reaches it or the child.

Files of a run folder, all of mode 0600:
    spec.json      in: argv, cwd, limits (never the environment, which may hold secrets)
    lock           flock held by supervisor *and* child: it is free only when both are gone
    process.json   pids and start ticks of supervisor and child, start time
    log            what the child writes on standard output and error
    cancel         exists once somebody asked to stop
    exit.json      exit code, reason, end; written once, atomically, into room reserved at the start (a full disk later
                   must not swallow the exit code)
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import resource
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from typing import Any

RESERVED_BYTES = 1024
LOCK_ATTEMPTS = 25
PAUSE = 0.1
CODE_TIMEOUT, CODE_CANCELLED, CODE_NOT_EXECUTABLE, CODE_NOT_FOUND = 124, 143, 126, 127


def main(arguments: list[str]) -> int:
    """Detach, hand the outcome of the start back through a pipe, and print it."""
    if len(arguments) != 2:
        sys.stderr.write("usage: supervisor.py RUN_FOLDER\n")
        return 2
    reader, writer = os.pipe()
    first = os.fork()
    if first == 0:
        _detach()
        _run_detached(arguments[1], writer)
    os.close(writer)
    os.waitpid(first, 0)
    with os.fdopen(reader, "rb") as pipe:
        answer = pipe.read(2000).decode("utf-8", "replace").strip()
    sys.stdout.write((answer or "error: The supervisor ended before it could start the run.") + "\n")
    return 0


def _detach() -> None:
    os.setsid()
    if os.fork():
        os._exit(0)
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)


def _run_detached(folder: str, writer: int) -> None:
    """Never returns: whatever goes wrong ends in one sentence to the starter, not in a second copy of the caller."""
    try:
        os.umask(0o077)
        os.chdir(folder)
        supervise(writer)
    except OSError as error:
        _tell(writer, f"error: The run folder cannot be used: {error.strerror}.")
    except (KeyError, TypeError, ValueError):
        _tell(writer, "error: The run's specification cannot be read.")
    finally:
        os._exit(0)


def supervise(writer: int) -> None:
    """Take the lock, start the child, wait for its end, record it. The current folder is the run folder."""
    lock = _take_lock()
    if lock is None:
        return _tell(writer, "held")
    if os.path.exists("exit.json"):
        return _tell(writer, "finished")
    with open("spec.json", encoding="utf-8") as file:
        spec = json.load(file)
    started_at = _now()
    _reserve()
    _write("process.json", _process(started_at, None))
    if os.path.exists("cancel"):
        _record_exit(started_at, CODE_CANCELLED, "cancelled")
        return _tell(writer, "started")
    stop = StopSignal()
    try:
        child = _spawn(spec, lock)
    except (OSError, subprocess.SubprocessError) as error:
        code = CODE_NOT_FOUND if isinstance(error, FileNotFoundError) else CODE_NOT_EXECUTABLE
        _log(f"The program could not be started: {getattr(error, 'strerror', None) or 'its limits were refused'}.")
        _record_exit(started_at, code, "not_started")
        return _tell(writer, "started")
    with contextlib.suppress(OSError):
        _write("process.json", _process(started_at, child.pid))
    _tell(writer, "started")
    code, reason = _wait(child, spec["limits"], stop)
    _signal_group(child.pid, signal.SIGKILL)
    _record_exit(started_at, code, reason)
    return None


class StopSignal:
    """Remembers that a signal asked the supervisor to stop."""

    def __init__(self) -> None:
        self.asked = False
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._remember)

    def _remember(self, number: int, frame: object) -> None:
        self.asked = True


def _take_lock() -> int | None:
    """The lock's descriptor, or None. A watcher holds it for microseconds to see whether it is free, hence the
    attempts.
    """
    descriptor = os.open("lock", os.O_RDWR | os.O_CREAT, 0o600)
    for _ in range(LOCK_ATTEMPTS):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(0.01)
        else:
            return descriptor
    return None


def _spawn(spec: dict[str, Any], lock: int) -> subprocess.Popen[bytes]:
    """The child in a session of its own, with the lock inherited and the limits set."""
    log = os.open("log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        return subprocess.Popen(
            spec["argv"],
            cwd=spec["cwd"],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            pass_fds=(lock,),
            preexec_fn=lambda: _apply_limits(spec["limits"]),  # noqa: PLW1509 - this process has one thread
        )
    finally:
        os.close(log)


def _apply_limits(limits: dict[str, int | None]) -> None:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    cpu = limits.get("cpu_seconds")
    if cpu:
        _limit(resource.RLIMIT_CPU, cpu, cpu + 5)
    for name, kind in (("address_space_bytes", resource.RLIMIT_AS), ("file_size_bytes", resource.RLIMIT_FSIZE)):
        value = limits.get(name)
        if value:
            _limit(kind, value, value)


def _limit(kind: int, soft: int, hard: int) -> None:
    """Set a limit, never above the one that already holds."""
    _, ceiling = resource.getrlimit(kind)
    if ceiling != resource.RLIM_INFINITY:
        soft, hard = min(soft, ceiling), min(hard, ceiling)
    resource.setrlimit(kind, (soft, hard))


def _wait(child: subprocess.Popen[bytes], limits: dict[str, Any], stop: StopSignal) -> tuple[int, str]:
    """The exit code and the reason. A stop first asks the child's whole group (TERM), then kills it."""
    wall_end = time.monotonic() + limits["wall_seconds"]
    kill_at: float | None = None
    reason = "exited"
    while True:
        try:
            code = child.wait(PAUSE)
            break
        except subprocess.TimeoutExpired:
            pass
        if reason == "exited":
            reason = _reason_to_stop(wall_end, stop)
            if reason != "exited":
                kill_at = time.monotonic() + limits["grace_seconds"]
                _signal_group(child.pid, signal.SIGTERM)
                _signal_group(child.pid, signal.SIGCONT)
        elif kill_at is not None and time.monotonic() >= kill_at:
            _signal_group(child.pid, signal.SIGKILL)
    if reason == "exited":
        return (128 - code if code < 0 else code), reason
    return (CODE_TIMEOUT if reason == "timeout" else CODE_CANCELLED), reason


def _reason_to_stop(wall_end: float, stop: StopSignal) -> str:
    if stop.asked or os.path.exists("cancel"):
        return "cancelled"
    return "timeout" if time.monotonic() >= wall_end else "exited"


def _signal_group(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number)


def _process(started_at: str, child: int | None) -> dict[str, Any]:
    return {
        "supervisor_pid": os.getpid(),
        "start_ticks": _start_ticks(os.getpid()),
        "pid": child,
        "child_ticks": None if child is None else _start_ticks(child),
        "started_at": started_at,
    }


def _start_ticks(pid: int) -> int | None:
    """When a process started, in clock ticks since boot: with the pid it names a process for ever (proc(5))."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            return int(file.read().rpartition(")")[2].split()[19])
    except (OSError, ValueError, IndexError):
        return None


def _reserve() -> None:
    with open("exit.reserved", "wb") as file:
        file.write(b" " * RESERVED_BYTES)
        file.flush()
        os.fsync(file.fileno())


def _record_exit(started_at: str, code: int, reason: str) -> None:
    """Write the exit into the reserved room and give it its name in one step."""
    record = {"exit_code": code, "reason": reason, "started_at": started_at, "ended_at": _now()}
    with open("exit.reserved", "r+b") as file:
        file.write(json.dumps(record).encode().ljust(RESERVED_BYTES))
        file.flush()
        with contextlib.suppress(OSError):
            os.fsync(file.fileno())
    os.replace("exit.reserved", "exit.json")
    _sync_folder()


def _write(name: str, value: dict[str, Any]) -> None:
    beside = name + ".new"
    with open(beside, "w", encoding="utf-8") as file:
        json.dump(value, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(beside, name)
    _sync_folder()


def _sync_folder() -> None:
    with contextlib.suppress(OSError):
        descriptor = os.open(".", os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _log(text: str) -> None:
    with contextlib.suppress(OSError), open("log", "a", encoding="utf-8") as file:
        file.write(text + "\n")


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")


def _tell(writer: int, answer: str) -> None:
    """One line to the starter; it may be dead by now, which changes nothing."""
    with contextlib.suppress(OSError):
        os.write(writer, answer.encode() + b"\n")
        os.close(writer)


if __name__ == "__main__":
    sys.exit(main(sys.argv))
