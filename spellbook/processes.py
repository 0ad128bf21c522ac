"""What `manage.py up` runs: the site, four workers and beat, each started again when it dies, all ended together."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import IO

import psutil

from foundation.errors import Unavailable
from spellbook.memory import tree_pss

LEASH = Path(__file__).with_name("leash.py")
PR_SET_CHILD_SUBREAPER = 36
TICK = 0.2  # seconds between two looks at the children
GRACE = 15.0  # seconds that a child has to end after TERM
SETTLED = 30.0  # a child that lived this many seconds is started again at once
LONGEST_PAUSE = 10.0


@dataclass(frozen=True)
class Service:
    """One process to keep alive; `descriptors` are handed to it open."""

    name: str
    arguments: list[str]
    environment: Mapping[str, str]
    descriptors: tuple[int, ...] = ()


def services(sockets: list[socket.socket], *, keys: Path, run_dir: Path) -> list[Service]:
    """The processes of one machine. Only the worker for `wake` is told where the signing keys lie."""
    plain = {name: value for name, value in os.environ.items() if name != "SPELLBOOK_KEYS_DIR"}
    descriptors = tuple(made.fileno() for made in sockets)
    web = Service("web", ["-m", "spellbook.web", *map(str, descriptors)], plain, descriptors)
    workers = [
        Service(
            f"worker-{queue}", _worker(queue), plain | ({"SPELLBOOK_KEYS_DIR": str(keys)} if queue == "wake" else {})
        )
        for queue in ("wake", "send", "work", "long")
    ]
    beat = ["-m", "celery", "-q", "-A", "spellbook", "beat", "--schedule", str(run_dir / "beat"), "--pidfile", ""]
    return [web, *workers, Service("beat", beat, plain)]


def _worker(queue: str) -> list[str]:
    quiet = ["--without-gossip", "--without-mingle", "--without-heartbeat"]
    return ["-m", "celery", "-q", "-A", "spellbook", "worker", "-n", f"{queue}@%h", "-Q", queue, "-P", "solo", *quiet]


@contextlib.contextmanager
def only_one(run_dir: Path) -> Iterator[None]:
    """Holds the data folder for this process and writes `up.pid`; Unavailable when another `up` holds it."""
    run_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    pid_file = run_dir / "up.pid"
    with (run_dir / "up.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Unavailable(f"Spellbook already runs on {run_dir.parent}: stop it first.") from None
        pid_file.write_text(f"{os.getpid()}\n")
        try:
            yield
        finally:
            pid_file.unlink(missing_ok=True)


class Keeper:
    """One service, its present process and its log."""

    def __init__(self, service: Service, folder: Path, log_dir: Path) -> None:
        self.service, self.folder = service, folder
        self.process: subprocess.Popen[bytes] | None = None
        self.started_at = self.next_start = 0.0
        self.pause = 0.5
        log_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.log = RotatingFileHandler(
            log_dir / f"{service.name}.log", maxBytes=5_000_000, backupCount=3, encoding="utf-8"
        )

    def start(self) -> None:
        """Start in a session of its own, so that Ctrl-C reaches the parent alone."""
        self.started_at = time.monotonic()
        leash = [sys.executable, "-P", str(LEASH), str(os.getpid()), sys.executable]
        process = subprocess.Popen(
            [*leash, *self.service.arguments],
            cwd=self.folder,
            env=dict(self.service.environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=self.service.descriptors,
            start_new_session=True,
        )
        self.process = process
        threading.Thread(target=self._keep, args=(process.stdout,), daemon=True).start()

    def _keep(self, stream: IO[bytes]) -> None:
        for line in stream:
            text = line.decode("utf-8", "replace").rstrip("\n")
            self.log.emit(logging.LogRecord(self.service.name, logging.INFO, "", 0, text, None, None))

    def look(self) -> str | None:
        """Start the process again when its pause is over; a sentence when it was found dead."""
        if self.process is None:
            if time.monotonic() >= self.next_start:
                self.start()
            return None
        code = self.process.poll()
        if code is None:
            return None
        end_group(self.process)
        settled = time.monotonic() - self.started_at > SETTLED
        self.pause = 0.5 if settled else min(self.pause * 2, LONGEST_PAUSE)
        self.process, self.next_start = None, time.monotonic() + self.pause
        how = f"was killed by signal {-code}" if code < 0 else f"ended with code {code}"
        return f"{self.service.name} {how}; it is started again in {self.pause:.0f} s (log: {self.log.baseFilename})."


def end_group(process: subprocess.Popen[bytes]) -> None:
    """Kill what is left in the session that `process` led; a run in a session of its own is not touched."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


class House:
    """All keepers together. `run` returns when a signal asked for the end and every child is gone."""

    def __init__(self, keepers: list[Keeper], *, run_dir: Path, say: Callable[[str], None]) -> None:
        self.keepers, self.run_dir, self.say = keepers, run_dir, say
        self.asked = 0  # how often somebody asked for the end; the second time nobody waits
        self.peak = 0
        self.sampled_at = 0.0
        self.me = psutil.Process()

    def run(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._ask)
        adopt_orphans()
        try:
            while not self.asked:
                for keeper in self.keepers:
                    if sentence := keeper.look():
                        self.say(sentence)
                if time.monotonic() - self.sampled_at >= 1:
                    self.sampled_at = time.monotonic()
                    self.sample()
                    self.reap()
                time.sleep(TICK)
        finally:
            self.stop()

    def _ask(self, number: int, frame: object) -> None:
        self.asked += 1

    def sample(self) -> None:
        """Measure the memory of the whole tree; the peak in bytes is kept in `peak_pss`."""
        used = tree_pss(self.me)
        if used > self.peak:
            self.peak = used
            with contextlib.suppress(OSError):  # a full disk must not end the house
                (self.run_dir / "peak_pss").write_text(f"{used}\n")

    def reap(self) -> None:
        """Collect the ended grandchildren that a dead worker left to us; the keepers collect their own."""
        own = {keeper.process.pid for keeper in self.keepers if keeper.process}
        for child in self.me.children():
            with contextlib.suppress(psutil.Error, ChildProcessError):
                if child.pid not in own and child.status() == psutil.STATUS_ZOMBIE:
                    os.waitpid(child.pid, os.WNOHANG)

    def stop(self) -> None:
        """TERM to all, KILL to whoever is left after the grace or after a second request."""
        running = [keeper.process for keeper in self.keepers if keeper.process]
        for process in running:
            process.terminate()
        end, before = time.monotonic() + GRACE, self.asked
        while time.monotonic() < end and self.asked == before and any(process.poll() is None for process in running):
            time.sleep(0.05)
        for process in running:
            end_group(process)
            process.wait()
        self.reap()
        for left in self.me.children(recursive=False):
            self.say(f"Process {left.pid} goes on by itself and will be picked up at the next start.")


def adopt_orphans() -> None:
    """Become the parent of grandchildren whose parent died, so that they are counted and collected (prctl(2))."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
