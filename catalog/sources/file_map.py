"""Which assets the files of a repository make, as a connection declares it: patterns on paths, in git's own way.

A pattern is a path from the repository's root. `*` and `?` stand for characters inside one name, `[a-c]` and `[!a-c]`
for one of some characters, `**` as a whole name for any number of folders (git's pathspecs with the magic `glob`, see
gitglossary). A pattern without any of these means a file, or a folder with all in it; one that ends in `/` means all in
that folder. Upper and lower case differ.

Every pattern that matches counts, not the last or the longest: a file makes all the assets of all of them. A pattern
with an empty list of assets says that its files make no table, which counts where no other pattern matches.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from foundation.errors import BadInput

MOST: Final = 1000
LONGEST: Final = 300
_SPECIAL: Final = re.compile(r"[*?\[]")
_ANY_DEPTH: Final = "**"


@dataclass(frozen=True, slots=True)
class FileRule:
    """Files by a pattern, and the names of the assets that they make; no name: they make no table."""

    pattern: str
    assets: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Mapped:
    """What the patterns say of one file: the assets that it makes, and those patterns that say that it makes none.

    Both empty: no pattern matches, and what the file makes is not known.
    """

    assets: tuple[str, ...] = ()
    harmless: tuple[str, ...] = ()


def read_file_map(value: object, where: str) -> tuple[FileRule, ...]:
    """The parameter `files` of a connection, a list of {"path": pattern, "asset": name | [names]}, at most 1,000.

    BadInput, which begins with `where`, for anything else.
    """
    if not isinstance(value, (list, tuple)):
        raise BadInput(f'{where}: files is a list of {{"path": "models/*.yaml", "asset": "a name"}}.')
    if len(value) > MOST:
        raise BadInput(f"{where}: files has {len(value):,} entries; at most {MOST:,} are read. Use patterns.")
    return tuple(_rule(entry, f"{where}: entry {number} of files") for number, entry in enumerate(value, 1))


def mapped(path: str, file_map: Iterable[FileRule]) -> Mapped:
    """What `file_map` says of the file at `path`."""
    found = [rule for rule in file_map if matches(rule.pattern, path)]
    assets = dict.fromkeys(name for rule in found for name in rule.assets)
    return Mapped(tuple(assets), tuple(dict.fromkeys(rule.pattern for rule in found if not rule.assets)))


def matches(pattern: str, path: str) -> bool:
    """Whether a pattern means the file at `path`. It takes at most as long as both are long, multiplied."""
    start = _SPECIAL.search(pattern)
    if not path.startswith(pattern[: start.start()] if start else pattern):
        return False
    if start is None:
        return pattern.endswith("/") or path[len(pattern) :][:1] in ("", "/")
    return _fits(_parts(pattern), path.split("/"))


def _fits(wanted: Sequence[re.Pattern[str] | None], names: Sequence[str]) -> bool:
    """None in `wanted` stands for any number of folders; only the last one met is ever tried again."""
    at = here = 0
    again: tuple[int, int] | None = None
    while here < len(names):
        part = wanted[at] if at < len(wanted) else None
        if at < len(wanted) and part is None:
            again, at = (at, here), at + 1
        elif part is not None and part.match(names[here]):
            at, here = at + 1, here + 1
        elif again is None:
            return False
        else:
            again = (again[0], again[1] + 1)
            at, here = again[0] + 1, again[1]
    return all(part is None for part in wanted[at:])


@lru_cache(maxsize=4 * MOST)
def _parts(pattern: str) -> tuple[re.Pattern[str] | None, ...]:
    parts = (f"{pattern}{_ANY_DEPTH}" if pattern.endswith("/") else pattern).split("/")
    if parts[-1] == _ANY_DEPTH:
        parts.append("*")  # what is in a folder, not the folder itself
    return tuple(None if part == _ANY_DEPTH else re.compile(fnmatch.translate(_as_python(part))) for part in parts)


def _as_python(part: str) -> str:
    """git takes `[^a]` for `[!a]`, and Python does not."""
    return part.replace("[^", "[!")


def _rule(entry: object, where: str) -> FileRule:
    if not isinstance(entry, Mapping) or set(entry) != {"path", "asset"}:
        raise BadInput(f'{where} is not of the form {{"path": "...", "asset": "..."}}.')
    given = entry["asset"]
    names = list(given) if isinstance(given, (list, tuple)) else [given]
    assets = [
        _text(name, f"{where}: asset is a name or a list of names; an empty list means no table.") for name in names
    ]
    return FileRule(_pattern(_text(entry["path"], f"{where}: path is a text."), where), tuple(dict.fromkeys(assets)))


def _text(value: object, says: str) -> str:
    if not isinstance(value, str) or not value.strip() or not value.isprintable():
        raise BadInput(says)
    if len(value) > LONGEST:
        raise BadInput(f"{says} It has at most {LONGEST} characters.")
    return value.strip()


def _pattern(text: str, where: str) -> str:
    said = f"{where}: the path {text!r}"
    if "\\" in text:
        raise BadInput(f"{said} has a backslash; folders are set apart by /.")
    if text.startswith("!"):
        raise BadInput(f"{said} begins with !; say what matches, not what does not.")
    folders = text.removesuffix("/").split("/")
    if {"", ".", ".."} & set(folders):
        raise BadInput(f"{said} is no path from the root of the repository, such as models/**/*.yaml.")
    if any(_ANY_DEPTH in part and part != _ANY_DEPTH for part in folders):
        raise BadInput(f"{said} has ** beside other characters; it stands alone, for folders, as in models/**/*.yaml.")
    if any(_open_bracket(part) for part in folders):
        raise BadInput(f"{said} has a [ without its ].")
    if "[:" in text:
        raise BadInput(f"{said} names a class of characters; list the characters, as in [a-z].")
    return text


def _open_bracket(part: str) -> bool:
    """Whether a [ stays open. A ] right behind it, or behind its ! or ^, is one of the characters."""
    return "[" in re.sub(r"\[[!^]?+\]?+[^\]]*\]", "", part)
