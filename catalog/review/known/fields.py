"""The fields of one object of a JSON document, each read and checked, with the words to name its place. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from catalog.sources.naming import printable
from catalog.words import ROLES
from foundation.errors import BadInput

LONGEST: Final = 10_000
MOST: Final = 2**53  # what every reader of JSON keeps exactly


@dataclass(frozen=True, slots=True)
class Fields:
    """One object, and where it stands in which document."""

    where: str
    raw: Mapping[str, Any]

    def refuse(self, key: str, why: str) -> BadInput:
        """The refusal of the field `key`."""
        return BadInput(f"{self.where}: {key} {why}.")

    def text(self, key: str) -> str:
        """The text under `key`; "" where it is left out or null."""
        value = self.raw.get(key)
        if value is None:
            return ""
        if not isinstance(value, str) or len(value) > LONGEST:
            raise self.refuse(key, f"is not a text of at most {LONGEST} characters")
        return value

    def needed(self, key: str) -> str:
        """As `text`, for a field that has to be there."""
        found = self.text(key).strip()
        if not found:
            raise self.refuse(key, "is missing or empty")
        return found

    def word(self, key: str, known: Sequence[str]) -> str:
        """One of the words that are known; the first where it is left out."""
        found = self.text(key) or known[0]
        if found not in known:
            raise self.refuse(key, f"is one of {', '.join(filter(None, known))}, not {printable(found[:40])}")
        return found

    def flag(self, key: str) -> bool | None:
        """True, false, or None where it is not known."""
        value = self.raw.get(key)
        if value is not None and not isinstance(value, bool):
            raise self.refuse(key, "is neither true nor false")
        return value

    def whole(self, key: str) -> int | None:
        """A whole number from 0, or None where it is not known."""
        value = self.raw.get(key)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MOST):
            raise self.refuse(key, "is not a whole number from 0")
        return value

    def moment(self, key: str) -> datetime:
        """A time with its zone."""
        try:
            found = datetime.fromisoformat(self.needed(key))
        except ValueError:
            raise self.refuse(key, "is not a time as 2026-01-31T02:00:00+00:00") from None
        if found.tzinfo is None:
            raise self.refuse(key, "has no time zone")
        return found

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts, each once."""
        found = self._list(key)
        if not all(isinstance(one, str) and one.strip() and len(one) <= LONGEST for one in found):
            raise self.refuse(key, "is not a list of texts")
        return tuple(dict.fromkeys(found))

    def items(self, key: str) -> list[Fields]:
        """A list of objects; each knows its number, counted from 0."""
        found = [(f"{self.where}, {key}[{place}]", one) for place, one in enumerate(self._list(key))]
        for where, one in found:
            if not isinstance(one, dict):
                raise BadInput(f"{where} is not an object.")
        return [Fields(f"{where}{_called(one)}", one) for where, one in found]

    def mappings(self, key: str) -> list[tuple[str, Fields]]:
        """An object of objects: the name and the fields of each."""
        found = self.raw.get(key)
        if found is not None and not (isinstance(found, dict) and all(isinstance(one, dict) for one in found.values())):
            raise self.refuse(key, "is not an object of objects")
        return [
            (name, Fields(f"{self.where}, {key}.{printable(name[:80])}", one)) for name, one in (found or {}).items()
        ]

    def people(self, key: str) -> dict[str, tuple[str, ...]]:
        """Names by role; a role that is not known here is passed over."""
        value = self.raw.get(key)
        if value is not None and not isinstance(value, dict):
            raise self.refuse(key, "is not an object")
        part = Fields(f"{self.where}, {key}", value or {})
        return {role: names for role in ROLES if (names := part.texts(role))}

    def _list(self, key: str) -> list[Any]:
        value = self.raw.get(key)
        if value is not None and not isinstance(value, list):
            raise self.refuse(key, "is not a list")
        return value or []


def _called(raw: Mapping[str, Any]) -> str:
    name = raw.get("name") or raw.get("key") or raw.get("asset")
    return f" ({printable(name[:80])})" if isinstance(name, str) else ""
