"""Editing a dbt properties file: one test is inserted as text, so that every other byte stays as its owner wrote it."""

from __future__ import annotations

import re
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

WORDS = ("data_tests", "tests")


def add_not_null(text: str, model: str, column: str) -> str | None:
    """`text` with a not_null test on one column of one model; None when the place is not there or has tests already.

    The position comes from the YAML parser; the result is parsed again and must hold the test and nothing else new.
    """
    found = _column(text, model, column)
    if found is None or any(key in found for key in WORDS):
        return None
    lines = re.findall(r"[^\n]*\n|[^\n]+", text)
    indent, last = found.lc.col, max(found.lc.data[key][0] for key in found) + 1
    while last < len(lines) and lines[last].strip() and _indent(lines[last]) > indent:
        last += 1
    end = "\r\n" if lines[last - 1].endswith("\r\n") else "\n"
    if not lines[last - 1].endswith("\n"):
        lines[last - 1] += end
    word, blank = _word(text), " " * indent
    lines[last:last] = [f"{blank}{word}:{end}", f"{blank}  - not_null{end}"]
    edited = "".join(lines)
    return edited if _holds(text, edited, model, column, word) else None


def _holds(text: str, edited: str, model: str, column: str, word: str) -> bool:
    again = _column(edited, model, column)
    if again is None or again.get(word) != ["not_null"]:
        return False
    del again[word]
    return bool(again == _column(text, model, column))


def _word(text: str) -> str:
    """The key that this file uses for tests; dbt reads both, `data_tests` is the one of today."""
    used = [word for word in WORDS if re.search(rf"^[\s-]*{word}\s*:", text, re.MULTILINE)]
    return used[0] if used else WORDS[0]


def _column(text: str, model: str, column: str) -> Any:
    try:
        document = YAML(typ="rt").load(text)
    except (YAMLError, ValueError):
        return None
    models = document.get("models") if isinstance(document, dict) else None
    owner = _named(models, model)
    return _named(owner.get("columns"), column) if owner else None


def _named(items: Any, name: str) -> Any:
    if not isinstance(items, list):
        return None
    found = [item for item in items if isinstance(item, dict) and item.get("name") == name]
    return found[0] if len(found) == 1 else None


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
