"""A patch as lines for a page: unified, with marks, line numbers and colours by class (unidiff and Pygments)."""

from __future__ import annotations

from dataclasses import dataclass, field

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexer import Lexer
from pygments.lexers import get_lexer_for_filename
from pygments.lexers.special import TextLexer
from pygments.util import ClassNotFound
from unidiff.errors import UnidiffParseError
from unidiff.patch import Line, PatchedFile, PatchSet

from foundation.unseen import visible

MOST_LINES = 1500
MARKS = {"+": "ins", "-": "del", " ": "same"}
_FORMATTER: HtmlFormatter[str] = HtmlFormatter(nowrap=True, classprefix="t-")


@dataclass(frozen=True)
class Row:
    """One line: `kind` is ins, del or same; `html` is escaped and coloured."""

    kind: str
    mark: str
    old: int | None
    new: int | None
    html: SafeString


@dataclass(frozen=True)
class File:
    """One file of a patch; `cut` counts the lines that are left out of a long one."""

    path: str
    added: int
    removed: int
    new: bool
    hunks: list[list[Row]] = field(default_factory=list)
    cut: int = 0


def files(patch: str) -> list[File] | None:
    """The files of a patch with their lines; None when the text is no patch, so that the page shows it as it is."""
    try:
        parsed = PatchSet(patch)
    except UnidiffParseError:
        return None
    return [_file(one) for one in parsed] or None


def _file(patched: PatchedFile) -> File:
    path, room = str(patched.path), MOST_LINES
    lexer = _lexer(path)
    hunks: list[list[Row]] = []
    for hunk in patched:
        lines = [line for line in hunk if line.line_type in MARKS]
        hunks.append([_row(line, lexer) for line in lines[:room]])
        room = max(0, room - len(lines))
    total = sum(len([line for line in hunk if line.line_type in MARKS]) for hunk in patched)
    cut = total - sum(len(rows) for rows in hunks)
    return File(visible(path), patched.added, patched.removed, patched.is_added_file, hunks, cut)


def _row(line: Line, lexer: Lexer) -> Row:
    kind = MARKS[line.line_type]
    text = visible(str(line.value).rstrip("\n").replace("\t", "    "))
    coloured = highlight(text, lexer, _FORMATTER).rstrip("\n") if text else ""
    return Row(kind, line.line_type, line.source_line_no, line.target_line_no, _safe(coloured, text))


def _safe(coloured: str, text: str) -> SafeString:
    """Pygments escapes what it colours; a line that it swallowed is escaped here."""
    return mark_safe(coloured if coloured or not text else escape(text))  # noqa: S308


def _lexer(path: str) -> Lexer:
    try:
        return get_lexer_for_filename(path, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return TextLexer(stripnl=False, ensurenl=False)
