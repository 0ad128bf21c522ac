"""One item of a declaration: each key read and checked, with the words to name the item in a refusal. No database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, TypeAlias

from catalog.sources.naming import printable
from catalog.words import MODES, ROLES, slug
from foundation.errors import BadInput
from foundation.schedule import next_run

LONGEST: Final = {
    "consequence": 500, "delete_rule": 300, "tool": 100, "kind": 40, "cron": 100, "zone": 60, "metric": 200,
    "contact": 200, "definition": 10_000, "namespace": 300, "owner": 254, "on_call": 254, "domain": 200, "source": 800,
    "mode": 40, "schedule": 200, "team": 200,
}  # fmt: skip
LINES: Final = frozenset({"consequence", "definition", "text"})
"""What may have several lines; all else is a name or a line, in which nothing may be hidden."""
EVERY_MINUTE: Final = "* * * * *"
TABLES: Final = frozenset({"source", "seed", "model", "snapshot", "table", "view"})
"""Kinds that dbt and the warehouse tell of; a reader of one of these would pass for the table of that name."""
MONTH: Final = 31 * 86400
MOST_READ: Final = 200


@dataclass(frozen=True)
class Who:
    """Somebody in a role: a person by e-mail, or a label (a schedule, a team) that another tool resolves."""

    email: str = ""
    label: str = ""


Roles: TypeAlias = Mapping[str, tuple[Who, ...]]


@dataclass(frozen=True)
class Entry:
    """One item, and where it stands."""

    where: str
    raw: Mapping[str, Any]

    def refuse(self, why: str) -> BadInput:
        """The refusal of this item."""
        return BadInput(f"{self.where}: {why}.")

    def text(self, key: str, most: int | None = None) -> str | None:
        """The text under `key` without blanks around it; None when it is not there. An empty one is refused."""
        value, limit = self.raw.get(key), most or LONGEST.get(key, 500)
        if value is None:
            return None
        if not isinstance(value, str) or not value.strip() or len(value) > limit or not _storable(value):
            raise self.refuse(f"{key} is not a text of 1 to {limit} characters")
        if key not in LINES:
            self.refuse_hidden(key, value)
        return value.strip()

    def refuse_hidden(self, key: str, text: str) -> None:
        """BadInput when there is a character in `text` that nobody sees: a name must not look like another."""
        if printable(text.strip()) != text.strip():
            raise self.refuse(f"{key} holds characters that cannot be printed")

    def needed(self, key: str, most: int | None = None) -> str:
        """As `text`, for a key that has to be there."""
        found = self.text(key, most)
        if found is None:
            raise self.refuse(f"{key} is not a text of 1 to {most or LONGEST.get(key, 500)} characters")
        return found

    def name(self, key: str) -> str:
        """The name of an asset."""
        return self.needed(key, 500)

    def slug(self, key: str, otherwise: str) -> str:
        """A key for addresses, by default made of `otherwise`."""
        found = self.text(key, 100) or slug(otherwise)
        if not found or found != slug(found) or len(found) > 100:
            raise self.refuse(f"its {key} is not made of letters, digits and hyphens")
        return found

    def said(self, *keys: str) -> dict[str, Any]:
        """The texts under those of `keys` that are there; null or an empty text says that there is none."""
        found = {key: "" if self.raw[key] in (None, "") else self.needed(key) for key in keys if key in self.raw}
        if found.get("kind") in TABLES:
            raise self.refuse(f"kind is {found['kind']}, which is a table and no reader")
        return found

    def texts(self, key: str) -> tuple[str, ...]:
        """One text or a list of them."""
        value = self.raw.get(key)
        items = [] if value is None else [value] if isinstance(value, str) else value
        if isinstance(items, Mapping) or not isinstance(items, Sequence) or not all(map(_is_name, items)):
            raise self.refuse(f"{key} is neither a text nor a list of texts")
        for item in items:
            self.refuse_hidden(key, item)
        return tuple(dict.fromkeys(item.strip() for item in items))

    def flag(self, key: str) -> bool | None:
        """True, false, or nothing."""
        value = self.raw.get(key)
        if value is not None and not isinstance(value, bool):
            raise self.refuse(f"{key} is neither true nor false")
        return value

    def part(self, key: str) -> Entry:
        """The mapping under `key`, as an item of its own."""
        value = self.raw.get(key)
        if value is not None and not isinstance(value, Mapping):
            raise self.refuse(f"{key} is not a mapping")
        return Entry(f"{self.where}, {key}", value or {})

    def mode(self) -> dict[str, Any]:
        """How a sync writes."""
        if "mode" not in self.raw:
            return {}
        mode = self.text("mode") or "unknown"
        if mode not in MODES:
            raise self.refuse(f"mode is one of {', '.join(MODES)}, not {mode}")
        return {"mode": mode}

    def reads(self) -> dict[str, Any]:
        """What is read, directly or through other readers."""
        if not {"reads", "through"} & set(self.raw):
            return {}
        names = list(dict.fromkeys((*self.texts("reads"), *self.texts("through"))))
        if len(names) > MOST_READ:
            raise self.refuse(f"it reads {len(names)} tables; at most {MOST_READ} are kept")
        return {"reads": names}

    def schedule(self) -> dict[str, Any]:
        """When it reads; the line and the zone are tried once."""
        if "schedule" not in self.raw:
            return {}
        part = self.part("schedule")
        cron, zone, by_api = part.text("cron") or "", part.text("zone") or "UTC", bool(part.flag("triggered_by_api"))
        if cron and by_api:
            raise self.refuse("schedule gives a cron line and says that it is triggered by API; it is one of the two")
        if part.raw:
            part.tried(cron or EVERY_MINUTE, zone)
        return {"schedule": {"cron": cron, "zone": zone, "triggered_by_api": by_api}}

    def tried(self, cron: str, zone: str) -> None:
        """BadInput, with this item's place, when the line or the zone cannot be read."""
        try:
            next_run(cron, zone, datetime.now(UTC))
        except BadInput as error:
            raise self.refuse(str(error).removesuffix(".")) from None

    def lead(self) -> dict[str, Any]:
        """How long before the read a hold has to be in place."""
        minutes, seconds = self._count("lead_minutes", MONTH // 60), self._count("lead_seconds", MONTH)
        if minutes is not None and seconds is not None:
            raise self.refuse("lead_minutes and lead_seconds say the same thing twice")
        lead = minutes * 60 if minutes is not None else seconds
        return {} if lead is None else {"lead_seconds": lead}

    def confirm(self) -> dict[str, Any]:
        """Which value of which table the reader shows."""
        if "confirm" not in self.raw:
            return {}
        part = self.part("confirm")
        return {"confirm": {"metric": part.needed("metric"), "source": part.needed("source")} if part.raw else {}}

    def roles(self) -> dict[str, tuple[Who, ...]]:
        """The people of each role that is named; a role that is empty has nobody."""
        return {role: self._people(role) for role in ROLES if role in self.raw}

    def _people(self, role: str) -> tuple[Who, ...]:
        value = self.raw[role]
        listed = isinstance(value, Sequence) and not isinstance(value, str)
        items = [] if value is None else list(value) if listed else [value]
        return tuple(dict.fromkeys(self._who(role, item) for item in items))

    def _who(self, role: str, item: object) -> Who:
        if isinstance(item, Mapping) and len(item) == 1 and set(item) <= {"schedule", "team"}:
            part = Entry(f"{self.where}, {role}", item)
            return Who(label=part.needed(next(iter(item))))
        if not isinstance(item, str) or "@" not in item or len(item) > LONGEST["owner"] or not _storable(item):
            raise self.refuse(f"{role} is neither an e-mail nor {{schedule: name}} or {{team: name}}")
        self.refuse_hidden(role, item)
        return Who(email=item.strip().lower())

    def _count(self, key: str, most: int) -> int | None:
        value = self.raw.get(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
            raise self.refuse(f"{key} is not a whole number of at most a month")
        return value


def _is_name(item: object) -> bool:
    return isinstance(item, str) and bool(item.strip()) and len(item) <= LONGEST["source"] and _storable(item)


def _storable(text: str) -> bool:
    """No database keeps a null character in a text alike, and none keeps half a surrogate pair."""
    return "\0" not in text and not any("\ud800" <= letter <= "\udfff" for letter in text)
