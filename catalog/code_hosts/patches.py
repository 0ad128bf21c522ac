"""Patches as texts, written from files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from difflib import unified_diff as difflib_unified_diff
from typing import Final

from catalog.code_hosts.git_process import checked_path
from foundation.errors import BadInput

NO_NEWLINE: Final = "\\ No newline at end of file\n"
PLAIN: Final = re.compile(r'[^"\\\x00-\x1f\x7f]+')


def unified_diff(files_before: Mapping[str, str], files_after: Mapping[str, str]) -> str:
    """A patch in git's form that turns the first files into the second (path -> text, as `git apply` takes it).

    A path only in the second is a new file, one only in the first a deleted one, equal texts leave no trace.
    Raises BadInput for a path that leaves the tree or a text with null characters."""
    paths = sorted(set(files_before) | set(files_after))
    return "".join(_file_patch(path, files_before.get(path), files_after.get(path)) for path in paths)


def _file_patch(path: str, before: str | None, after: str | None) -> str:
    if before == after:
        return ""
    old, new = _quoted(f"a/{checked_path(path)}"), _quoted(f"b/{path}")
    kind = "new file mode 100644\n" if before is None else "deleted file mode 100644\n" if after is None else ""
    heading = f"diff --git {old} {new}\n{kind}"
    body = "".join(_hunks(_lines(before or ""), _lines(after or "")))
    if not body:
        return heading
    names = ("/dev/null" if before is None else _named(old), "/dev/null" if after is None else _named(new))
    return f"{heading}--- {names[0]}\n+++ {names[1]}\n{body}"


def _hunks(before: list[str], after: list[str]) -> Iterator[str]:
    for number, line in enumerate(difflib_unified_diff(before, after)):
        if number >= 2:  # the first two are difflib's own file names
            yield line if line.endswith("\n") else f"{line}\n{NO_NEWLINE}"


def _lines(text: str) -> list[str]:
    if "\0" in text:
        raise BadInput("a file with null characters cannot be written as a patch")
    return re.findall(r"[^\n]*\n|[^\n]+", text)  # str.splitlines would also split at form feeds and U+2028


def _quoted(path: str) -> str:
    """git's C-style quoting, used only where a name needs it."""
    if PLAIN.fullmatch(path):
        return path
    marks = {'"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}
    return '"' + "".join(marks.get(c) or (f"\\{ord(c):03o}" if c < " " or c == "\x7f" else c) for c in path) + '"'


def _named(path: str) -> str:
    return f"{path}\t" if " " in path and not path.startswith('"') else path  # the tab ends a name with blanks
