"""Reading the graph over REST: explain, lineage and blast radius of one asset, with the eyes of the agent's owner."""

from __future__ import annotations

import json
from urllib.parse import quote

import pytest

from catalog.models import Asset, Domain
from foundation import people
from foundation.people import issue_token
from spellbook.asking import MOST_ROWS
from tests.spellbook.machines import Machine, command_line, make_shop

pytestmark = pytest.mark.django_db
ORDERS = "main.orders"
ENDS = ("explain", "lineage", "blast_radius")


@pytest.fixture
def machine() -> Machine:
    make_shop()
    return Machine.make(scopes=["catalog:read"])


def test_a_table_is_explained_by_any_name_that_means_it_alone(machine: Machine) -> None:
    for name in (ORDERS, "dev.main.orders", "MAIN.ORDERS", "duckdb://wh/dev.main.orders"):
        status, found = machine.get(f"/assets/{name}/explain")
        assert (status, found["asset"]) == (200, "duckdb://wh/dev.main.orders"), name
    status, found = machine.get(f"/assets/{quote('duckdb://wh/dev.main.orders', safe='')}/explain")
    assert (status, found["upstream"]["total"]) == (200, 2)
    assert found["trust"]["score"] is not None
    assert found["checks"] == "not known yet"


def test_the_lineage_is_paged_filtered_and_counted(machine: Machine) -> None:
    status, below = machine.get(f"/assets/{ORDERS}/lineage")
    assert (status, below["total"], below["truncated"], below["direction"]) == (200, 2, False, "down")
    _, above = machine.get(f"/assets/{ORDERS}/lineage?direction=up&hops=1")
    assert [row["name"] for row in above["rows"]] == ["dev.main.stg_orders"]
    _, one = machine.get(f"/assets/{ORDERS}/lineage?limit=1&offset=1")
    assert (one["total"], one["truncated"], len(one["rows"])) == (2, True, 1)
    _, boards = machine.get(f"/assets/{ORDERS}/lineage?kind=dashboard&kind=report")
    assert [row["kind"] for row in boards["rows"]] == ["dashboard"]
    assert boards["kinds"] == {"dashboard": 1, "model": 1}


def test_the_blast_radius_has_the_form_of_the_command(machine: Machine) -> None:
    status, found = machine.get(f"/assets/{ORDERS}/blast_radius")
    assert status == 200
    assert {"asset", "total", "truncated", "nodes", "edges", "consumers", "next_read"} <= set(found)
    _, short = machine.get(f"/assets/{ORDERS}/blast_radius?limit=1")
    assert (short["total"], short["truncated"], len(short["nodes"])) == (2, True, 1)
    assert [one["kind"] for one in short["consumers"]] == ["dashboard"]  # whatever the limit
    kept = {found["asset_id"], short["nodes"][0]["asset_id"]}
    assert short["edges"]
    assert all(set(edge) <= kept for edge in short["edges"])


@pytest.mark.parametrize("end", ENDS)
def test_an_unknown_table_is_404_with_near_names(machine: Machine, end: str) -> None:
    status, told = machine.get(f"/assets/main.ordres/{end}")
    assert (status, told["error"]) == (404, "not_found")
    assert "dev.main.orders" in told["message"]


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("name", ["a%00b", "%F0%9F%99%88", "x" * 3000, "%20", "..", "a//b", "'; drop table x"])
def test_no_name_breaks_an_answer(machine: Machine, end: str, name: str) -> None:
    status, told = machine.get(f"/assets/{name}/{end}")
    assert status in (404, 422), told
    assert set(told) == {"error", "message"}


@pytest.mark.parametrize(
    "query",
    [
        "hops=0", "hops=-1", "hops=x", f"hops={2**70}", "limit=0", f"limit={MOST_ROWS + 1}", "offset=-1",
        f"offset={2**70}",
        "direction=both", "kind=a%00b", "kind=" + "x" * 300,
    ],
)  # fmt: skip
def test_limits_that_make_no_sense_are_422_in_one_sentence(machine: Machine, query: str) -> None:
    status, told = machine.get(f"/assets/{ORDERS}/lineage?{query}")
    assert (status, told["error"]) == (422, "bad_input")
    assert told["message"].endswith(".")


@pytest.mark.parametrize("end", ENDS)
def test_names_of_a_restricted_domain_are_hidden_and_counts_are_not(machine: Machine, end: str) -> None:
    board = Asset.objects.get(name__contains="weekly_board")
    Asset.objects.filter(pk=board.pk).update(
        domain=Domain.objects.create(key="board", name="Board", restricted=True), description="Only for the board"
    )
    status, found = machine.get(f"/assets/{ORDERS}/{end}")
    assert status == 200
    assert "weekly_board" not in json.dumps(found)
    assert "a dashboard of a restricted domain" in json.dumps(found)
    assert machine.get(f"/assets/{board.name}/{end}")[0] == 404
    people.give_role(machine.owner, "member", scope="domain:board", actor=command_line())
    assert "weekly_board" in json.dumps(machine.get(f"/assets/{ORDERS}/{end}")[1])
    assert machine.get(f"/assets/{board.name}/{end}")[0] == 200


@pytest.mark.parametrize("end", ENDS)
def test_a_token_needs_the_scope(machine: Machine, end: str) -> None:
    other = Machine.make(scopes=["value:write"], name="writer")
    assert other.get(f"/assets/{ORDERS}/{end}")[0] == 403
    assert machine.client.get(f"/api/v1/assets/{ORDERS}/{end}").status_code == 401
    assert machine.client.post(f"/api/v1/assets/{ORDERS}/{end}", headers=machine.headers).status_code == 405


def test_the_token_of_a_person_reads_what_the_person_may(machine: Machine) -> None:
    machine.token = issue_token(machine.owner.principal, label="own", scopes=["catalog:read"])[1]
    assert machine.get(f"/assets/{ORDERS}/explain")[0] == 200
