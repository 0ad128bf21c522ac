"""One column over REST: what it is made of and what it goes into, with confidence, and where only tables are known."""

from __future__ import annotations

import json
from typing import Any

import pytest

from catalog.models import Asset, ColumnList, Domain
from catalog.services.imports import import_manifest
from foundation.people import give_role
from tests.catalog.manifests import catalog_file
from tests.spellbook.machines import Machine, command_line
from tests.spellbook.test_column_lineage_command import project, said

pytestmark = pytest.mark.django_db


@pytest.fixture
def machine() -> Machine:
    columns = {"id": "integer", "amount": "double"}
    tables = catalog_file(("source.shop.raw.orders", columns), ("model.shop.stg", columns))
    import_manifest(project(), actor=command_line(), catalog=tables)
    return Machine.make(scopes=["catalog:read"])


def ask(machine: Machine, path: str) -> tuple[int, Any]:
    return machine.get(f"/assets/{path}")


def test_the_answer_is_that_of_the_command(machine: Machine) -> None:
    status, down = ask(machine, "raw.orders/columns/amount/lineage")
    assert status == 200
    assert [(one["name"], one["column"], one["kind"], one["confidence"]) for one in down["nodes"]] == [
        ("dev.main.stg", "amount", "identity", 100), ("dev.main.totals", "total", "aggregated", 100),
    ]  # fmt: skip
    ways = [("dev.raw.orders", "amount"), ("dev.main.stg", "amount")]  # what was asked for is named as well
    assert [one["via"] for one in down["nodes"]] == [[Asset.objects.get(name=one).pk, column] for one, column in ways]
    assert (down["total"], down["truncated"], down["fallback_total"]) == (2, False, 1)
    assert "reads the table as a whole" in down["fallback"][0]["reason"]
    assert down == said("raw.orders", "--column", "amount", "--direction", "down")
    up = ask(machine, "main.totals/columns/TOTAL/lineage?direction=up&hops=1")[1]
    assert up == said("main.totals", "--column", "TOTAL", "--direction", "up", "--hops", "1")
    assert up["total"] == 1


def test_a_list_that_is_cut_says_so(machine: Machine) -> None:
    cut = ask(machine, "raw.orders/columns/amount/lineage?limit=1")[1]
    assert (len(cut["nodes"]), cut["total"], cut["truncated"]) == (1, 2, True)


def test_what_a_restricted_domain_holds_is_counted_and_not_named(machine: Machine) -> None:
    domain = Domain.objects.create(key="secret", name="Secret", restricted=True)
    Asset.objects.filter(name="dev.main.totals").update(domain=domain)
    hidden = ask(machine, "raw.orders/columns/amount/lineage")[1]
    assert (hidden["total"], hidden["nodes"][1]["name"], hidden["nodes"][1]["column"]) == (2, None, None)
    assert "total" not in {one["column"] for one in hidden["nodes"]}
    assert "dev.main.totals" not in json.dumps(hidden)
    assert ask(machine, "main.totals/columns/total/lineage")[0] == 404
    give_role(machine.owner, "member", scope="domain:secret", actor=command_line())
    assert ask(machine, "raw.orders/columns/amount/lineage")[1]["nodes"][1]["column"] == "total"


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        ("main.stg/columns/amout/lineage", 404, "has no column amout; near it are amount"),
        ("main.nothing/columns/id/lineage", 404, "No asset is named main.nothing"),
        ("main.stg/columns/%20/lineage", 422, "The name of a column is empty."),
        ("main.stg/columns/id/lineage?hops=0", 422, "hops"),
        ("main.stg/columns/id/lineage?limit=0", 422, "limit"),
        ("main.stg/columns/id/lineage?limit=2001", 422, "2000"),
        ("main.stg/columns/id/lineage?direction=both", 422, "direction"),
    ],
)
def test_what_cannot_be_asked_is_one_sentence(machine: Machine, path: str, status: int, words: str) -> None:
    answered, told = ask(machine, path)
    assert (answered, words in told["message"]) == (status, True), told


def test_a_column_may_have_a_slash_and_the_scope_is_asked_for(machine: Machine) -> None:
    table = Asset.objects.get(name="dev.raw.orders")
    ColumnList.objects.filter(asset=table).update(
        items=[{"name": "a/b", "type": "text", "description": "", "nullable": None}]
    )
    assert ask(machine, "raw.orders/columns/a%2Fb/lineage")[1]["column"] == "a/b"
    assert ask(Machine.make(scopes=["build:read"], name="other"), "raw.orders/columns/a%2Fb/lineage")[0] == 403
