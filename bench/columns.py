"""Column lineage: tracing one query against sqlglot's own lineage, staging 5,000 models, reading them, walking."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from django.db import transaction
from sqlglot.lineage import lineage

from bench import _measure
from catalog.column_lineage import trace
from catalog.columns.selectors import column_lineage
from catalog.models import Asset, ColumnLineage, EdgeClaim, GraphHead, GraphVersion, NodeClaim, Source
from catalog.services.column_lineage import Compiled, compute_due, stage
from foundation import bulk, clock

MODELS, COLUMNS, LAYER = 5000, 10, 500
CTES, WIDTH = 12, 60
FLOORS = {"columns.trace/sqlglot": 2.0}


def run() -> Iterable[dict[str, Any]]:
    yield _traced()
    for engine in ("sqlite", "postgres"):
        with _measure.database(engine):
            yield from _kept(engine)


def _traced() -> dict[str, Any]:
    """All columns of a query of a dozen CTEs, as a layer of a real project has them."""
    first = ", ".join(f"c{n}" for n in range(WIDTH))
    ctes = [f"q0 as (select id, {first} from base)"]  # noqa: S608 -- nothing runs it
    for place in range(1, CTES):
        items = ", ".join(f"coalesce(a.c{n}, b.c{n}, 0) as c{n}" for n in range(WIDTH))
        ctes.append(f"q{place} as (select a.id, {items} from q{place - 1} a left join side b on b.id = a.id)")  # noqa: S608
    sql = f"with {', '.join(ctes)} select * from q{CTES - 1} where c1 > 1"  # noqa: S608
    columns = {"id": "int", **{f"c{n}": "int" for n in range(WIDTH)}}
    schema = {"base": columns, "side": columns}
    ours = _measure.seconds(lambda: trace(sql, dialect="duckdb", schema={(name,): schema[name] for name in schema}), 3)
    theirs = _measure.seconds(lambda: lineage(None, sql, schema=schema, dialect="duckdb"), 2)
    return _measure.line("columns.trace", WIDTH + 1, ours, against="sqlglot", other=theirs)


def _kept(engine: str) -> Iterator[dict[str, Any]]:
    pks = _graph()
    _measure.forget_peak()
    code = list(_code(pks, "one"))
    yield _measure.line(f"columns.stage.new.{engine}", MODELS, _measure.seconds(partial(stage, code), 1))
    yield _measure.line(f"columns.stage.same.{engine}", MODELS, _measure.seconds(partial(stage, code), 3))
    other = list(_code(pks, "two"))
    yield _measure.line(f"columns.stage.other.{engine}", MODELS, _measure.seconds(partial(stage, other), 1))
    read = _measure.seconds(_read, 1)
    if ColumnLineage.objects.exclude(state="known").exists():
        raise RuntimeError("Not all of the code was read.")
    yield _measure.line(f"columns.read.{engine}", MODELS, read)
    asset, last = Asset.objects.get(pk=pks[0]), Asset.objects.get(pk=pks[-1])
    found = column_lineage(asset, "c1", "down")
    took = _measure.seconds(lambda: column_lineage(asset, "c1", "down"), 3)
    yield _measure.line(f"columns.walk.down.{engine}", found.total, took)
    took = _measure.seconds(lambda: column_lineage(last, "c1", "up"), 3)
    yield _measure.line(f"columns.walk.up.{engine}", column_lineage(last, "c1", "up").total, took)


def _read() -> None:
    """All of it at once; an installation takes a second's worth at a time."""
    ColumnLineage.objects.update(due_at=clock.now())
    compute_due(MODELS, seconds=600)


def _graph() -> list[int]:
    """Ten layers of 500 models; each reads two models of the layer before."""
    with transaction.atomic():
        source = Source.objects.create(key="dbt:bench", kind="dbt")
        GraphVersion.objects.create(number=1, at=clock.now(), source=source)
        GraphHead.objects.update_or_create(pk=1, defaults={"version": 1})
        names = [("duckdb://bench", f"dev.main.m{n}", "model", "") for n in range(MODELS)]
        bulk.insert(Asset, ("namespace", "name", "kind", "description"), names)
        pks = list(Asset.objects.order_by("pk").values_list("pk", flat=True))
        claims = [(source.pk, pk, f"model.bench.{pk}", {"materialized": "table"}, 1) for pk in pks]
        bulk.insert(NodeClaim, ("source_id", "asset_id", "local_id", "attributes", "added_in_id"), claims)
        edges = [(source.pk, pks[above], pks[n], "feeds", 1) for n in range(LAYER, MODELS) for above in _above(n)]
        bulk.insert(EdgeClaim, ("source_id", "from_asset_id", "to_asset_id", "kind", "added_in_id"), edges)
    return pks


def _above(number: int) -> tuple[int, int]:
    layer = number // LAYER - 1
    return layer * LAYER + number % LAYER, layer * LAYER + (number * 7 + 1) % LAYER


def _code(pks: list[int], stamp: str) -> Iterator[Compiled]:
    for number, pk in enumerate(pks):
        if number < LAYER:
            items = ", ".join(f"{n} as c{n}" for n in range(COLUMNS))
            sql = f"select 1 as id, {items} /* {stamp} */"
        else:
            left, right = _above(number)
            items = ", ".join(f"coalesce(a.c{n}, b.c{n}) as c{n}" for n in range(COLUMNS))
            sql = (
                f'with a as (select * from "dev"."main"."m{left}"), b as (select * from "dev"."main"."m{right}")'  # noqa: S608
                f" select a.id, {items} from a left join b on a.id = b.id /* {stamp} */"
            )
        yield Compiled(pk, "dbt:bench", f"{stamp} {number}", sql, "duckdb")
