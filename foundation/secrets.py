"""Secrets are named, never stored: a variable SPELLBOOK_CONN_… or a file inside SPELLBOOK_SECRETS_DIR.

No message, log or repr shows a value; an error names the name only.
"""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

from django.conf import settings

from foundation.errors import BadInput, Unavailable

_VARIABLE = re.compile(r"SPELLBOOK_CONN_[A-Z0-9_]+")
_FILE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_LIMIT = 64 * 1024  # bytes; a key file is far smaller


def check_name(name: str) -> str:
    """The name, if a connection may name it; BadInput otherwise. Nothing is read."""
    if name.startswith("SPELLBOOK_"):
        if _VARIABLE.fullmatch(name):
            return name
        raise BadInput(
            "A secret variable's name begins with SPELLBOOK_CONN_ and holds capitals, digits and underscores."
        )
    if not _FILE.fullmatch(name):
        raise BadInput("A secret is a variable SPELLBOOK_CONN_… or a plain file name inside SPELLBOOK_SECRETS_DIR.")
    return name


def secret(name: str) -> str:
    """The secret's text without a closing line break.

    BadInput for a name that is not allowed, Unavailable when it is not there.
    """
    check_name(name)
    if name.startswith("SPELLBOOK_"):
        value = os.environ.get(name, "")
        if not value:
            raise Unavailable(f"The variable {name} is not set.")
        return value
    return _from_file(name)


def _from_file(name: str) -> str:
    folder = Path(settings.SPELLBOOK_SECRETS_DIR).resolve()
    # A mounted secret is a link inside its folder; a link that leads out of it could name any file of this machine.
    path = (folder / name).resolve()
    if not path.is_relative_to(folder):
        raise BadInput(f"The secret file {name} leads out of SPELLBOOK_SECRETS_DIR.")
    try:
        text = _read(path).decode("utf-8").rstrip("\r\n")
    except (OSError, UnicodeDecodeError):
        raise Unavailable(f"The secret file {name} cannot be read.") from None
    if not text:
        raise Unavailable(f"The secret file {name} is empty.")
    return text


def _read(path: Path) -> bytes:
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError("not a regular file")
        data = file.read(_LIMIT + 1)
    if len(data) > _LIMIT:
        raise OSError("too large")
    return data
