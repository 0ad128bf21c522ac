"""Whether a change of a model's text is one of form alone, also for builds that are not these two."""

from __future__ import annotations

import re
from collections.abc import Iterator

import sqlglot
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import TokenType

from catalog.diff.jinja import without_jinja
from catalog.diff.row_set import classify
from catalog.diff.selects import MAX_CHARACTERS
from catalog.sources.manifest_types import Node

_JINJA = re.compile(r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}", re.DOTALL)
_CONFIG = re.compile(r"\{\{-?\s*config\s*\(")
_ENDS = re.compile(r"(?<=^..)\s+|\s+(?=..$)")
_AS_WRITTEN = frozenset({
    TokenType.VAR, TokenType.IDENTIFIER, TokenType.STRING, TokenType.NATIONAL_STRING, TokenType.RAW_STRING,
    TokenType.HEREDOC_STRING, TokenType.UNICODE_STRING, TokenType.BYTE_STRING, TokenType.BIT_STRING,
    TokenType.HEX_STRING,
})  # fmt: skip
"""What means another thing in other letters; keywords do not."""


def doubt_of_form(before: Node, after: Node, dialect: str, *, compiled: bool) -> str:
    """Why it cannot be told that only the form of the text changed, when nothing else was seen; "" when it can.

    `compiled`: both builds were, to the same query. A branch for another target or for an incremental run stands in
    neither of them, and so the text itself is looked at as well: SQL and Jinja in their order, as one sequence.
    """
    if after.language != "sql" or before.language != "sql":
        return "the model is not SQL"
    old, new = (_JINJA.sub(_tight, one.raw_code) for one in (before, after))
    if list(_pieces(old)) != list(_pieces(new)):
        seen = "both builds compiled it to the same query" if compiled else "not both builds compiled it"
        return f"its Jinja changed: {seen}, and another target or run may get another one"
    if len(old) + len(new) > MAX_CHARACTERS:
        return "" if old == new else "its text is too long to be compared"
    return (
        "" if _sequence(old, dialect) == _sequence(new, dialect) is not None else _of_text(old, new, dialect, compiled)
    )


def _of_text(old: str, new: str, dialect: str, compiled: bool) -> str:
    if any("{%" in text for text in (old, new)):
        return "its text changed beside Jinja that chooses what is built, and another target or run may get another one"
    if classify(without_jinja(old), without_jinja(new), dialect, "raw"):
        return "its text changed in a part that neither build compiled" if compiled else "its text changed"
    return ""


def _pieces(raw: str) -> Iterator[str]:
    """The Jinja that decides what is built, without comments and configuration, which is compared by itself."""
    for piece in _JINJA.findall(raw):
        if not piece.startswith("{#") and not _CONFIG.match(piece):
            yield piece


def _tight(found: re.Match[str]) -> str:
    """A piece of Jinja without the white space at its ends."""
    return _ENDS.sub("", found.group())


def _sequence(raw: str, dialect: str) -> list[tuple[object, str]] | None:
    """The SQL and the Jinja of a text in their order, without comments and white space; None where it has none.

    A statement leaves nothing behind, so that a comment before it goes on behind it, as it does in what dbt compiles.
    """
    try:
        tokens = sqlglot.tokenize(without_jinja(raw), read=dialect)
    except (SqlglotError, ValueError, TypeError, AttributeError, IndexError):
        return None
    found: list[tuple[int, tuple[object, str]]] = [
        (one.start, (one.token_type, one.text if one.token_type in _AS_WRITTEN else one.text.upper())) for one in tokens
    ]
    found += [(one.start(), ("", one.group())) for one in _JINJA.finditer(raw) if one.group().startswith("{%")]
    return [(kind, text if kind else "") for _, (kind, text) in sorted(found, key=lambda one: one[0])]
