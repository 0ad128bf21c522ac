"""What the facets of a dataset say of it: columns, description, kind, owners, tags, other names, and that it is gone.

Each fact keeps when and in which role it was told, since a job that only reads a table often names only the columns
that it read. Facets: https://openlineage.io/docs/spec/facets/dataset-facets
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, TypeAlias

import orjson

from catalog.sources.artifact import mapping, sequence
from catalog.sources.claims import COLUMN, TYPE
from catalog.sources.naming import DatasetName, printable
from catalog.sources.openlineage.events import NAME, NAMESPACE
from foundation.canonical import sha256_hex

READ, WRITTEN = 1, 2
"""How much a role knows of a dataset: who writes or describes it knows more than who reads it."""

Said: TypeAlias = dict[str, Any]
"""Fact -> [rank, moment (RFC 3339, UTC), value]."""

_KINDS: Final = {"VIEW": "view", "TOPIC": "stream", "STREAM": "stream"}
_LONGEST: Final = 200
_UNSTORABLE: Final = re.compile("[\x00\ud800-\udfff]")
_MOST: Final = 2000  # columns of a table, which no warehouse reaches


def told(facets: Mapping[str, Any]) -> dict[str, Any]:
    """The facts in `facets` by name; None for one that the producer takes back."""
    found: dict[str, Any] = {}
    for name, (fact, reader) in _READERS.items():
        facet = facets.get(name)
        if isinstance(facet, dict):
            value = None if facet.get("_deleted") is True else reader(facet)
            if value or facet.get("_deleted") is True:
                found[fact] = value
    return found


def merge(before: Said, facts: Mapping[str, Any], rank: int, at: str) -> Said:
    """`before` with `facts`, told at `at` (RFC 3339) in a role of `rank`; the better role wins, then the later word."""
    after = dict(before)
    for fact, value in facts.items():
        old_rank, old_at, _ = before.get(fact, (0, "", None))
        if (rank, at) >= (old_rank, old_at):
            after[fact] = [rank, at, value]
    return after


def value(said: Said, fact: str) -> Any:
    """What is known of `fact`; None when nothing is."""
    return said.get(fact, (0, "", None))[2]


def values(said: Said) -> dict[str, Any]:
    """What is known, without who said it and when."""
    return {fact: known for fact, (_, _, known) in said.items()}


def table_of(facets: Mapping[str, Any]) -> DatasetName | None:
    """The table that the dataset is under another name (a path that a catalogue knows as a table); None for none."""
    for item in map(mapping, sequence(mapping(facets.get("symlinks")).get("identifiers"))):
        space, name = item.get("namespace"), item.get("name")
        if str(item.get("type", "")).upper() == "TABLE" and _usable(space, NAMESPACE) and _usable(name, NAME):
            return DatasetName(str(space), str(name))
    return None


def dropped(facets: Mapping[str, Any]) -> bool:
    """Whether the event says that the dataset is gone."""
    return mapping(facets.get("lifecycleStateChange")).get("lifecycleStateChange") == "DROP"


def _columns(facet: Mapping[str, Any]) -> list[list[str]]:
    fields = map(mapping, sequence(facet.get("fields"))[:_MOST])
    rows = ([_word(one.get("name")), _word(one.get("type"))[:TYPE], _text(one.get("description"))] for one in fields)
    return [row for row in rows if 0 < len(row[0]) <= COLUMN]


def _kind(facet: Mapping[str, Any]) -> str:
    return _KINDS.get(str(facet.get("datasetType", "")).upper(), "table")


def _owners(facet: Mapping[str, Any]) -> list[str]:
    names = (_word(mapping(one).get("name")).strip() for one in sequence(facet.get("owners")))
    return list(dict.fromkeys(name[:_LONGEST] for name in names if name))


def _tags(facet: Mapping[str, Any]) -> list[str]:
    """Tags of the dataset itself; those of single columns are left out. A value other than `true` belongs to it."""
    tags = [tag for tag in map(mapping, sequence(facet.get("tags"))) if not tag.get("field")]
    words = (
        _word(tag.get("key")) + ("" if tag.get("value") in ("true", None, "") else f":{_word(tag.get('value'))}")
        for tag in tags
    )
    return list(dict.fromkeys(word[:_LONGEST] for word in words if word))


def _description(facet: Mapping[str, Any]) -> str:
    return _text(facet.get("description"))


def _materialized(facet: Mapping[str, Any]) -> str:
    return _word(mapping(facet.get("config")).get("materialized"))[:_LONGEST]


def _digest(facet: Mapping[str, Any]) -> str:
    """Which column lineage it was; that itself is kept elsewhere."""
    said = {key: facet[key] for key in ("fields", "dataset") if key in facet}
    return sha256_hex(orjson.dumps(said, option=orjson.OPT_SORT_KEYS))


_READERS: Final = {
    "schema": ("columns", _columns),
    "documentation": ("description", _description),
    "datasetType": ("kind", _kind),
    "ownership": ("owners", _owners),
    "tags": ("tags", _tags),
    "dbt_model": ("materialized", _materialized),
    "columnLineage": ("lineage", _digest),
}


def _text(given: object) -> str:
    """Text that the tables take: PostgreSQL refuses NUL, UTF-8 half a character."""
    return _UNSTORABLE.sub("\ufffd", given) if isinstance(given, str) else ""


def _word(given: object) -> str:
    """A name, in which no character is hidden."""
    return printable(_text(given))


def _usable(text: object, longest: int) -> bool:
    return isinstance(text, str) and bool(text.strip()) and len(text) <= longest and text.isprintable()
