"""Raw model code with its Jinja out of the way, character for character, so that positions keep their meaning."""

from __future__ import annotations

import hashlib
import re

_JINJA = re.compile(r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}", re.DOTALL)
_NO_OUTPUT = re.compile(r"\{\{-?\s*config\s*\(", re.DOTALL)


def without_jinja(raw: str) -> str:
    """`raw` with statements and comments blanked, and each expression replaced by a name of the same length.

    Equal expressions get equal names, so that two texts remain comparable.
    """
    return _JINJA.sub(_placeholder, raw)


def jinja_spans(raw: str) -> list[tuple[int, int]]:
    """The (start, end) of each piece of Jinja in `raw`, end excluded."""
    return [match.span() for match in _JINJA.finditer(raw)]


def _placeholder(match: re.Match[str]) -> str:
    found = match.group()
    if not found.startswith("{{") or _NO_OUTPUT.match(found):
        return re.sub(r"[^\n]", " ", found)
    digest = hashlib.sha256("".join(found.split()).encode()).hexdigest()
    return ("j_" + digest * (len(found) // len(digest) + 1))[: len(found)]
