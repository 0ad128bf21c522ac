"""One file out of a zip that somebody else packed. Nothing is written, so that names in it lead nowhere."""

from __future__ import annotations

import zipfile
import zlib
from typing import IO

from foundation.errors import BadInput, NotFound

MOST_MEMBERS = 10_000
RATIO = 200  # how many times larger than packed; JSON reaches 30
SMALL = 10 * 1024 * 1024  # below this a ratio does no harm
_METHODS = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})


def member(file: IO[bytes], name: str, largest: int, what: str) -> bytes:
    """The bytes of the member `name`, or of the only one whose path ends in /`name`.

    `what` names the zip in words. NotFound when there is no such member; BadInput when the file is no zip, holds too
    many members, several that would do, or one that is too large, encrypted, broken, or packed as a bomb is.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            info = _chosen(archive, name, what)
            _check(info, largest, what)
            with archive.open(info) as stream:
                data = stream.read(largest + 1)
                # The zip says what size it likes: what comes out counts, and its checksum, which zipfile compares.
                if len(data) > largest:
                    raise BadInput(_too_large(info, largest, what))
                return data
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, NotImplementedError, RuntimeError):
        raise BadInput(f"{what} is not a whole zip file.") from None


def _chosen(archive: zipfile.ZipFile, name: str, what: str) -> zipfile.ZipInfo:
    infos = [info for info in archive.infolist() if not info.is_dir()]
    if len(infos) > MOST_MEMBERS:
        raise BadInput(f"{what} holds more than {MOST_MEMBERS:,} files.")
    exact = [info for info in infos if info.filename == name]
    found = exact or [info for info in infos if info.filename.endswith(f"/{name}")]
    if not found:
        raise NotFound(f"{what} holds no file {name}.")
    if len(found) > 1:
        raise BadInput(f"{what} holds {len(found)} files {name}; keep only one of them in it.")
    return found[0]


def _check(info: zipfile.ZipInfo, largest: int, what: str) -> None:
    if info.flag_bits & 0x1:
        raise BadInput(f"{what} is encrypted.")
    if info.compress_type not in _METHODS:
        raise BadInput(f"{what} is packed in a way that is not read; use the ordinary one (deflate).")
    if info.file_size > largest:
        raise BadInput(_too_large(info, largest, what))
    if info.file_size > max(SMALL, info.compress_size * RATIO):
        raise BadInput(f"{what} unpacks to more than {RATIO} times its size, which no manifest does.")


def _too_large(info: zipfile.ZipInfo, largest: int, what: str) -> str:
    return f"{info.filename[:200]!r} in {what} is larger than {largest / 2**20:,.0f} MB."
