"""What every runner can do, and the values that it speaks in. The truth about a run lies with the runner, not in
memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, Protocol

State = Literal["running", "succeeded", "failed", "lost"]
Reason = Literal["exited", "timeout", "cancelled", "not_started"]


@dataclass(frozen=True)
class RunState:
    """What is known about a run.

    `lost` means that nothing of it lives and no exit code exists: it never started, or it died without a word; only
    then may another be started. `reason` says why a run ended; `exit_code` follows the shell (128 + signal, 124
    timeout, 127 no such program, 143 cancelled). `last_line` is the newest line of the log, for people.
    """

    state: State
    exit_code: int | None = None
    pid: int | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    last_line: str = ""
    reason: Reason | None = None


@dataclass(frozen=True)
class Limits:
    """Limits of a child process: seconds of wall clock and CPU, bytes of address space and of any file that it
    writes.
    """

    wall_seconds: int = 3600
    cpu_seconds: int | None = None
    address_space_bytes: int | None = None
    file_size_bytes: int | None = None
    grace_seconds: int = 10

    def __post_init__(self) -> None:
        for value in (self.wall_seconds, self.cpu_seconds, self.address_space_bytes, self.file_size_bytes):
            if value is not None and value < 1:
                raise ValueError("a limit is a positive number")


@dataclass(frozen=True)
class RunnerConfig:
    """What an installation gives a runner: the executable, the connection's declared environment, the limits.

    `environment` may hold secrets: it goes to the child's environment and is never written to a file.
    """

    executable: Path | None = None
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    limits: Limits = Limits()


class Runner(Protocol):
    """Starts, watches and stops one run per run folder.

    `spec` is plain JSON as the run's row stores it; each runner documents its fields and refuses others with
    `BadInput`.
    """

    def start(self, run_folder: Path, spec: Mapping[str, Any]) -> RunState:
        """Start the run, or adopt the one that this folder already has; never a second one beside it."""

    def poll(self, run_folder: Path) -> RunState:
        """What is known now; cheap, changes nothing, and needs nothing but the folder."""

    def cancel(self, run_folder: Path) -> None:
        """Ask the run to stop; a run that has not started yet will not start. The end shows in `poll`."""
