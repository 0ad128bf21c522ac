"""`lineage --column`: one column up and down, from the import of a manifest to what the command prints."""

from __future__ import annotations

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from catalog.models import Asset, ColumnLineage, Domain
from catalog.services.imports import import_manifest
from foundation.audit import Actor
from foundation.people import create_person, system
from spellbook.beat import BEATS
from spellbook.tasks import read_columns
from tests.catalog.manifests import catalog_file, exposure, manifest, model, source


def project(stamp: str = "one", *, compiled: bool = True) -> bytes:
    """raw.orders -> stg -> totals -> a board, with compiled code."""
    code = {
        "stg": 'select id, amount from "dev"."raw"."orders"',
        "totals": 'with s as (select * from "dev"."main"."stg" where id > 1) select sum(amount) as total from s',
    }
    above = {"stg": "source.shop.raw.orders", "totals": "model.shop.stg"}
    nodes = [model(name, above[name], compiled_code=code[name] if compiled else None) for name in code]
    board = exposure("board", "model.shop.totals")
    return manifest(nodes, sources=[source("orders")], exposures=[board], stamp=stamp)


def said(*arguments: str) -> Any:
    out = StringIO()
    call_command("lineage", *arguments, "--format", "json", stdout=out)
    return json.loads(out.getvalue())


def text(*arguments: str) -> str:
    out = StringIO()
    call_command("lineage", *arguments, stdout=out)
    return out.getvalue().strip()


@pytest.fixture
def graph(db: None) -> Actor:
    actor = Actor(system("test"), "cli")
    columns = {"id": "integer", "amount": "double"}
    tables = catalog_file(("source.shop.raw.orders", columns), ("model.shop.stg", columns))
    import_manifest(project(), actor=actor, catalog=tables)
    return actor


@pytest.mark.usefixtures("graph")
def test_a_column_is_followed_down_and_up() -> None:
    down = said("raw.orders", "--column", "amount", "--direction", "down")
    assert [(one["name"], one["column"], one["kind"]) for one in down["nodes"]] == [
        ("dev.main.stg", "amount", "identity"), ("dev.main.totals", "total", "aggregated"),
    ]  # fmt: skip
    assert [one["name"] for one in down["fallback"]] == ["exposure.shop.board"]
    assert (down["total"], down["fallback_total"], down["truncated"]) == (2, 1, False)
    both = said("main.stg", "--column", "ID")
    assert (both["column"], both["total"]) == ("id", 1)
    assert [one["name"] for one in both["up"]["nodes"]] == ["dev.raw.orders"]
    assert both["down"]["rows"] == [
        {"asset_id": Asset.objects.get(name="dev.main.totals").pk, "name": "dev.main.totals", "hops": 1,
         "confidence": 100, "by": {"asset_id": both["asset_id"], "name": "dev.main.stg", "column": "id"}}
    ]  # fmt: skip
    assert text("main.stg", "--column", "id").splitlines() == [
        "duckdb://shop/dev.main.stg, column id: 1 column both",
        "  up  1  dev.raw.orders.id  identity",
        "  down  1  rows of dev.main.totals are decided by dev.main.stg.id",
    ]
    assert "only the table: it reads the table as a whole" in text("main.totals", "--column", "total")
    assert said("raw.orders", "--column", "amount", "--direction", "down", "--hops", "1")["total"] == 1


@pytest.mark.usefixtures("graph")
@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("main.stg", "--column", "amout"), "has no column amout; near it are amount"),
        (("main.stg", "--column", ""), "The name of a column is empty"),
        (("main.nothing", "--column", "id"), "No asset is named main.nothing"),
    ],
)
def test_an_unknown_column_or_table_is_refused_in_one_line(arguments: tuple[str, ...], why: str) -> None:
    with pytest.raises(CommandError, match=why) as refusal:
        said(*arguments)
    assert "\n" not in str(refusal.value)


def test_whoever_may_not_read_a_domain_reads_no_name_of_it(graph: Actor) -> None:
    domain = Domain.objects.create(key="secret", name="Secret", restricted=True)
    Asset.objects.filter(name="dev.main.totals").update(domain=domain)
    create_person("somebody@example.com", "Some Body")
    found = said("raw.orders", "--column", "amount", "--direction", "down", "--as", "somebody@example.com")
    assert [(one["name"], one["column"]) for one in found["nodes"]] == [("dev.main.stg", "amount"), (None, None)]
    assert found["total"] == 2
    assert "an asset of a restricted domain" in text("raw.orders", "--column", "amount", "--as", "somebody@example.com")
    with pytest.raises(CommandError, match="No asset"):
        said("main.totals", "--column", "total", "--as", "somebody@example.com")
    nodes = said("raw.orders", "--direction", "down", "--as", "somebody@example.com")["nodes"]
    assert "dev.main.totals" not in {one["name"] for one in nodes}


def test_a_manifest_without_compiled_code_leaves_the_columns_as_they_are(graph: Actor) -> None:
    before = said("raw.orders", "--column", "amount", "--direction", "down")["nodes"]
    import_manifest(project("two", compiled=False), actor=graph)
    assert said("raw.orders", "--column", "amount", "--direction", "down")["nodes"] == before


@pytest.mark.usefixtures("committing")
def test_the_sweep_reads_what_an_import_brought() -> None:
    import_manifest(project(), actor=Actor(system("test"), "cli"))
    assert set(ColumnLineage.objects.values_list("state", flat=True)) == {"waiting"}
    assert read_columns() == 3  # the second once more, when it was known what the first gives out
    assert not ColumnLineage.objects.filter(state="waiting").exists()
    assert read_columns() == 0
    assert "work.columns" in {beat.task for beat in BEATS}
