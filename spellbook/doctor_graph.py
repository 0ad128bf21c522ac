"""What the doctor says of the warehouses' accounts, of the last looks at them, and of names that may mean the same."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from catalog import identity
from catalog.models import Introspection, NamespaceAlias
from catalog.services.introspections import every
from catalog.sources.naming import spellings
from catalog.warehouses.registry import KINDS, open_warehouse
from foundation.clock import now
from foundation.errors import BadInput, SpellbookError
from foundation.models import Connection
from spellbook.doctor_result import ProbeResult

LATE = 3  # looks that were missed before it is said to be late


def rights() -> Iterator[ProbeResult]:
    """What the account of each connection that reads may do besides reading: its grants are the real guard (D9)."""
    for row in Connection.objects.filter(purpose="read", kind__in=KINDS):
        name = f"rights of {row.name}"
        try:
            more = open_warehouse(row.kind, row.params, row.secret_names).may_write()
        except SpellbookError:
            yield ProbeResult(name, "unknown", "its warehouse could not be asked")
            continue
        if more:
            yield ProbeResult(
                name, "does not work", f"its account should only read, but {more}", "give it SELECT alone"
            )
        else:
            yield ProbeResult(name, "works", "its account only reads")


def introspections() -> Iterator[ProbeResult]:
    """When each warehouse was looked at, and why the last look gave nothing."""
    for row in Introspection.objects.select_related("connection").filter(connection__purpose="read"):
        name = f"tables of {row.connection.name}"
        seen = f"{row.tables} tables seen {row.seen_at:%Y-%m-%d %H:%M} UTC" if row.seen_at else "never seen"
        if row.problem:
            todo = f"run python manage.py introspect {row.connection.name} when it is mended"
            yield ProbeResult(name, "does not work", f"{seen}; the last look: {row.problem}", todo)
        elif row.seen_at and every() and now() - row.seen_at > LATE * every():
            yield ProbeResult(
                name, "does not work", f"{seen}, which is long ago", "look at beat and the worker for work"
            )
        else:
            yield ProbeResult(name, "works" if row.seen_at else "unknown", seen)


def namespaces() -> Iterator[ProbeResult]:
    """Names of namespaces that look like one and the same, that nothing reads, or that two connections share."""
    rows = identity.namespaces()
    aliases = set(NamespaceAlias.objects.values_list("alias", flat=True))
    alike: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        name, readers = row["namespace"], row["connections"]
        alike[_first(name)].append(name)
        if len(readers) > 1:
            said = f"{', '.join(readers)} declare it; {readers[0]} is asked for its tables"
            yield ProbeResult(f"namespace {name}", "unknown", said, "give each connection a namespace of its own")
        if name in aliases:
            todo = f"run python manage.py namespace alias again for {name}"
            yield ProbeResult(f"namespace {name}", "does not work", "it is an alias and has assets of its own", todo)
    for names in alike.values():
        if len(names) > 1:
            todo = f"run python manage.py namespace alias {names[1]} {names[0]} if they are one"
            yield ProbeResult(f"namespace {names[0]}", "unknown", f"{' and '.join(names)} look like one server", todo)
    yield ProbeResult("namespaces", "works", f"{len(rows)} known, {len(aliases)} aliases")


def _first(name: str) -> str:
    """One spelling for all that mean the same server."""
    try:
        return min(spellings(name))
    except BadInput:
        return name
