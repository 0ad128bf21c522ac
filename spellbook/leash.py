"""Run as a script: `leash.py PARENT COMMAND…` becomes COMMAND, and the kernel kills it when the process PARENT ends.

A separate script, because a hook between fork and exec is unsafe in a process with threads (prctl(2), PR_SET_PDEATHSIG;
the setting outlives exec). Imports nothing of the product, so that a child costs no extra start.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def main(parent: int, command: list[str]) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it died before the line above
        sys.exit(1)
    os.execv(command[0], command)  # noqa: S606 -- a shell is what we do not want


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
