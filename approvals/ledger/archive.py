"""A zip archive with exactly one accepted form: stored entries, sorted names, fixed dates, nothing else.

The same files always give the same bytes, and a reader that rebuilds the archive and compares sees every foreign byte:
comments, extra fields, data between or after entries, doubled names (APPNOTE.TXT 4.3, without compression and Zip64).
"""

from __future__ import annotations

import io
import re
import struct
import zipfile
import zlib
from collections.abc import Mapping

from approvals.ledger.errors import NotVerified, Part

MAX_BYTES = 256 * 1024 * 1024
MAX_ENTRIES = 10_000
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*(?:/[A-Za-z0-9][A-Za-z0-9._-]*)*")
_DATE_1980 = 0x0021
_UNIX_FILE_0644 = 0o100644 << 16


def pack(files: Mapping[str, bytes]) -> bytes:
    """The archive of `files` (name to content); `ValueError` for a name or size that it cannot hold."""
    if len(files) > MAX_ENTRIES or sum(map(len, files.values())) > MAX_BYTES:
        raise ValueError("too much for one archive")
    body, directory = bytearray(), bytearray()
    for name in sorted(files):
        if not _NAME.fullmatch(name):
            raise ValueError("not a name for an archive")
        common = _common_fields(name, files[name])
        directory += struct.pack("<IH", 0x02014B50, 0x0314) + common
        directory += struct.pack("<HHHII", 0, 0, 0, _UNIX_FILE_0644, len(body)) + name.encode()
        body += struct.pack("<I", 0x04034B50) + common + name.encode() + files[name]
    end = struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, len(files), len(files), len(directory), len(body), 0)
    return bytes(body + directory + end)


def _common_fields(name: str, content: bytes) -> bytes:
    size = len(content)
    return struct.pack("<HHHHHIIIHH", 20, 0, 0, 0, _DATE_1980, zlib.crc32(content), size, size, len(name), 0)


def unpack(data: bytes) -> dict[str, bytes]:
    """The files of an archive that `pack` made; `NotVerified` (archive) for any other bytes."""
    if len(data) > MAX_BYTES:
        raise NotVerified(Part.ARCHIVE, "The bundle is too large.")
    try:
        files = _read(data)
        same = pack(files) == data
    except (zipfile.BadZipFile, ValueError, NotImplementedError, RuntimeError, EOFError, OSError, struct.error):
        same = False
    if not same:
        raise NotVerified(Part.ARCHIVE, "The bundle's archive was changed or is not one of ours.")
    return files


def _read(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = archive.infolist()
        if len(entries) > MAX_ENTRIES or any(entry.compress_type != zipfile.ZIP_STORED for entry in entries):
            raise ValueError("compressed or too many entries")
        if sum(entry.file_size for entry in entries) > MAX_BYTES:
            raise ValueError("too large")
        return {entry.filename: archive.read(entry) for entry in entries}
