"""A hard end for a call that may hang: the process's own alarm."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """Raise TimeoutError in the block after `seconds`.

    Alarms reach only a process's main thread (where a worker runs its tasks); in another thread the block runs
    without one and has to rely on its own timeouts. An alarm that somebody else had set goes on afterwards with the
    time it had left.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    started = time.monotonic()
    previous = signal.signal(signal.SIGALRM, _ring)
    left, interval = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
        if left:
            signal.setitimer(signal.ITIMER_REAL, max(left - (time.monotonic() - started), 0.001), interval)


def _ring(number: int, frame: FrameType | None) -> None:
    raise TimeoutError("no answer in time")
