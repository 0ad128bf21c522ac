"""Stop a blocking driver call when its time is over."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from threading import Event, Thread

AGAIN = 0.05  # seconds; a stop that came before the call had begun is lost, so it is repeated


@contextmanager
def stop_after(limit: timedelta, stop: Callable[[], object]) -> Iterator[Event]:
    """Call `stop` from another thread once `limit` has passed, and again until the block is left.

    Yields an event that is set when the limit was reached."""
    done, reached = Event(), Event()

    def watch() -> None:
        if done.wait(limit.total_seconds()):
            return
        reached.set()
        stop()
        while not done.wait(AGAIN):
            stop()

    watcher = Thread(target=watch, name="warehouse-timeout", daemon=True)
    watcher.start()
    try:
        yield reached
    finally:
        done.set()
        watcher.join()
