"""A made-up estate of any size: layers from sources to marts, a hub that most of it hangs on, readers at the end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from django.db import connection, transaction
from numpy.typing import NDArray

from catalog.models import (
    Asset,
    AssetRole,
    Consumer,
    Domain,
    EdgeClaim,
    GraphHead,
    GraphVersion,
    NodeClaim,
    Source,
    Sync,
)
from foundation.clock import now
from foundation.models import Person
from foundation.people import create_person

SEED = 20260929
HUB = 1
EVERY = 100
KINDS = ("source", "model", "model", "model", "snapshot", "table", "dashboard")
MODES = ("mirror", "append", "activation", "unknown")


def edges(assets: int, count: int) -> NDArray[np.int64]:
    """`count` edges (from, to) among the asset ids 1 to `assets`; asset 1 feeds 2 in 100 of the others directly.

    Half of the others come from what lies just before, half from anywhere before, and one in a thousand goes back.
    """
    pick = np.random.default_rng(SEED)
    below = np.concatenate([np.arange(2, assets + 1), pick.integers(2, assets + 1, count - assets + 1)])
    near = np.maximum(1, below - 1 - pick.integers(0, max(2, assets // 50), count))
    far = 1 + (pick.random(count) * (below - 1)).astype(np.int64)
    above = np.where(pick.random(count) < 0.5, near, far)
    above[pick.random(count) < 0.02] = HUB
    back = pick.random(count) < 0.001
    above[back], below[back] = below[back], above[back].copy()
    return np.stack([above, below], axis=1)


def build(assets: int, count: int) -> Person:
    """Write the estate into the database, as version 1; returns somebody who may read it."""
    person = create_person("bench@shop.example", "The bench", password=None)
    domain = Domain.objects.create(key="bench", name="Bench", owner=person)
    source = Source.objects.create(key="dbt:bench", kind="dbt")
    version = GraphVersion.objects.create(number=1, at=now(), source=source)
    named = (
        (pk, f"db.layer_{pk % 50}.table_{pk}", "sync" if pk % EVERY == 0 else KINDS[pk % 7]) for pk in _ids(assets)
    )
    rows = ((pk, "duckdb://bench", name, kind, domain.pk, "") for pk, name, kind in named)
    _insert(Asset, ("id", "namespace", "name", "kind", "domain_id", "description"), rows)
    fields = ("source_id", "asset_id", "local_id", "attributes", "added_in_id")
    _insert(NodeClaim, fields, ((source.pk, pk, f"model.{pk}", "{}", version.pk) for pk in _ids(assets)))
    pairs = edges(assets, count)
    keys = np.sort(pairs[:, 0] * (assets + 1) + pairs[:, 1])
    keys = keys[np.append(True, keys[1:] != keys[:-1])]  # each pair once
    pairs = np.stack(np.divmod(keys, assets + 1), axis=1).tolist()
    fields = ("source_id", "from_asset_id", "to_asset_id", "kind", "added_in_id")
    _insert(EdgeClaim, fields, ((source.pk, above, below, "feeds", version.pk) for above, below in pairs))
    _readers(assets, person)
    GraphHead.objects.update_or_create(pk=1, defaults={"version": 1})
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    return person


def _ids(assets: int) -> Iterable[int]:
    return range(1, assets + 1)


def _readers(assets: int, person: Person) -> None:
    """One asset in a hundred is a sync, with one of 60 schedules."""
    chosen = range(EVERY, assets + 1, EVERY)
    Consumer.objects.bulk_create(
        [
            Consumer(
                asset_id=pk, cron=f"{pk // EVERY % 60} {pk % 24} * * *", consequence="Rows that are gone go there."
            )
            for pk in chosen
        ],
        batch_size=100,
    )
    consumers = dict(Consumer.objects.values_list("asset_id", "pk"))
    Sync.objects.bulk_create(
        [Sync(consumer_id=consumers[pk], tool="copier", mode=MODES[pk // EVERY % 4]) for pk in chosen], batch_size=100
    )
    roles = [AssetRole(asset_id=pk, person=person, role="owner") for pk in chosen]
    AssetRole.objects.bulk_create(roles, batch_size=100)


def _insert(model: Any, fields: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Through the driver, indexes afterwards: otherwise writing would take longer than all that is measured."""
    table, names = model._meta.db_table, ", ".join(fields)
    if connection.vendor == "postgresql":
        copying = f"COPY {table} ({names}) FROM STDIN"
        with transaction.atomic(), connection.cursor() as cursor, cursor.cursor.copy(copying) as copy:
            for row in rows:
                copy.write_row(row)
        return
    marks = ", ".join("?" for _ in fields)
    with _without_indexes(table) as driver:
        driver.executemany(f"INSERT INTO {table} ({names}) VALUES ({marks})", rows)  # noqa: S608


@contextmanager
def _without_indexes(table: str) -> Iterator[Any]:
    """SQLite's driver, which neither checks references nor waits for the disk, on a table whose indexes come back."""
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA foreign_keys=OFF")
        cursor.execute("PRAGMA synchronous=OFF")
        cursor.execute("PRAGMA cache_size=-500000")
        cursor.execute(
            "SELECT name, sql FROM sqlite_master WHERE tbl_name = %s AND type = 'index' AND sql > ''", [table]
        )
        indexes = cursor.fetchall()
        with transaction.atomic():
            for name, _ in indexes:
                cursor.execute(f'DROP INDEX "{name}"')
            yield cursor.connection
            for _, sql in indexes:
                cursor.execute(sql)
        cursor.execute("PRAGMA foreign_keys=ON")
        cursor.execute("PRAGMA synchronous=FULL")
        cursor.execute("PRAGMA cache_size=-2000")
