"""The base file of the graph: the arrays of one version, mapped into memory by every process of a machine.

It is a cache. Any machine makes it from the database; a file that is torn, of another database or of a version that was
rolled back is not used, and a folder that cannot be written costs time, nothing else. Only machine integers are in it.
"""

from __future__ import annotations

import hashlib
import json
import logging
import mmap
import os
import re
import tempfile
import zlib
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from django.conf import settings
from django.db import connection
from numpy.typing import NDArray

from catalog.graph.neighbours import Neighbours
from catalog.graph.walks import Adjacency

MAGIC = b"spellbook graph 1\n"
ALIGNED = 64
KEPT = 2
_NAME = re.compile(r"(?P<database>[0-9a-f]{16})-(?P<version>[0-9]{1,18})\.graph")
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Base:
    """A file that holds the graph of `version` of this database."""

    path: Path
    version: int


def found() -> list[Base]:
    """The base files of this database."""
    database, bases = _database(), []
    with suppress(OSError):
        for path in _folder().iterdir():
            name = _NAME.fullmatch(path.name)
            if name and name["database"] == database:
                bases.append(Base(path, int(name["version"])))
    return bases


def load(base: Base, at: datetime | None) -> Adjacency | None:
    """The graph in a file, mapped; None when it cannot be used or is not that of the version made `at`."""
    try:
        with base.path.open("rb") as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        head, body = _parts(mapped)
        if head["at"] != _moment(at) or head["version"] != base.version:
            return None
        arrays = {name: _array(body, *where) for name, where in head["arrays"].items()}
        if zlib.crc32(body) != head["crc32"]:
            raise ValueError("its bytes are not those that were written")
        return _adjacency(base.version, arrays, head["kind_names"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        _log.warning("the graph file %s is not used: %s", base.path.name, error)
        return None


def save(graph: Adjacency, at: datetime | None) -> None:
    """Write the file of `graph`, whole or not at all, and drop those of this database that are older than a few."""
    body, places = _packed(_arrays(graph))
    head = {"version": graph.version, "at": _moment(at), "kind_names": graph.kind_names, "arrays": places}
    text = json.dumps(head | {"crc32": zlib.crc32(body)}).encode()
    text += b" " * (-(len(MAGIC) + 8 + len(text)) % ALIGNED)
    try:
        _write(_folder() / f"{_database()}-{graph.version}.graph", [MAGIC, len(text).to_bytes(8), text, body])
        for old in sorted(found(), key=lambda one: one.version)[:-KEPT]:
            old.path.unlink(missing_ok=True)
    except OSError as error:
        _log.warning("the graph file of version %s was not kept: %s", graph.version, error.strerror)


def _folder() -> Path:
    return Path(settings.SPELLBOOK_DATA_DIR) / "graph"


def _database() -> str:
    where = [str(connection.settings_dict[part]) for part in ("NAME", "HOST", "PORT")]
    return hashlib.sha256("\n".join(where).encode()).hexdigest()[:16]


def _moment(at: datetime | None) -> str:
    return at.isoformat() if at else ""


def _arrays(graph: Adjacency) -> dict[str, NDArray[Any]]:
    sides = {"down": graph.down, "up": graph.up}
    edges = {f"{name}.{part}": getattr(side, part) for name, side in sides.items() for part in ("starts", "indices")}
    return {"ids": graph.ids, "by_id": graph.by_id, "claims": graph.claims, "kinds": graph.kinds, **edges}


def _adjacency(version: int, arrays: dict[str, NDArray[Any]], kind_names: list[str]) -> Adjacency:
    down, up = (Neighbours(arrays[f"{side}.starts"], arrays[f"{side}.indices"]) for side in ("down", "up"))
    ids, by_id, claims, kinds = (arrays[name] for name in ("ids", "by_id", "claims", "kinds"))
    return Adjacency(version, ids, by_id, down, up, claims, kinds, tuple(kind_names))


def _packed(arrays: dict[str, NDArray[Any]]) -> tuple[bytes, dict[str, tuple[str, int, int]]]:
    body, places = bytearray(), {}
    for name, array in arrays.items():
        places[name] = (array.dtype.newbyteorder("<").str, int(array.size), len(body))
        body += np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False).tobytes()
        body += bytes(-len(body) % ALIGNED)
    return bytes(body), places


def _parts(mapped: mmap.mmap) -> tuple[dict[str, Any], memoryview]:
    view, start = memoryview(mapped), len(MAGIC) + 8
    if view[: len(MAGIC)] != MAGIC:
        raise ValueError("it does not begin as one")
    length = int.from_bytes(view[len(MAGIC) : start])
    head: dict[str, Any] = json.loads(bytes(view[start : start + length]))
    return head, view[start + length :]


def _array(body: memoryview, dtype: str, count: int, offset: int) -> NDArray[Any]:
    return np.frombuffer(body, dtype=np.dtype(dtype), count=count, offset=offset)


def _write(path: Path, parts: list[bytes]) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.writelines(parts)
        os.replace(name, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise
