"""Text of others as both databases take it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def storable(value: Any) -> Any:
    """`value` without null characters and halves of surrogate pairs, however deep they lie; lists for tuples."""
    if isinstance(value, str):
        return value.replace("\0", "\ufffd").encode("utf-8", "replace").decode()
    if isinstance(value, Mapping):
        return {storable(key): storable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [storable(item) for item in value]
    return value


def short(text: str, length: int) -> str:
    """As `storable`, cut to `length` characters."""
    return str(storable(text))[:length]
