"""Searching by REST and by command: the same answer, seen with the eyes of who asks."""

from __future__ import annotations

from typing import Any

import pytest

from catalog.models import Domain
from foundation.people import create_person, give_role
from spellbook import tasks
from tests.catalog.test_search import asset
from tests.spellbook.commands import manage
from tests.spellbook.machines import Machine, command_line

pytestmark = pytest.mark.django_db


@pytest.fixture
def machine() -> Machine:
    return Machine.make(scopes=["catalog:read"])


def ask(machine: Machine, query: str) -> tuple[int, Any]:
    return machine.get(f"/assets?{query}")


def test_rest_gives_total_rows_and_what_was_meant(machine: Machine) -> None:
    asset("main.orders", columns=["amount"])
    asset("main.fct_orders", kind="source")
    status, body = ask(machine, "q=orders&limit=1")
    assert (status, body["total"], body["truncated"], body["offset"]) == (200, 2, True, 0)
    assert body["rows"][0]["asset"] == "duckdb://house/main.orders"
    assert body["rows"][0]["found_by"] == "exact"
    assert ask(machine, "q=amount")[1]["rows"][0]["columns"] == ["amount"]
    assert [row["name"] for row in ask(machine, "q=orders&kind=source&kind=seed")[1]["rows"]] == ["main.fct_orders"]
    assert ask(machine, "q=ordres")[1]["did_you_mean"] == ["orders"]
    assert ask(machine, "")[1]["total"] == 2


def test_a_token_reads_what_its_owner_may_read(machine: Machine) -> None:
    asset("main.pay", domain=Domain.objects.create(key="pay", name="Pay", restricted=True))
    assert ask(machine, "q=pay")[1]["total"] == 0
    give_role(machine.owner, "member", scope="domain:pay", actor=command_line())
    assert ask(machine, "q=pay")[1]["total"] == 1


def test_rest_refuses_in_one_sentence() -> None:
    machine = Machine.make(scopes=["catalog:read"])
    for query in ("limit=0", "limit=501", "offset=-1", "limit=x", "q=a%00b", "kind=a%00b", "q=" + "x" * 2000):
        status, body = ask(machine, query)
        assert (status, body["error"]) == (422, "bad_input"), query
    assert ask(Machine.make(name="other", scopes=["build:read"]), "q=a")[0] == 403


def test_the_command_lists_and_asks_back() -> None:
    asset("main.orders", columns=["amount"])
    ran = manage("search", "orders", "--format", "json")
    assert (ran.code, ran.json["total"], ran.json["rows"][0]["name"]) == (0, 1, "main.orders")
    assert "duckdb://house/main.orders  model, trust" in manage("search", "amount").out
    assert "Did you mean orders?" in manage("search", "ordres").out
    assert "1 of" not in manage("search", "orders").out
    asset("main.orders_2")
    assert "1 of 2, from number 1 on" in manage("search", "orders", "--limit", "1").out
    assert manage("search").code == 2
    assert manage("search", "a\0b").code == 1


def test_the_command_sees_with_the_eyes_of_the_person_named() -> None:
    asset("main.pay", domain=Domain.objects.create(key="pay", name="Pay", restricted=True))
    create_person("reader@shop.example", "Reader")
    assert manage("search", "pay", "--format", "json").json["total"] == 1
    assert manage("search", "pay", "--format", "json", "--as", "reader@shop.example").json["total"] == 0


def test_the_sweep_reads_what_is_due_and_then_rests() -> None:
    asset("main.orders", indexed=False)
    assert tasks.read_into_search() == 1
    assert tasks.read_into_search() == 0
