"""What agents suggested and nobody answered yet, as a page shows it."""

from __future__ import annotations

from typing import Any

from catalog.services import suggestions
from catalog.services.access import answers_for
from spellbook.pages.sight import Sight


def waiting(sight: Sight) -> list[dict[str, Any]]:
    """What waits for an answer; names in restricted domains are left out, since nobody can judge what is hidden."""
    return [
        {"row": one, "mine": answers_for(sight.person, one.asset), "said": _words(one.said)}
        for one in suggestions.waiting()
        if sight.sees(one.asset)
    ]


def _words(said: dict[str, Any]) -> list[tuple[str, str]]:
    """What is suggested, for people: one name and one value each."""
    return [(name.replace("_", " "), _plain(value)) for name, value in said.items()]


def _plain(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key.replace('_', ' ')} {one}" for key, one in value.items() if one and key != "source_id")
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return str(value) if value not in ("", None) else "none"
