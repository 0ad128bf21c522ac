"""The graph at a team's size and at its largest, a million assets and three million edges: loaded, walked, shown."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator
from typing import Any

import networkx
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from bench import _estate
from bench._measure import database, each, expect, forget_peak, line, p95, resident, seconds
from catalog.graph import adjacency as store
from catalog.graph import adjacency_file, adjacency_rows
from catalog.graph.lineage import Lineage
from catalog.graph.walks import Adjacency
from catalog.models import Asset, EdgeClaim, GraphHead, GraphVersion, Source
from foundation.clock import now
from foundation.models import Person

SIZES = ((20_000, 60_000), (1_000_000, 3_000_000))
LARGEST = SIZES[-1][0]
FLOORS = {"graph.downstream/networkx.descendants": 100, "graph.downstream/recursive SQL": 50}
"""For the largest; where a walk takes less than a millisecond, its fixed part weighs more."""
MOST_QUERIES = 12

RECURSIVE = """
WITH RECURSIVE reached (id) AS (
    SELECT CAST(%s AS bigint)
    UNION
    SELECT edge.to_asset_id FROM reached JOIN catalog_edgeclaim AS edge ON edge.from_asset_id = reached.id
    WHERE edge.removed_in_id IS NULL
)
SELECT count(*) - 1 FROM reached
"""


def run() -> Iterable[dict[str, Any]]:
    """On SQLite both sizes; the largest is loaded from PostgreSQL too."""
    for assets, edges in SIZES:
        with database(f"sqlite-{assets}") as _:
            person = _estate.build(assets, edges)
            yield from _loads(assets)
            yield from _walks(assets)
            yield from _pages(assets, person)
    with database("postgres"):
        _estate.build(*SIZES[-1])
        forget_peak()
        yield line("graph.load.postgres", LARGEST, seconds(_read, 1))


def _read() -> Adjacency:
    store._kept.clear()
    return store._read(1)


def _loads(assets: int) -> Iterator[dict[str, Any]]:
    forget_peak()
    yield line("graph.load.sqlite", assets, seconds(_read, 1))
    store._kept.clear()
    store.adjacency()  # makes the file, if the graph is large enough to have one
    store._kept.clear()
    gc.collect()
    before = resident()
    took = seconds(store.adjacency, 1)
    graph = store.adjacency()
    touched = (graph.walk(_estate.HUB, "down").via, graph.walk(assets, "up").via, graph.cyclic)
    expect(touched[0].size > assets // 2, "the hub feeds too little to measure anything")
    name = "graph.load.file" if adjacency_file.found() else "graph.load.again"
    yield line(name, assets, took, peak_mb=resident() - before)
    yield line("graph.new_version", assets, _new_version(graph))


def _new_version(graph: Adjacency) -> float:
    """Version 2 has a thousand edges more and five hundred fewer than the graph that is known."""
    version = GraphVersion.objects.create(number=2, at=now(), source=Source.objects.get())
    standing = EdgeClaim.objects.filter(removed_in__isnull=True)
    gone = list(standing.order_by("-pk").values_list("pk", flat=True)[:500])
    EdgeClaim.objects.filter(pk__in=gone).update(removed_in=version)
    last = graph.ids.size
    for n in range(1000):
        EdgeClaim.objects.create(
            source_id=version.source_id, from_asset_id=n + 2, to_asset_id=last - n, kind="new", added_in=version
        )
    GraphHead.objects.update(version=2)
    return seconds(lambda: store._changed(graph, 2), 3)


def _walks(assets: int) -> Iterator[dict[str, Any]]:
    graph = store.adjacency()
    forget_peak()
    took = seconds(lambda: graph.walk(_estate.HUB, "down").ids, 15)
    ids = graph.walk(_estate.HUB, "down").ids
    sql, found = _recursive()
    expect(found == ids.size, f"SQL found {found} and the walk {ids.size}")
    name = "graph.downstream" if assets == LARGEST else "graph.downstream of a team"
    yield line(name, assets, took, against="recursive SQL", other=sql)
    other, descendants = _networkx()
    expect(descendants == set(ids.tolist()), "NetworkX found others than the walk")
    yield line(name, assets, took, against="networkx.descendants", other=other)


def _recursive() -> tuple[float, int]:
    found: list[int] = []

    def ask() -> None:
        with connection.cursor() as cursor:
            cursor.execute(RECURSIVE, [_estate.HUB])
            found.append(cursor.fetchone()[0])

    return seconds(ask, 2), found[0]


def _networkx() -> tuple[float, set[int]]:
    graph = networkx.DiGraph()
    graph.add_edges_from(map(tuple, adjacency_rows.pairs(2).tolist()))
    found: list[set[int]] = []
    took = seconds(lambda: found.append(networkx.descendants(graph, _estate.HUB)), 2)
    return took, found[0]


def _pages(assets: int, person: Person) -> Iterator[dict[str, Any]]:
    client = Client(headers={"host": "localhost"})
    client.force_login(person)
    path = f"/assets/{_estate.HUB}/blast-radius"
    _few_queries(client, path)
    forget_peak()
    yield line("page.blast_radius", assets, p95(each(lambda: _opened(client, path), 40)))
    second = f"{path}?hops=3&kind=model&page=2"
    yield line("page.blast_radius.filtered", assets, p95(each(lambda: _opened(client, second), 20)))
    last = Asset.objects.order_by("-pk").values_list("pk", flat=True)[0]
    yield line("page.lineage.up", assets, p95(each(lambda: _opened(client, f"/assets/{last}/lineage"), 20)))
    if assets == SIZES[0][0]:
        hub = Asset.objects.get(pk=_estate.HUB)
        rows = seconds(lambda: list(Lineage(hub, direction="down", at=now()).rows()), 2)
        yield line("export.lineage", assets, rows)


def _opened(client: Client, path: str) -> None:
    answer = client.get(path)
    expect(answer.status_code == 200, f"{path} was answered with {answer.status_code}")


def _few_queries(client: Client, path: str) -> None:
    _opened(client, path)
    with CaptureQueriesContext(connection) as asked:
        _opened(client, path)
    expect(len(asked) <= MOST_QUERIES, f"{path} took {len(asked)} queries")
