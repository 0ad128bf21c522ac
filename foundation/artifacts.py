"""Files by their content: written once under the SHA-256 of their bytes, whole or not at all."""

from __future__ import annotations

import errno
import os
import re
import tempfile
from pathlib import Path

from django.conf import settings

from foundation.canonical import sha256_hex
from foundation.errors import BadInput, NotFound, Unavailable

_DIGEST = re.compile(r"[0-9a-f]{64}")


def store(data: bytes) -> str:
    """Keep the bytes, synced to disk, and return their SHA-256 (hex).

    Unavailable when the disk is full or not writable.
    """
    digest = sha256_hex(data)
    path = _path(digest)
    try:
        if not (path.exists() and path.stat().st_size == len(data)):
            _write(path, data)
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        reason = "the disk is full" if full else os.strerror(error.errno or errno.EIO)
        raise Unavailable(f"The file could not be stored: {reason}; nothing was kept.") from None
    return digest


def load(sha256: str) -> bytes:
    """The bytes of that digest.

    NotFound when they were never stored, Unavailable when they cannot be read or are damaged.
    """
    path = _path(sha256)
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise NotFound(f"No file {sha256[:12]}… is stored here.") from None
    except OSError:
        raise Unavailable(f"The stored file {sha256[:12]}… cannot be read.") from None
    if sha256_hex(data) != sha256:
        raise Unavailable(f"The stored file {sha256[:12]}… is damaged.")
    return data


def _path(digest: str) -> Path:
    if not _DIGEST.fullmatch(digest):
        raise BadInput("A digest has 64 hexadecimal digits.")
    return Path(settings.ARTIFACTS_DIR) / digest[:2] / digest[2:]


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".new-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """Without this the new name may be lost in a power cut although the bytes are not."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
