"""Copies of a customer's DuckDB file, so that no query ever holds the file itself.

A DuckDB file has one writer or many readers; a reader locks the customer's build out. The file is therefore
opened only for as long as it takes to copy it, and all queries go to the copy. A copy is shared by every
process on the machine while file and write-ahead log are unchanged.

    <cache>/<hash of the file's path>/lock           held by the one process that copies
                                     /copy-<key>/    a copy; the directory is share-locked while in use
                                     /new-<random>/  a copy being made
"""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

from catalog.warehouses.duckdb_source import Source, let_clock_tick, opened, state_of, until
from foundation.errors import Unavailable

FULL = (errno.ENOSPC, errno.EDQUOT)


@contextmanager
def copy_of(source: Source, *, wait: timedelta) -> Iterator[Path]:
    """The path of a copy that equals the file as it is now; it stays until the block is left.

    Waits at most `wait` for a process that holds the file. Raises Unavailable: locked for longer than that,
    no such file, not a DuckDB file, or no room for the copy (then nothing is left behind)."""
    give_up = time.monotonic() + wait.total_seconds()
    with _disk_full_said(source):
        source.room.mkdir(mode=0o700, parents=True, exist_ok=True)
        held = _hold_current(source)
        while held is None:
            held = _make(source, give_up)
    try:
        yield held.directory / source.copy_name
    finally:
        held.release(superseded=_is_superseded(source, held.directory))


@dataclass(frozen=True)
class _Held:
    directory: Path
    descriptor: int

    def release(self, *, superseded: bool) -> None:
        try:
            if superseded and _try_lock(self.descriptor):
                _discard(self.directory)
        finally:
            os.close(self.descriptor)


def _hold_current(source: Source) -> _Held | None:
    return _hold(source.room / state_of(source))


def _hold(directory: Path) -> _Held | None:
    """Share-lock a copy's directory; None when there is none, or when it was removed meanwhile."""
    try:
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError:
        return None
    fcntl.flock(descriptor, fcntl.LOCK_SH)
    with suppress(FileNotFoundError):
        if directory.stat().st_ino == os.fstat(descriptor).st_ino:
            return _Held(directory, descriptor)
    os.close(descriptor)
    return None


def _make(source: Source, give_up: float) -> _Held | None:
    descriptor = os.open(source.room / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        until(give_up, source, lambda: _try_lock(descriptor))
        current = _hold_current(source)  # another process may have made it while we waited
        return current or _hold(_copy(source, give_up))
    finally:
        os.close(descriptor)


def _copy(source: Source, give_up: float) -> Path:
    _discard_unused(source)
    new = source.room / f"new-{uuid4().hex}"
    new.mkdir(mode=0o700)
    try:
        connection = opened(source, give_up)
        try:
            let_clock_tick(source.file)
            copy = source.room / state_of(source)
            files = _copy_files(source, new)
        finally:
            connection.close()
        for file in files:
            _flush(file)
        new.rename(copy)
    except BaseException:
        shutil.rmtree(new, ignore_errors=True)
        raise
    return copy


def _copy_files(source: Source, into: Path) -> list[Path]:
    files = [Path(shutil.copyfile(source.file, into / source.copy_name))]
    with suppress(FileNotFoundError):
        files.append(Path(shutil.copyfile(source.log, into / f"{source.copy_name}.wal")))
    return files


def _flush(file: Path) -> None:
    """Onto the disk before the rename: after a power cut a copy is whole or not there."""
    with file.open("rb") as stream:
        os.fsync(stream.fileno())


def _is_superseded(source: Source, directory: Path) -> bool:
    try:
        return source.room / state_of(source) != directory
    except Unavailable:
        return True


def _discard_unused(source: Source) -> None:
    """Remove unfinished copies of processes that died, and copies that nobody reads. Needs the room's lock."""
    for path in source.room.iterdir():
        if path.name.startswith("new-"):
            shutil.rmtree(path, ignore_errors=True)
        elif path.name.startswith("copy-"):
            _discard_if_unused(path)


def _discard_if_unused(copy: Path) -> None:
    try:
        descriptor = os.open(copy, os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError:
        return  # its last reader removed it meanwhile
    try:
        if _try_lock(descriptor):
            _discard(copy)
    finally:
        os.close(descriptor)


def _discard(directory: Path) -> None:
    """Remove a copy whose directory this process has locked exclusively; first out of sight, then away."""
    hidden = directory.with_name(f"new-{uuid4().hex}")
    with suppress(FileNotFoundError):
        directory.rename(hidden)
    shutil.rmtree(hidden, ignore_errors=True)


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def _disk_full_said(source: Source) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno not in FULL:
            raise Unavailable(f"not evaluated: the DuckDB file {source.file.name} cannot be copied") from error
        raise Unavailable(
            f"not evaluated: the disk is full, there is no room for a copy of the DuckDB file {source.file.name}"
        ) from error
