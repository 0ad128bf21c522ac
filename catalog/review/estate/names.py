"""What the name of a table means among the nodes of two manifests and what else is declared."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from catalog.sources.manifest_types import Node
from catalog.sources.naming import parts_of

_CALL = re.compile(r"\{\{-?\s*(?:ref|source)\(((?:\s*,?\s*['\"][^'\"]+['\"])+)\s*\)\s*-?\}\}")
_ARGUMENT = re.compile(r"['\"]([^'\"]+)['\"]")
Found = tuple[tuple[int, ...], bool]
"""The places that a name means, and whether it can mean nothing else."""

NODE, DECLARED, READER = "node", "declared", "reader"
_ORDER = (NODE, DECLARED, READER)
"""What a build describes goes before what is declared, so that nobody takes the name of a table."""


def plain(name: str) -> str:
    """A dotted name without quotes and case."""
    return ".".join(part for part, _ in parts_of(name.strip())).casefold()


class Names:
    """Places by name. A name is sought as a unique id, then whole or as a dotted ending, then by its last part."""

    def __init__(self) -> None:
        self._ids: dict[str, int] = {}
        self._by_name: dict[str, dict[str, set[int]]] = {kind: {} for kind in _ORDER}

    def add_id(self, unique_id: str, place: int) -> None:
        """The dbt id of what stands at `place`."""
        self._ids[unique_id] = place

    def add(self, name: str, place: int, kind: str = NODE) -> None:
        """One name of what stands at `place`; its dotted endings are names as well."""
        parts = plain(name).split(".")
        for start in range(len(parts)):
            self._by_name[kind].setdefault(".".join(parts[start:]), set()).add(place)

    def find(self, name: str) -> Found:
        """The places that `name` means; none where nobody knows it.

        Not certain where the name means several, or where only its last parts are those of a table.
        """
        wanted = _referred(name.strip())
        if wanted in self._ids:
            return (self._ids[wanted],), True
        for spelled in _spellings(wanted):
            for kind in _ORDER:
                found = self._by_name[kind].get(spelled)
                if found:
                    return tuple(sorted(found)), len(found) == 1
        return self._by_tail(wanted)

    def _by_tail(self, wanted: str) -> Found:
        """The same table in another place: a build for a pull request writes to a schema of its own."""
        parts = [spelled.split(".") for spelled in _spellings(wanted)][-1]
        for start in range(1, len(parts)):
            tail = ".".join(parts[start:])
            found = self._by_name[NODE].get(tail) or self._by_name[DECLARED].get(tail)
            if found:
                return tuple(sorted(found)), False
        return (), False


def names_of(node: Node) -> Iterator[str]:
    """Every name of a node but its unique id."""
    if node.relation_name:
        yield node.relation_name
    elif node.has_relation:
        yield ".".join(part for part in (node.database, node.schema, node.identifier) if part)
    if node.identifier:
        yield node.identifier
    yield node.name
    tail = node.unique_id.partition(".")[2]
    if tail:
        yield tail


def joined(names: Iterable[str], most: int = 5) -> str:
    """Names in a sentence, the first of them, and how many more there are."""
    listed = list(names)
    more = f" and {len(listed) - most:,} more" if len(listed) > most else ""
    return ", ".join(listed[:most]) + more


def _referred(name: str) -> str:
    """What `{{ ref('a') }}`, `{{ ref('package', 'a') }}` or `{{ source('s', 'a') }}` names, with dots between."""
    call = _CALL.fullmatch(name)
    return ".".join(_ARGUMENT.findall(call[1])) if call else name


def _spellings(wanted: str) -> list[str]:
    """The name as written, and what stands behind its namespace (`postgres://host:5432/shop.public.orders`)."""
    found = [plain(wanted)]
    if "/" in wanted:
        found.append(plain(wanted.rpartition("/")[2]))
    return found
