"""Which of the entries that are gone came back under another id: dbt calls them removed and new."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from catalog.diff.macros import without_name
from catalog.diff.written import plain
from catalog.sources.artifact import mapping
from catalog.sources.manifest_types import Macro, Node, TestNode

Entry = Node | TestNode | Macro
_SAID = ("depends_on", "type", "owner", "url", "maturity", "type_params", "filter", "model", "entities", "dimensions",
         "measures", "query_params", "arguments", "returns", "given", "expect")  # fmt: skip
"""What an entry without code says, its name and its words for people left out."""


@dataclass(frozen=True, slots=True)
class Renamed:
    """An entry that has the content of one that is gone; both ids also stand in `added` and `removed`."""

    before: str
    after: str


def renamed(removed: Iterable[Entry], added: Iterable[Entry]) -> Iterator[Renamed]:
    """Pairs whose ids differ in case only, then those with equal name and content, then those with equal content.

    Content that several share proves nothing. A generic test follows the node that it is attached to.
    """
    gone, come = list(removed), list(added)
    new_names: dict[str, str] = {}
    ways: tuple[Callable[[Entry], Hashable | None], ...] = (_id, _name_and_content, _content, _test_of(new_names))
    for same in ways:
        before, after = _single(gone, same), _single(come, same)
        pairs = [(before[key], after[key]) for key in before.keys() & after.keys()]
        for first, second in sorted(pairs, key=lambda pair: pair[0].unique_id):
            new_names[first.unique_id] = second.unique_id
            yield Renamed(first.unique_id, second.unique_id)
        found = {id(one) for pair in pairs for one in pair}
        gone, come = ([one for one in side if id(one) not in found] for side in (gone, come))


def _id(entry: Entry) -> Hashable:
    return entry.unique_id.lower()


def _name_and_content(entry: Entry) -> Hashable | None:
    content = _content(entry)
    return (entry.unique_id.rpartition(".")[2], content) if content else None


def _content(entry: Entry) -> Hashable | None:
    if isinstance(entry, Macro):
        return ("macro", without_name(entry)) if entry.sql.strip() else None
    if isinstance(entry, TestNode):
        return ("test", entry.raw_code.strip()) if entry.raw_code.strip() and not entry.generic else None
    kind = entry.resource_type
    if kind == "source":
        return (kind, entry.database, entry.schema, entry.identifier)
    if kind == "seed":
        return (kind, entry.checksum) if entry.checksum else None
    said = entry.raw_code.strip() or _said({key: entry.raw.get(key) for key in _SAID})
    return (kind, said) if said else None


def _said(fields: dict[str, Any]) -> str | None:
    kept = plain(fields)
    return json.dumps(kept, sort_keys=True) if kept else None


def _test_of(new_names: dict[str, str]) -> Callable[[Entry], Hashable | None]:
    """What a generic test says of which node, by the name that the node has now."""

    def key(entry: Entry) -> Hashable | None:
        if not isinstance(entry, TestNode) or not entry.generic or entry.attached is None:
            return None
        given = mapping(mapping(entry.raw.get("test_metadata")).get("kwargs"))
        arguments = {name: value for name, value in given.items() if name != "model"}
        attached = new_names.get(entry.attached, entry.attached)
        return (attached, entry.namespace, entry.name, entry.column, _said(arguments))

    return key


def _single(entries: list[Entry], key: Callable[[Entry], Hashable | None]) -> dict[Hashable, Entry]:
    groups: dict[Hashable, list[Entry]] = {}
    for entry in entries:
        found = key(entry)
        if found is not None:
            groups.setdefault(found, []).append(entry)
    return {found: members[0] for found, members in groups.items() if len(members) == 1}
