"""The search over 100,000 assets on both engines: how long people wait, and how long reading assets into it takes.

The peer is what a catalogue without an index does: every word compared with every name and description.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import psycopg
from django.db.models import Q

from bench._measure import database, each, expect, forget_peak, line, p95
from catalog.models import Asset, ColumnList, Domain, GraphHead, GraphVersion, NodeClaim, Source
from catalog.search.find import find
from catalog.services import search_index
from foundation import bulk, clock
from foundation.locks import transaction
from foundation.models import Person
from foundation.people import create_person

ASSETS = 100_000
READ = 5_000  # assets, as an import of a large project brings them
ASKED = 300  # texts
PEER = 40  # texts that the peer is asked, since it takes so long
LAYERS = ["stg", "int", "fct", "dim", "mart", "raw", "snap"]
AREAS = ["app", "shop", "crm", "erp", "web", "pos", "billing", "support", "ads", "mail"]
THINGS = ["orders", "customers", "payments", "events", "sessions", "visits", "invoices", "shipments", "returns"]
FORMS = ["daily", "weekly", "history", "enriched", "clean", "joined", "flat", "summary", "region", "latest"]
COLUMNS = ["id", "created_at", "updated_at", "amount", "status", "order_id", "email", "country", "currency", "quantity",
           "price", "channel"]  # fmt: skip
PLAIN = ["every", "row", "of", "the", "table", "holds", "one", "value", "per", "key", "counted", "at", "night"]
FLOORS = {"search sqlite p95/icontains": 1.2, "search postgres p95/icontains": 1.5}


def run() -> Iterable[dict[str, Any]]:
    """Lines for both engines."""
    for engine in ("sqlite", "postgres"):
        with database(engine) as url:
            yield from _measured(engine, url)


def _measured(engine: str, url: str) -> Iterator[dict[str, Any]]:
    chance = random.Random(11)  # noqa: S311 -- a shape to measure with, not a secret
    with transaction():
        names = _fill(chance)
    forget_peak()
    yield line(f"search {engine} reads in", READ, _read_in())
    while search_index.catch_up(20_000):
        pass
    if engine == "postgres":
        _tidy(url)
    stranger = create_person("stranger@example.com", "Stranger")
    texts = list(_texts(chance, names))
    took = [_took(text, None if number % 2 else stranger) for number, text in enumerate(texts)]
    peer = p95([min(each(lambda text=text: _peer(text), 1)) for text in texts[:PEER]])  # type: ignore[misc]
    yield line(f"search {engine} median", ASSETS, sorted(took)[len(took) // 2])
    yield line(f"search {engine} p95", ASSETS, p95(took), against="icontains", other=peer)
    yield line(f"search {engine} slowest", ASSETS, max(took))


def _tidy(url: str) -> None:
    """What autovacuum does within minutes in an installation; only the owner of the tables may."""
    with psycopg.connect(url.replace("_app:", "_owner:", 1), autocommit=True) as owner:
        owner.execute("VACUUM ANALYZE")


def _read_in() -> float:
    """Seconds for `READ` new assets, in the sweep's own transactions."""
    ids = list(Asset.objects.order_by("pk").values_list("pk", flat=True)[: 3 * READ])
    best = []
    for start in range(0, len(ids), READ):
        chunk = ids[start : start + READ]
        best.append(sum(_timed(chunk[one : one + 1000]) for one in range(0, READ, 1000)))
    return min(best)


def _timed(ids: Sequence[int]) -> float:
    return each(lambda: search_index.refresh(ids), 1)[0]


def _took(text: str, person: Person | None) -> float:
    start = time.perf_counter()
    found = find(text, person)
    took = time.perf_counter() - start
    expect(not found.behind, "The index is behind.")
    return took


def _peer(text: str) -> tuple[int, list[int]]:
    rows = Asset.objects.present()
    for word in text.split():
        rows = rows.filter(Q(name__icontains=word) | Q(description__icontains=word))
    return rows.count(), list(rows.order_by("name").values_list("pk", flat=True)[:50])


def _fill(chance: random.Random) -> list[str]:
    """The graph of one version; the last part of each name."""
    source, person = (
        Source.objects.create(key="dbt:bench", kind="dbt"),
        create_person("olive@example.com", "Olive Owner"),
    )
    version = GraphVersion.objects.create(number=1, at=clock.now(), source=source)
    GraphHead.objects.create(version=1)
    domains = [Domain.objects.create(key=f"d{one}", name=f"Domain {one}", restricted=one == 3) for one in range(20)]
    Domain.objects.filter(key="d5").update(owner=person)
    tails = [_tail(chance, number) for number in range(ASSETS)]
    rows = [
        (
            f"duckdb://w{number % 3}", f"warehouse.main.{tail}", chance.choice(["model", "source", "snapshot"]),
            domains[number % 20].pk, " ".join([*chance.choices(PLAIN, k=14), *tail.split("_")[:-1]]),
        )
        for number, tail in enumerate(tails)
    ]  # fmt: skip
    bulk.insert(Asset, ["namespace", "name", "kind", "domain_id", "description"], rows)
    ids = list(Asset.objects.order_by("pk").values_list("pk", flat=True))
    columns = [(pk, [_column(name) for name in chance.sample(COLUMNS, 10)]) for pk in ids]
    bulk.insert(ColumnList, ["asset_id", "items"], columns)
    claims = [(source.pk, pk, f"model.{pk}", {"kind": "model", "tags": ["nightly"]}, version.pk) for pk in ids]
    bulk.insert(NodeClaim, ["source_id", "asset_id", "local_id", "attributes", "added_in_id"], claims)
    return tails


def _tail(chance: random.Random, number: int) -> str:
    parts = [chance.choice(LAYERS), chance.choice(AREAS), "", chance.choice(THINGS), chance.choice(FORMS)]
    return f"{'_'.join(parts)}_{number}"


def _column(name: str) -> dict[str, Any]:
    return {"name": name, "type": "text", "description": "", "nullable": None}


def _texts(chance: random.Random, names: Sequence[str]) -> Iterator[str]:
    """What people type: whole names and their beginnings, words, columns, owners, and all of these wrong."""
    ways: list[Callable[[str], str]] = [
        lambda name: name,
        lambda name: f"warehouse.main.{name}",
        lambda name: name[: chance.randrange(2, len(name))],
        lambda name: name[: chance.randrange(2, 9)],
        lambda name: chance.choice(THINGS),
        lambda name: f"{chance.choice(THINGS)} {chance.choice(FORMS)}",
        lambda name: f"{chance.choice(AREAS)} {chance.choice(THINGS)[:4]}",
        lambda name: chance.choice(COLUMNS),
        lambda name: f"{chance.choice(THINGS)} {chance.choice(COLUMNS)}",
        lambda name: _wrong(chance, chance.choice(THINGS)),
        lambda name: f"{_wrong(chance, chance.choice(THINGS))} {chance.choice(FORMS)}",
        lambda name: "olive",
    ]
    for number in range(ASKED):
        yield ways[number % len(ways)](chance.choice(names))


def _wrong(chance: random.Random, word: str) -> str:
    place = chance.randrange(1, len(word) - 1)
    return word[:place] + word[place + 1] + word[place] + word[place + 2 :]
