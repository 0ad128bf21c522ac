"""Which dataset a producer means: its namespace by alias, connection or spelling, its name as it stands in the graph.

Order for a namespace: an alias that people declared; the declared namespace of a connection; what a connection's own
parameters say (the file of a DuckDB, host and port of a server); a spelling that assets have already; else its
canonical form. A name that stands in the graph exactly as written goes before its folded form, since producers name
quoted tables without their quotes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from django.db.models import Count
from psycopg import Error as NotAnAddress
from psycopg.conninfo import conninfo_to_dict

from catalog.models import Asset, NamespaceAlias, NodeClaim
from catalog.sources.naming import (
    DatasetName,
    adapter_of,
    canonical,
    canonical_namespace,
    fold_name,
    parts_of,
    spellings,
)
from foundation.errors import BadInput
from foundation.models import Connection

CHUNK = 500

Pair = TypeVar("Pair", bound=tuple[str, str])


def resolve(namespaces: Iterable[str]) -> dict[str, str]:
    """The namespace here of each namespace that a producer writes. BadInput for an empty or unusable one."""
    known = Known.now()
    return {one: known.namespace(one) for one in dict.fromkeys(namespaces)}


def identities(pairs: Iterable[Pair]) -> dict[Pair, DatasetName]:
    """The identity here of each (namespace, name) that a producer writes. BadInput when one of them is unusable."""
    known = Known.now()
    found: dict[Pair, DatasetName] = {}
    exact: dict[Pair, DatasetName] = {}
    spaces: dict[tuple[str, str], str] = {}
    for pair in dict.fromkeys(pairs):
        written = canonical(*pair)
        database = written.name.partition(".")[0].casefold()
        key = pair[0], database
        space = spaces[key] if key in spaces else spaces.setdefault(key, known.namespace(pair[0], database))
        adapter = adapter_of(space) or adapter_of(pair[0])
        found[pair] = DatasetName(space, fold_name(pair[1], adapter))
        exact[pair] = DatasetName(space, ".".join(part for part, _ in parts_of(pair[1])) if adapter else pair[1])
    standing = _standing({name for pair, name in exact.items() if name != found[pair]})
    return {pair: exact[pair] if exact[pair] in standing else name for pair, name in found.items()}


def namespaces() -> list[dict[str, Any]]:
    """Every namespace of assets in the graph or of a connection: {namespace, assets, connections that read it}."""
    standing = NodeClaim.objects.filter(removed_in__isnull=True).values("asset__namespace")
    counts = dict(standing.annotate(n=Count("asset", distinct=True)).values_list("asset__namespace", "n"))
    readers: dict[str, list[str]] = defaultdict(list)
    for one in Connection.objects.filter(purpose="read").exclude(namespace="").order_by("name"):
        readers[one.namespace].append(one.name)
    return [
        {"namespace": one, "assets": counts.get(one, 0), "connections": readers.get(one, [])}
        for one in sorted(counts.keys() | readers.keys())
    ]


@dataclass(frozen=True)
class Known:
    """Aliases and connections as they are now; `implied` holds (database or "", namespace) for what producers write."""

    aliases: Mapping[str, str]
    declared: frozenset[str]
    implied: Mapping[str, list[tuple[str, str]]]

    @classmethod
    def now(cls) -> Known:
        """Two queries."""
        aliases = dict(NamespaceAlias.objects.values_list("alias", "namespace"))
        implied: dict[str, list[tuple[str, str]]] = defaultdict(list)
        connections = list(Connection.objects.exclude(namespace=""))
        for connection in connections:
            if connection.purpose == "read":
                for written, database in _implied(connection.kind, connection.params):
                    implied[written].append((database.casefold(), connection.namespace))
        return cls(aliases, frozenset(one.namespace for one in connections), implied)

    def namespace(self, written: str, database: str = "") -> str:
        """The namespace here that a producer means by `written`, in which the dataset lies in `database` if told."""
        ways = list(dict.fromkeys([written, *spellings(written)]))
        for way in ways:
            if way in self.aliases:
                return self.aliases[way]
        for way in ways:
            if way in self.declared:
                return way
        for way in ways:
            meant = {space for name, space in self.implied.get(way, []) if name in ("", database) or not database}
            if len(meant) == 1:
                return meant.pop()
        used = (way for way in ways if Asset.objects.filter(namespace=way).exists())
        return next(used, canonical_namespace(written))


def _implied(kind: str, params: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What producers that know no connection of ours write for it, with the one database that it reads ("": any)."""
    if kind == "duckdb" and isinstance(path := params.get("path"), str):
        for way in {path, str(Path(path).absolute()), str(Path(path).resolve())}:
            yield f"duckdb://{way}", ""
    elif kind == "postgres":
        address = {key: str(value) for key, value in params.items()}
        with suppress(NotAnAddress):
            address = {key: str(value) for key, value in conninfo_to_dict(address.pop("uri", "")).items()} | address
        if address.get("host"):
            with suppress(BadInput):
                for way in spellings(f"postgres://{address['host']}:{address.get('port', '5432')}"):
                    yield way, address.get("dbname", "")


def _standing(names: Iterable[DatasetName]) -> set[DatasetName]:
    by_space: dict[str, list[str]] = defaultdict(list)
    for space, name in names:
        by_space[space].append(name)
    return {
        DatasetName(space, name)
        for space, wanted in by_space.items()
        for start in range(0, len(wanted), CHUNK)
        for name in NodeClaim.objects.filter(
            removed_in__isnull=True, asset__namespace=space, asset__name__in=wanted[start : start + CHUNK]
        ).values_list("asset__name", flat=True)
    }
