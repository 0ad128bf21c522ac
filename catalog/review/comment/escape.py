"""Text of others made fit for a comment in GitHub-flavoured Markdown (D19): names, SQL, commit messages, sentences.

Markdown is escaped as CommonMark and the GFM specification say. What GitHub links after that, in text that is already
HTML (mentions, issues, commits, addresses, emoji codes), no backslash stops; there a space without width is put in.
Such a space that the text itself holds is shown, as every character is that cannot be seen. E-mail addresses are
masked wherever they stand, in SQL too.
"""

from __future__ import annotations

import html
import re

from foundation.unseen import visible

__all__ = ["cell", "code", "fence", "html_code", "in_html", "masked", "on_one_line", "plain", "shortened", "visible"]

LONGEST = 300
"""How many characters of a text are shown where nothing else is said."""

_BREAK = "\u200b"
_EMAIL = re.compile(r"([\w.+%-])[\w.+%-]{0,63}@([\w-]{1,63})(?:\.[\w-]{1,63})+")
_LINKED = (
    (re.compile(r"(?<=[@#])"), _BREAK),
    (re.compile(r"(?<=:)(?=//)"), _BREAK),
    (re.compile(r"(?<=www)(?=\.)", re.IGNORECASE), _BREAK),
    (re.compile(r"(?<=\bGH)(?=-\d)|(?<=\bGHSA)(?=-)|(?<=\bCVE)(?=-)", re.IGNORECASE), _BREAK),
    (re.compile(r"(?<=:)(?=[\w+-]+:)"), _BREAK),
)
_COMMIT = re.compile(r"\b(?=\d*[a-f])[0-9a-f]{7,40}\b", re.IGNORECASE)
_MARKDOWN = str.maketrans({
    **{mark: "\\" + mark for mark in "\\`*_[]<>~&"},
    "|": "&#124;",  # the one spelling that needs no second escape in a table
    "$": "<span>$</span>",  # GitHub's documented way to keep it from opening a formula
})  # fmt: skip
_BEGINS_A_BLOCK = re.compile(r"(\d{0,9})(?=[+=-]|(?<=\d)[.)])")
_LANGUAGE = re.compile(r"[a-z]{0,20}")


def plain(text: object, limit: int = LONGEST) -> str:
    """`text` as words on one line: nothing in it links, notifies, formats, or ends a table's cell."""
    words = _breaks(_one_line(text, limit)).strip().translate(_MARKDOWN)
    first = _BEGINS_A_BLOCK.match(words)
    return words if first is None else f"{first[1]}\\{words[first.end() :]}"


def code(text: object, limit: int = LONGEST) -> str:
    """`text` as a span of code on one line; "" for nothing. Goes through `cell` where it stands in a table."""
    words = _one_line(text, limit)
    if not words:
        return ""
    ticks = "`" * (_longest_run(words) + 1)
    pad = " " if words[0] in "` " or words[-1] in "` " else ""
    return f"{ticks}{pad}{words}{pad}{ticks}" if words.strip(" ") else f"{ticks}{words}{ticks}"


def cell(markdown: str) -> str:
    """Finished markdown of one line as a table's cell: a table's bars are found before its code is."""
    return markdown.replace("|", "\\|")


def fence(text: object, language: str = "", limit: int = 4_000) -> str:
    """`text` as a block of code of its own lines, under a fence that the text does not close.

    ValueError for a language that is no word of small letters.
    """
    if not _LANGUAGE.fullmatch(language):
        raise ValueError(f"{language!r} is no language of a block of code")
    words = shortened(masked(visible(_first_and_last(str(text), limit))).strip("\n"), limit)
    ticks = "`" * max(3, _longest_run(words) + 1)
    return f"{ticks}{language}\n{words}\n{ticks}"


def in_html(text: object, limit: int = LONGEST) -> str:
    """`text` as words inside a tag, where GitHub reads no markdown."""
    return html.escape(_breaks(_one_line(text, limit)).strip()).replace("$", "<span>$</span>")


def html_code(text: object, limit: int = LONGEST) -> str:
    """`text` as code inside a tag."""
    return f"<code>{html.escape(_one_line(text, limit).strip())}</code>"


def masked(text: str) -> str:
    """`text` with its e-mail addresses masked: s***@store…"""
    return _EMAIL.sub(r"\1***@\2…", text) if "@" in text else text


def on_one_line(text: str) -> str:
    """`text` as plain words on one line, for titles and messages in which no markdown is read: nothing unseen, no
    e-mail address."""
    return masked(visible(text)).replace("\n", " ").replace("\t", " ")


def shortened(text: str, limit: int) -> str:
    """`text` in at most `limit` characters: its beginning and its end, with … between."""
    if len(text) <= limit:
        return text
    end = (limit - 1) // 3
    return f"{text[: limit - 1 - end]}…{text[len(text) - end :]}"


def _one_line(text: object, limit: int) -> str:
    return shortened(on_one_line(_first_and_last(str(text), limit)), limit)


def _first_and_last(text: str, limit: int) -> str:
    """All that may be shown of a text of any length, and more, because masks make it shorter."""
    enough = 4 * limit + 1_000
    return text if len(text) <= 2 * enough else f"{text[:enough]} … {text[-enough:]}"


def _breaks(text: str) -> str:
    for pattern, said in _LINKED:
        text = pattern.sub(said, text)
    return _COMMIT.sub(lambda found: _BREAK.join(re.findall(".{1,6}", found[0])), text)


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)
