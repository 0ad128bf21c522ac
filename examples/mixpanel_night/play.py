"""Plays the night on a running site: every person and every other system of it; the product knows nothing of it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import httpx

from examples.mixpanel_night.figures import asked_rows
from examples.mixpanel_night.playing import Night, prepare
from examples.mixpanel_night.site import ROOT, Stuck
from examples.mixpanel_night.stages import STAGES


@contextmanager
def running(night: Night) -> Iterator[subprocess.Popen[bytes]]:
    """The site with its workers; ended when the block fails or EXIT=1."""
    up = subprocess.Popen([sys.executable, "manage.py", "up"], cwd=ROOT, env=night.site.environment)
    try:
        silent = "no answer at /healthz"
        night.site.wait("the site", lambda: alive(night, up), lambda: silent, log="web.log")
        yield up
    except BaseException:
        stop(up)
        raise


def alive(night: Night, up: subprocess.Popen[bytes]) -> bool:
    if up.poll() is not None:
        raise Stuck("the site", f"`manage.py up` ended with exit code {up.returncode}, as it says above", "")
    try:
        return httpx.get(f"{night.site.address}/healthz", timeout=2).status_code == 200
    except httpx.HTTPError:
        return False


def stop(up: subprocess.Popen[bytes]) -> None:
    if up.poll() is None:
        up.send_signal(signal.SIGTERM)
        up.wait(30)


def play(night: Night) -> None:
    """All stages in their order."""
    for night.stage, work in STAGES:
        work(night)


def stopped(night: Night, why: Stuck) -> str:
    """Where the night stopped, what was awaited, what was seen, and which log says more; one sentence."""
    more = f"; read {night.data / 'log' / why.log}" if why.log else ""
    seen = why.seen.rstrip(".")
    return f"The night stopped in stage {night.stage}; awaited: {why.awaited}; seen: {seen}{more}."


def main() -> int:
    """EXIT=1 ends what it started, MANUAL=1 waits for your decision, ROWS makes it small, PORT moves the site."""
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))  # the site is ended on the way out
    night = Night(asked_rows(None), int(os.environ.get("PORT") or 8000), os.environ.get("MANUAL") == "1")
    try:
        return perform(night)
    except Stuck as why:
        print(stopped(night, why), file=sys.stderr)
        return 1


def perform(night: Night) -> int:
    """The estate before tonight, the site, all stages; the exit code. Stuck when one of them does not come about."""
    shutil.rmtree(night.data, ignore_errors=True)
    prepare(night)
    with running(night) as up:
        night.say(f"{night.rows:,} rows; everybody's sign-in:", "/sign-in")
        for email, password in night.sign_ins.items():
            print(f"{'':<18} {email} {password}")
        play(night)
        peak = int((night.data / "run" / "peak_pss").read_text(encoding="utf-8")) / 1_000_000
        print(
            f"Played in {time.monotonic() - night.began:.0f} s; peak of the summed PSS of all processes {peak:,.0f} MB."
        )
        if os.environ.get("EXIT") == "1":
            stop(up)
            return 0
        print(f"The site goes on at {night.site.address} (Ctrl-C ends it).")
        try:
            return up.wait()
        except KeyboardInterrupt:
            stop(up)
            return 0


if __name__ == "__main__":
    sys.exit(main())
