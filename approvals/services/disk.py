"""What the disk refuses, in one sentence."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from foundation.errors import Unavailable

FULL = (errno.ENOSPC, errno.EDQUOT)


@contextmanager
def writing(what: str) -> Iterator[None]:
    """Do work on files; Unavailable, naming `what`, when the disk is full or cannot be written."""
    try:
        yield
    except OSError as error:
        why = "the disk is full" if error.errno in FULL else f"its folder cannot be written ({error.strerror})"
        raise Unavailable(f"{what} could not be prepared: {why}.") from error
