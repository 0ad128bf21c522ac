"""Everything that is known of one table in one answer, and "not known yet" where nothing is."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from catalog.models import Asset, AssetRole, Definition, Domain, Note
from catalog.names import find_asset
from foundation.clock import now
from foundation.people import create_agent
from incidents.models import Result
from spellbook.explain import UNKNOWN, explain
from spellbook.sight import Sight
from tests.catalog.test_freshness import build as announced
from tests.catalog.test_freshness import measured
from tests.spellbook.commands import manage
from tests.spellbook.machines import command_line, make_shop
from tests.spellbook.page_data import Scene, scene

pytestmark = pytest.mark.django_db


@pytest.fixture
def night() -> Scene:
    return scene()


def test_every_part_of_a_known_table_is_there(night: Scene) -> None:
    fact = night.assets["fct_orders"]
    found = explain(fact, at=now())
    assert [one["name"] for one in found["columns"]] == ["order_number"]
    assert found["people"]["owner"] == ["The owner"]
    assert (found["upstream"]["total"], found["downstream"]["total"]) == (2, 3)
    assert [one["name"] for one in found["readers"]["rows"]] == ["orders to ads", "Weekly board"]
    assert found["next_read"] == found["readers"]["rows"][0]["next_read"]
    assert {one["kind"]: one["last"]["status"] for one in found["checks"]} == {
        "unique": "passed", "not_null": "passed", "freshness": "not_evaluated",
    }  # fmt: skip
    assert found["metrics"][0]["verdict"] == "breach"
    assert found["open_incidents"] == [str(night.incident)]
    assert found["documentation"] == {
        "described": False, "columns": 1, "columns_described": 1, "file": UNKNOWN,
    }  # fmt: skip
    assert found["trust"]["caps"]
    assert json.loads(json.dumps(found)) == found  # plain JSON


def test_what_nobody_knows_is_said_and_is_never_an_empty_list() -> None:
    lonely = Asset.objects.create(namespace="duckdb://shop", name="lonely", kind="table")
    found = explain(lonely, at=now())
    unknown = (
        "domain", "description", "definition", "code", "columns", "checks", "metrics", "next_read", "upstream",
        "downstream", "readers", "freshness",
    )  # fmt: skip
    assert {part: found[part] for part in unknown} == dict.fromkeys(unknown, UNKNOWN)
    assert set(found["people"].values()) == {UNKNOWN}
    assert found["documentation"]["columns"] == UNKNOWN
    assert found["trust"]["state"] == "unknown"


def test_the_freshness_of_a_source_is_told_with_when_dbt_looked() -> None:
    make_shop()
    raw = find_asset("raw.orders")
    assert explain(raw, at=now())["freshness"] == UNKNOWN
    announced(command_line(), "nightly", measured("warn", hour=4), hour=4, project="shop")
    told = explain(raw, at=now())["freshness"]
    assert (told["status"], told["loaded_at"], told["measured_at"], told["build"]) == (
        "warn", "2026-03-01T02:00:00.000000Z", "2026-03-01T04:00:00.123456Z", "nightly",
    )  # fmt: skip
    assert "  freshness: late, its newest row was loaded 2026-03-01T02:00:00Z; dbt looked 2026-03-01T04:00" in (
        manage("explain_table", "raw.orders").out
    )
    assert "freshness" not in manage("explain_table", "main.orders").out


def test_the_newest_result_of_a_check_counts(night: Scene) -> None:
    fact = night.assets["fct_orders"]
    check = fact.checks.get(kind="unique")
    Result.objects.create(check_run=check, status="failed", reason="7 rows twice", at=now() + timedelta(minutes=1))
    last = {one["kind"]: one["last"] for one in explain(fact, at=now())["checks"]}
    assert (last["unique"]["status"], last["unique"]["reason"]) == ("failed", "7 rows twice")


def test_the_definition_names_its_author_and_who_approved_it(night: Scene) -> None:
    fact, owner = night.assets["fct_orders"], night.people["owner"]
    agent = create_agent("watcher", owner=owner)
    Definition.objects.create(
        asset=fact, number=1, text="One row an order.", author=agent, created_at=now(), approved_by=owner,
        approved_at=now(),
    )  # fmt: skip
    Definition.objects.create(
        asset=fact, number=2, text="Something else.", author=agent, created_at=now(), status="suggested"
    )
    found = explain(fact, at=now())["definition"]
    assert (found["text"], found["number"], found["author"], found["approved_by"], found["suggested"]) == (
        "One row an order.", 1, "watcher", "The owner", 1,
    )  # fmt: skip


def test_a_schedule_in_a_role_is_named_beside_the_people(night: Scene) -> None:
    fact = night.assets["fct_orders"]
    AssetRole.objects.create(asset=fact, label="Retail rota", role="on_call")
    assert explain(fact, at=now())["people"]["on_call"] == ["The owner", "Retail rota"]


def test_notes_that_were_refused_are_not_told(night: Scene) -> None:
    fact, owner = night.assets["fct_orders"], night.people["owner"]
    for status in ("standing", "suggested", "refused", "withdrawn"):
        Note.objects.create(asset=fact, text=status, author=owner.principal, created_at=now(), status=status)
    found = explain(fact, at=now())["notes"]
    assert found["total"] == 2
    assert {one["text"] for one in found["items"]} == {"standing", "suggested"}


def test_names_that_the_eyes_may_not_read_are_hidden(night: Scene) -> None:
    hidden = Domain.objects.create(key="hidden", name="Hidden", restricted=True)
    Asset.objects.filter(name__in=("stage_orders", "Weekly board", "orders to ads")).update(domain=hidden)
    fact = Asset.objects.select_related("domain").get(name="fct_orders")
    stranger = explain(fact, at=now(), sight=Sight(night.people["stranger"]))
    told = json.dumps(stranger)
    for name in ("stage_orders", "Weekly board", "orders to ads", "Audiences lose people"):
        assert name not in told, name
    assert (stranger["upstream"]["total"], stranger["downstream"]["total"]) == (2, 3)
    reader, board = stranger["readers"]["rows"]
    assert (reader["kind"], reader["mode"], reader["tool"]) == ("sync", "mirror", "a tool")
    assert reader["next_read"]
    assert board["through"] == "a sync of a restricted domain"
    assert "Weekly board" in json.dumps(explain(fact, at=now(), sight=Sight(night.people["admin"])))


def test_the_command_sees_all_and_a_person_sees_with_their_own_eyes(night: Scene) -> None:
    hidden = Domain.objects.create(key="hidden", name="Hidden", restricted=True)
    Asset.objects.filter(name="Weekly board").update(domain=hidden)
    asked = ("explain_table", "fct_orders", "--format", "json")
    assert "Weekly board" in manage(*asked).out
    assert "Weekly board" not in manage(*asked, "--as", "stranger@shop.example").out
    refused = manage("explain_table", "Weekly board", "--as", "stranger@shop.example")
    assert refused.code == 1
    assert "No asset is named Weekly board" in refused.err
