from __future__ import annotations

import signal
import threading
import time

import pytest

from foundation.deadline import deadline


def wait_for(seconds: float) -> None:
    with deadline(seconds):
        time.sleep(30)


def test_a_call_that_hangs_is_cut_off() -> None:
    with pytest.raises(TimeoutError):
        wait_for(0.05)


def test_a_call_in_time_leaves_no_alarm_behind() -> None:
    before = signal.getsignal(signal.SIGALRM)
    with deadline(5):
        pass
    assert signal.getsignal(signal.SIGALRM) is before


def test_an_alarm_that_was_set_before_goes_on() -> None:
    rang: list[int] = []
    handler = signal.signal(signal.SIGALRM, lambda number, frame: rang.append(number))
    timer = signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        with pytest.raises(TimeoutError):
            wait_for(0.05)
        signal.sigtimedwait([], 1)
        assert rang == [signal.SIGALRM]
    finally:
        signal.signal(signal.SIGALRM, handler)
        signal.setitimer(signal.ITIMER_REAL, *timer)


def test_in_another_thread_the_call_runs_without_an_alarm() -> None:
    done: list[bool] = []

    def work() -> None:
        with deadline(0.01):
            done.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == [True]
