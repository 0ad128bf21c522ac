"""Whether a change of a model's text is one of form alone, also for builds that are not these two."""

from __future__ import annotations

import re

from catalog.diff.jinja import without_jinja
from catalog.diff.row_set import classify
from catalog.diff.selects import MAX_CHARACTERS
from catalog.sources.manifest_types import Node

_JINJA = re.compile(r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}", re.DOTALL)
_CONFIG = re.compile(r"\{\{-?\s*config\s*\(")
_COMMENT = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)


def doubt_of_form(before: Node, after: Node, dialect: str, *, compiled: bool) -> str:
    """Why it cannot be told that only the form of the text changed, when nothing else was seen; "" when it can.

    `compiled`: both builds were, to the same query. A branch for another target or for an incremental run stands in
    neither of them, and so the text itself is looked at as well.
    """
    if after.language != "sql" or before.language != "sql":
        return "the model is not SQL"
    if _pieces(before.raw_code) != _pieces(after.raw_code):
        seen = "both builds compiled it to the same query" if compiled else "not both builds compiled it"
        return f"its Jinja changed: {seen}, and another target or run may get another one"
    if _words(before.raw_code) == _words(after.raw_code):
        return ""
    if len(before.raw_code) + len(after.raw_code) > MAX_CHARACTERS:
        return "its text is too long to be compared"
    if classify(without_jinja(before.raw_code), without_jinja(after.raw_code), dialect, "raw"):
        return "its text changed in a part that neither build compiled" if compiled else "its text changed"
    return ""


def _pieces(raw: str) -> list[str]:
    """The Jinja that decides what is built, without comments and configuration, which is compared by itself."""
    found = ("".join(piece.split()) for piece in _JINJA.findall(raw) if not _CONFIG.match(piece))
    return [piece.replace("{{-", "{{").replace("-}}", "}}").replace("{%-", "{%").replace("-%}", "%}")
            for piece in found if not piece.startswith("{#")]  # fmt: skip


def _words(raw: str) -> list[str]:
    return _COMMENT.sub(" ", without_jinja(raw)).split()
