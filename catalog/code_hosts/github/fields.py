"""Fields of GitHub's answers: each read by its path, and Unavailable in words when it is missing or of another kind."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from catalog.code_hosts.github.answers import SHA, odd


class Fields:
    """One object of an answer; `what` says in words which, for errors."""

    def __init__(self, value: object, what: str) -> None:
        if not isinstance(value, dict):
            raise odd(what, "is not an object")
        self._value: dict[str, Any] = value
        self.what = what

    def __contains__(self, key: str) -> bool:
        """Whether there is such a field that is not null."""
        return self._value.get(key) is not None

    def part(self, key: str) -> Fields:
        """A field that is an object."""
        if not isinstance(self._value.get(key), dict):
            raise odd(self.what, f"lacks {key}")
        return Fields(self._value[key], self.what)

    def parts(self, key: str) -> list[Fields]:
        """A field that is a list of objects."""
        return objects(self._value.get(key), self.what)

    def text(self, key: str, otherwise: str | None = None) -> str:
        """A field that is a text, without NUL, which no database keeps. Missing or null: `otherwise`, if given."""
        value = self._value.get(key)
        if value is None and otherwise is not None:
            return otherwise
        if not isinstance(value, str):
            raise odd(self.what, f"lacks {key}")
        return value.replace("\0", "\ufffd")

    def sha(self, key: str) -> str:
        """A field that is a whole commit id."""
        value = self.text(key)
        if not SHA.fullmatch(value):
            raise odd(self.what, f"has a {key} that is no commit id")
        return value

    def number(self, key: str) -> int:
        """A field that is a whole number from 0 that fits 64 bits."""
        value = self._value.get(key)
        if type(value) is not int or not 0 <= value < 2**63:
            raise odd(self.what, f"lacks {key}")
        return value

    def flag(self, key: str, otherwise: bool | None = None) -> bool:
        """A field that is true or false. Missing or null: `otherwise`, if given."""
        value = self._value.get(key)
        if value is None and otherwise is not None:
            return otherwise
        if not isinstance(value, bool):
            raise odd(self.what, f"lacks {key}")
        return value

    def time(self, key: str) -> datetime | None:
        """A field that is a time; None when it is missing or null."""
        text = self.text(key, "")
        try:
            found = datetime.fromisoformat(text) if text else None
        except ValueError:
            found = None
        if text and (found is None or found.tzinfo is None):
            raise odd(self.what, f"has a {key} that is no time")
        return found


def objects(value: object, what: str) -> list[Fields]:
    """A list of objects."""
    if not isinstance(value, list):
        raise odd(what, "is not a list")
    return [Fields(one, what) for one in value]
