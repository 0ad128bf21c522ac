"""The edits of a patch, file by file: which lines are replaced at which place. Pure; for comparing two patches.

The format is that of `git diff`, which GitHub gives as well (git-diff, "Generating patch text with -p").
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from unidiff.errors import UnidiffParseError
from unidiff.patch import Hunk, PatchedFile, PatchSet

from foundation.errors import BadInput

_NOWHERE: Final = "/dev/null"
_INDEX: Final = re.compile(r"^index ([0-9a-f]{4,64})\.\.[0-9a-f]{4,64}", re.MULTILINE)
_MODE: Final = re.compile(r"^(old mode|new mode|new file mode|rename|copy) ?(.*)$", re.MULTILINE)
_PLAIN_FILE: Final = ("new file mode", "100644")
_ESCAPED: Final = re.compile(rb"\\([0-7]{3}|.)", re.DOTALL)
_ESCAPES: Final = {b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}


@dataclass(frozen=True, slots=True)
class Edit:
    """`removed` are the lines that begin at line `start` (from 1) of the old text, `added` those that take their place;
    with nothing removed they are put in before that line. Each line with its line feed, where it has one."""

    start: int
    removed: tuple[str, ...]
    added: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FileEdits:
    """What a patch does to the file `path` (its new name, its old one where it goes).

    `traits` are what it does besides its lines: a new or deleted file, another name or mode, binary content. `old_id`
    is the beginning of git's id of the old content, "" where the patch does not say it.
    """

    path: str
    edits: tuple[Edit, ...]
    traits: tuple[str, ...] = ()
    old_id: str = ""


def edits_by_file(patch: str) -> dict[str, FileEdits]:
    """What a patch does to each file, by path. BadInput for a text that is no patch."""
    try:
        files = list(PatchSet.from_string(patch))
    except UnidiffParseError as error:
        raise BadInput("the text is not a patch") from error
    if not files and patch.strip():
        raise BadInput("the text is not a patch")
    found = [_file(one) for one in files]
    by_path = {one.path: one for one in found}
    if len(by_path) < len(found):
        raise BadInput("the patch names a file twice")
    return by_path


def applied(text: str, edits: Sequence[Edit]) -> str:
    """`text` with the edits made. BadInput when a line that an edit removes is not there."""
    lines = re.findall(r"[^\n]*\n|[^\n]+", text)
    made: list[str] = []
    at = 0
    for edit in sorted(edits, key=lambda one: one.start):
        start = edit.start - 1
        end = start + len(edit.removed)
        if start < at or end > len(lines) or tuple(lines[start:end]) != edit.removed:
            raise BadInput(f"the patch does not fit the file at line {edit.start}")
        made += [*lines[at:start], *edit.added]
        at = end
    return "".join([*made, *lines[at:]])


def is_content(object_id: str, data: bytes) -> bool:
    """Whether `object_id`, whole or its beginning, is git's id of this content (gitformat-loose: SHA-1 or SHA-256)."""
    whole = b"blob %d\0" % len(data) + data
    ids = (hashlib.sha1(whole, usedforsecurity=False).hexdigest(), hashlib.sha256(whole).hexdigest())
    return bool(object_id) and any(one.startswith(object_id) for one in ids)


def _file(file: PatchedFile) -> FileEdits:
    heading = str(file.patch_info or "")
    old, new = _bare(str(file.source_file), "a/"), _bare(str(file.target_file), "b/")
    index = _INDEX.search(heading)
    return FileEdits(
        path=old if new == _NOWHERE else new,
        edits=tuple(edit for hunk in file for edit in _edits(hunk)),
        traits=tuple(_traits(file, heading, old, new)),
        old_id=index[1] if index is not None and index[1].strip("0") else "",
    )


def _traits(file: PatchedFile, heading: str, old: str, new: str) -> Iterator[str]:
    if _NOWHERE in (old, new):
        yield "new" if old == _NOWHERE else "deleted"
    elif old != new:
        yield f"was {old}"
    if file.is_binary_file:
        yield "binary"
    yield from (" ".join(found) for found in _MODE.findall(heading) if found != _PLAIN_FILE)


def _edits(hunk: Hunk) -> Iterator[Edit]:
    at = int(hunk.source_start) + (0 if hunk.source_length else 1)
    removed: list[str] = []
    added: list[str] = []
    last: list[str] = []
    for line in hunk:
        if line.line_type == "\\":  # the line before it has no line feed
            if last:
                last[-1] = last[-1].removesuffix("\n")
            continue
        if line.line_type in ("-", "+"):
            last = removed if line.line_type == "-" else added
            last.append(str(line.value))
            continue
        if removed or added:
            yield Edit(at, tuple(removed), tuple(added))
        at, removed, added, last = at + len(removed) + 1, [], [], []
    if removed or added:
        yield Edit(at, tuple(removed), tuple(added))


def _bare(name: str, side: str) -> str:
    """A path without the side it stands on, without git's quotes."""
    plain = name.split("\t", 1)[0]
    if len(plain) > 1 and plain[0] == plain[-1] == '"':
        plain = _ESCAPED.sub(_letter, plain[1:-1].encode()).decode("utf-8", "replace")
    return plain if plain == _NOWHERE else plain.removeprefix(side)


def _letter(found: re.Match[bytes]) -> bytes:
    said = found[1]
    return bytes([int(said, 8)]) if len(said) == 3 and int(said, 8) < 256 else _ESCAPES.get(said, said)
