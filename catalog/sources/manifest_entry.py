"""What every entry of a manifest has, read where it is asked: a file has forty fields an entry, a reader wants a few.

Whatever dbt version wrote it, a missing or mistyped field reads as its empty value; nothing here raises.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from catalog.sources.artifact import mapping, strings, text
from catalog.sources.lazy import lazy


@dataclass(frozen=True, slots=True)
class Owner:
    """Who an exposure or a group names; either field may be empty."""

    name: str = ""
    email: str = ""


class Entry:
    """What every entry has: its id, the raw fields, and the ids that it depends on."""

    def __init__(self, unique_id: str, raw: Mapping[str, Any], depends_on: tuple[str, ...] = ()) -> None:
        self.unique_id, self.raw, self.depends_on = unique_id, raw, depends_on

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.unique_id}>"

    @lazy
    def config(self) -> Mapping[str, Any]:
        return mapping(self.raw.get("config"))

    @lazy
    def unrendered_config(self) -> Mapping[str, Any] | None:
        """As the project's files have it; None where the file does not keep it."""
        found = self.raw.get("unrendered_config")
        return found if isinstance(found, dict) else None

    @lazy
    def package(self) -> str:
        return text(self.raw.get("package_name")) or package_of(self.unique_id)

    @lazy
    def raw_code(self) -> str:
        return text(self.raw.get("raw_code")) or text(self.raw.get("raw_sql"))

    @lazy
    def compiled_code(self) -> str | None:
        return text(self.raw.get("compiled_code")) or text(self.raw.get("compiled_sql")) or None

    @lazy
    def macros(self) -> tuple[str, ...]:
        return strings(mapping(self.raw.get("depends_on")).get("macros"))

    @lazy
    def fqn(self) -> tuple[str, ...]:
        return strings(self.raw.get("fqn"))

    @lazy
    def path(self) -> str:
        return text(self.raw.get("original_file_path"))


def package_of(unique_id: str) -> str:
    """The package in `model.package.name`; "" when the id has no such part."""
    parts = unique_id.split(".", 2)
    return parts[1] if len(parts) > 2 else ""


def owner_of(value: object) -> Owner | None:
    """Who stands in an `owner` field; None when it names nobody."""
    entry = mapping(value)
    name, emails = text(entry.get("name")), strings(entry.get("email"))
    return Owner(name, emails[0] if emails else "") if name or emails else None
