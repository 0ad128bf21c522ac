"""Places at which a test can kill or delay this process. Inert unless the settings name one; always in production."""

from __future__ import annotations

import os
import signal
import time

from django.conf import settings


def hit(name: str) -> None:
    """Pass the place `name`.

    `FAILPOINTS = ["name"]` kills the process with SIGKILL here, `["name=once:/a/file"]` only the first that makes that
    file, so that whoever is started in its place lives; `["name=sleep:2"]` waits 2 seconds.
    """
    points = getattr(settings, "FAILPOINTS", ())
    if not points or getattr(settings, "SPELLBOOK_ENVIRONMENT", "") == "production":
        return
    for point in points:
        found, _, deed = point.partition("=")
        if found == name:
            _do(deed)


def _do(deed: str) -> None:
    if deed.startswith("sleep:"):
        time.sleep(float(deed.removeprefix("sleep:")))
    elif not deed.startswith("once:") or _first(deed.removeprefix("once:")):
        os.kill(os.getpid(), signal.SIGKILL)


def _first(marker: str) -> bool:
    try:
        os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True
