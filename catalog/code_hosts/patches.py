"""Patches as texts: written from files, and compared with each other."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from difflib import unified_diff as difflib_unified_diff
from typing import Final

from unidiff.errors import UnidiffParseError
from unidiff.patch import PatchedFile, PatchSet

from catalog.code_hosts.git_process import checked_path
from foundation.errors import BadInput

NO_NEWLINE: Final = "\\ No newline at end of file\n"
PLAIN: Final = re.compile(r'[^"\\\x00-\x1f\x7f]+')
Change = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]


def unified_diff(files_before: Mapping[str, str], files_after: Mapping[str, str]) -> str:
    """A patch in git's form that turns the first files into the second (path -> text, as `git apply` takes it).

    A path only in the second is a new file, one only in the first a deleted one, equal texts leave no trace.
    Raises BadInput for a path that leaves the tree or a text with null characters."""
    paths = sorted(set(files_before) | set(files_after))
    return "".join(_file_patch(path, files_before.get(path), files_after.get(path)) for path in paths)


def same_change(patch_a: str, patch_b: str) -> bool:
    """Whether two patches touch the same files and remove and add the same lines in the same order in each.

    Context, line numbers and object ids do not count, except where the content is binary and only the ids tell.
    Raises BadInput when a text is not a patch."""
    return _changes(patch_a) == _changes(patch_b)


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


def _changes(patch: str) -> dict[str, Change]:
    try:
        files = list(PatchSet.from_string(patch))
    except UnidiffParseError as error:
        raise BadInput("the text is not a patch") from error
    if not files and patch.strip():
        raise BadInput("the text is not a patch")
    changes: dict[str, Change] = {}
    for file in files:
        name = f"{_bare(file.source_file)} -> {_bare(file.target_file)}"
        if name in changes:
            raise BadInput(f"the patch names the file {file.path} twice")
        changes[name] = (_traits(file), _changed(file, "-"), _changed(file, "+"))
    return changes


def _bare(name: str) -> str:
    return name.split("\t", 1)[0]


def _traits(file: PatchedFile) -> tuple[str, ...]:
    """What a patch says of a file beside its lines: modes and renames; for binary content the object ids."""
    heading = [line.strip() for line in str(file.patch_info or "").split("\n")]
    kept = ("old mode", "new mode", "new file mode", "rename", "copy")
    ids = ("index", "Binary", "GIT binary") if file.is_binary_file else ()
    # The mode of a deleted file was not part of the change.
    gone = ("deleted",) if any(line.startswith("deleted file mode") for line in heading) else ()
    return gone + tuple(line for line in heading if line.startswith(kept + ids))


def _changed(file: PatchedFile, sign: str) -> tuple[str, ...]:
    lines: list[str] = []
    for hunk in file:
        previous = ""
        for line in hunk:
            if line.line_type == sign:
                lines.append(line.value)
            elif line.line_type == "\\" and previous == sign:
                lines.append(NO_NEWLINE)
            previous = line.line_type
    return tuple(lines)
