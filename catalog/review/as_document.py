"""A review as plain JSON: the format `spellbook.review/1`, whose JSON Schema is `docs/schemas/review-1.json`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from typing import Any, Final

from catalog.review.types import Review

FORMAT: Final = "spellbook.review/1"


def as_dict(review: Review) -> dict[str, Any]:
    """The review with all that it says: every field under its own name, times in ISO 8601 in UTC, sets as sorted
    lists, None where something is not known."""
    return {"format": FORMAT, **_plain(review)}


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return {one.name: _plain(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, set | frozenset):
        return sorted(map(_plain, value))
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return value.astimezone(UTC).isoformat() if isinstance(value, datetime) else value
