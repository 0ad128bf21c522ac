"""The columns that a manifest declares: read where they are wanted, compared by one digest elsewhere.

A project has ten times as many columns as tables, and nearly all are as they were.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from itertools import chain
from operator import itemgetter
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import orjson

from catalog.sources.artifact import mapping, sequence, text

_KEPT = itemgetter("name", "data_type", "description")
NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


class Column(NamedTuple):
    """A declared column; `data_type` is None when nobody declared it, `constraints` are types such as not_null."""

    name: str
    data_type: str | None = None
    description: str = ""
    constraints: tuple[str, ...] = ()
    meta: Mapping[str, Any] = NOTHING


def columns_of(value: object, warn: Callable[[str], None] = lambda _: None) -> tuple[Column, ...]:
    """The declared columns, in the file's order, from an object by name or a list."""
    entries = value.items() if isinstance(value, dict) else [(text(mapping(c).get("name")), c) for c in sequence(value)]
    columns = []
    for key, entry in entries:
        name = (text(entry.get("name")) or key) if isinstance(entry, dict) else ""
        if name:
            columns.append(_column(name, entry))
        else:
            warn(f"the column {key or '(without a name)'} is not an object and was left out")
    return tuple(columns)


def look(value: object, warn: Callable[[str], None]) -> None:
    """Warn of the columns that `columns_of` leaves out."""
    if not value or (type(value) is dict and "" not in value and set(map(type, value.values())) == {dict}):
        return
    columns_of(value, warn)


def kept(value: object) -> list[tuple[str, str, str]]:
    """Name, type and description of each column in the file's order; "" for what the file does not say."""
    if type(value) is dict and set(map(type, value.values())) <= {dict}:
        found = [
            (one.get("name") or key, one.get("data_type") or "", one.get("description") or "")
            for key, one in value.items()
        ]
        if set(map(type, chain.from_iterable(found))) <= {str} and "" not in value:
            return found
    return [(one.name, one.data_type or "", one.description) for one in columns_of(value)]


def outline(value: object) -> object:
    """What `kept` is made of, unchecked: equal for the same file, and quicker where it only has to be told whether
    anything is another than before."""
    if type(value) is dict:
        with suppress(KeyError, TypeError):
            return list(value), list(map(_KEPT, value.values()))
    return value


def digest(value: object) -> str:
    """16 hexadecimal digits of what is kept of the columns; "" for none.

    It is the same for the same columns whichever dbt version wrote them.
    """
    found = kept(value) if value else None
    return hashlib.sha256(orjson.dumps(found)).hexdigest()[:16] if found else ""


def _column(name: str, entry: Mapping[str, Any]) -> Column:
    data_type, constraints = text(entry.get("data_type")), entry.get("constraints")
    meta = entry.get("meta") or mapping(entry.get("config")).get("meta")
    return Column(
        name,
        data_type or None,
        text(entry.get("description")),
        tuple(text(mapping(item).get("type")) for item in sequence(constraints)) if constraints else (),
        meta if isinstance(meta, dict) else NOTHING,
    )
