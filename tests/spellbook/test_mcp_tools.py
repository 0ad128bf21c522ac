"""Each MCP tool as a client sees it: its contract, its answers, its refusals; client and server in one process."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from mcp import Client

from catalog.models import Consumer, Definition, Note
from foundation import people
from foundation.audit import Actor
from foundation.models import AuditRow
from spellbook.mcp.tools import TOOLS
from tests.engines import Engine
from tests.spellbook.mcp_clients import ORDERS, REVENUE, Cast, answer, own_database, refusal, settled


@pytest.fixture(scope="module")
def cast(django_db_setup: None, django_db_blocker: Any, database_engine: Engine) -> Iterator[Cast]:
    with own_database(database_engine, django_db_blocker):
        yield settled()


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_every_tool_is_listed_with_its_arguments_its_answer_and_what_it_does(cast: Cast, mode: str) -> None:
    listed = cast.talk(lambda client: client.list_tools(), mode=mode).tools
    assert [tool.name for tool in listed] == [tool.__name__ for tool, _ in TOOLS]
    for tool in listed:
        assert tool.description
        assert tool.annotations is not None
        assert tool.output_schema is not None
        assert tool.output_schema["type"] == "object"
        assert tool.annotations.destructive_hint is False
        assert tool.annotations.read_only_hint is (tool.name not in ("declare", "note"))
        properties: Mapping[str, Any] = tool.input_schema["properties"]
        assert all("type" in one or "anyOf" in one for one in properties.values())


def test_no_tool_decides_anything(cast: Cast) -> None:
    listed = cast.talk(lambda client: client.list_tools()).tools
    words = ("approve", "decide", "raise", "lower", "stop", "lift", "run", "refuse", "close")
    assert not [tool.name for tool in listed if any(word in tool.name for word in words)]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_tools_that_read_answer(cast: Cast, mode: str) -> None:
    async def asked(client: Client) -> list[dict[str, Any]]:
        calls: list[tuple[str, dict[str, Any]]] = [
            ("search", {"text": "orders"}),
            ("explain_table", {"asset": ORDERS}),
            ("lineage", {"asset": ORDERS, "direction": "up"}),
            ("blast_radius", {"asset": ORDERS, "hops": 1}),
        ]
        return [answer(await client.call_tool(tool, arguments)) for tool, arguments in calls]

    found, explained, above, below = cast.talk(asked, mode=mode)
    assert found["total"] >= 2
    assert explained["asset"].endswith("dev.main.orders")
    assert explained["checks"] == "not known yet"
    assert [row["name"] for row in above["rows"]] == ["dev.main.stg_orders", "dev.raw.orders"]
    assert (below["total"], len(below["nodes"])) == (2, 1)


def test_a_column_whose_code_nobody_read_is_followed_by_its_tables_and_says_so(cast: Cast) -> None:
    told = cast.call("column_lineage", asset="raw.orders", column="id")
    assert (told["direction"], told["total"], told["truncated"]) == ("down", 0, False)
    assert told["fallback_total"] == len(told["fallback"]) == 4
    assert all(one["reason"] for one in told["fallback"])
    assert None in {one["name"] for one in told["fallback"]}  # the board of the restricted domain
    assert cast.call("column_lineage", asset="raw.orders", column="id", limit=1)["truncated"] is True


def test_an_unknown_table_is_an_error_with_near_names_and_never_no_impact(cast: Cast) -> None:
    for tool, more in (
        ("explain_table", {}),
        ("lineage", {}),
        ("blast_radius", {}),
        ("column_lineage", {"column": "a"}),
    ):
        told = cast.refusal(tool, asset="main.ordres", **more)
        assert told["error"] == "not_found"
        assert "dev.main.orders" in told["message"]


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("blast_radius", {}, "asset is needed."),
    ("blast_radius", {"asset": ORDERS, "hops": 0}, "hops: "),
    ("blast_radius", {"asset": ORDERS, "hops": 2**80}, "hops: "),
    ("blast_radius", {"asset": ORDERS, "depth": 2}, "blast_radius takes asset, hops, limit, not depth."),
    ("blast_radius", {"asset": "a\0b"}, "No asset is named"),
    ("blast_radius", {"asset": 7}, "asset: "),
    ("blast_radius", {"asset": "x" * 2000}, "asset: "),
    ("blast_radius", {"asset": ""}, "The name of an asset is empty."),
    ("lineage", {"asset": ORDERS, "direction": "sideways"}, "direction: "),
    ("lineage", {"asset": ORDERS, "kinds": ["a\0b"]}, "null character"),
    ("lineage", {"asset": ORDERS, "kinds": 7}, "kinds: give a text or a list of texts."),
    ("column_lineage", {"asset": ORDERS}, "column is needed."),
    ("column_lineage", {"asset": ORDERS, "column": ""}, "The name of a column is empty."),
    ("column_lineage", {"asset": ORDERS, "column": "id", "limit": 0}, "limit: "),
    ("search", {"text": "a\0b"}, "null character"),
    ("search", {"text": "orders", "limit": 10**9}, "limit: "),
    ("note", {"asset": ORDERS, "text": "a\0b"}, "text"),
    ("note", {"asset": "nothing_like_it", "text": "a"}, "No asset is named"),
    ("declare", {"asset": "a\0b", "kind": "dashboard"}, "asset"),
    ("declare", {"asset": "A", "kind": "dashboard", "cron": "every day"}, "cron"),
    ("declare", {"asset": "A", "tool": "t", "mode": "sideways"}, "mode: "),
    ("declare", {"asset": "A", "kind": "dashboard", "reads": 7}, "reads: give a text or a list of texts."),
    ("declare", {"asset": "A", "kind": "dashboard", "reads": ["a", 7]}, "reads: give a text or a list of texts."),
    ("declare", {"asset": "A", "kind": "dashboard", "reads": ["a"] * 201}, "reads: at most 200 names are taken."),
    ("approve", {"request": 1}, "There is no tool 'approve'"),
]


def test_what_cannot_be_used_is_one_sentence_in_json(cast: Cast) -> None:
    async def asked(client: Client) -> list[dict[str, Any]]:
        return [refusal(await client.call_tool(tool, arguments)) for tool, arguments, _ in REFUSED]

    for told, (tool, arguments, words) in zip(cast.talk(asked), REFUSED, strict=True):
        assert words in told["message"], (tool, arguments, told)
        assert "\n" not in told["message"]
        assert told["message"][-1] in ".?!"
        assert ". " not in told["message"], told
        assert "Traceback" not in told["message"]


def test_a_suggested_reader_waits_for_a_person_and_counts_meanwhile(cast: Cast) -> None:
    told = cast.call(
        "declare", asset="Churn mirror", kind="sync", tool="crm", mode="mirror", reads=[REVENUE], cron="0 2 * * *",
        zone="Europe/Berlin", consequence="Rows removed here vanish there.",
    )  # fmt: skip
    assert told["consumers"] == ["Churn mirror"]
    assert told["status"].startswith("suggested")
    row = Consumer.objects.get(asset__name="Churn mirror")
    assert (row.status, row.approved_by_id) == ("suggested", None)
    assert row.suggested_by is not None
    assert row.suggested_by.owner == cast.owner
    assert "Churn mirror" in [one["name"] for one in cast.call("blast_radius", asset=ORDERS)["consumers"]]
    audited = AuditRow.objects.filter(source="mcp").order_by("-pk").first()
    assert audited is not None
    assert audited.principal.kind == "agent"


def test_one_name_stands_for_a_list_of_one(cast: Cast) -> None:
    cast.call("declare", asset="Weekly copy", kind="sync", tool="copier", mode="full", reads=REVENUE)
    told = cast.call("declare", asset="Copied board", kind="dashboard", reads=ORDERS, through="Weekly copy")
    assert told["unmatched"] == []
    asked = cast.call("blast_radius", asset=REVENUE)["consumers"]
    assert {"Weekly copy", "Copied board"} <= {one["name"] for one in asked}
    listed = cast.call("lineage", asset=ORDERS, kinds="sync")
    assert {row["kind"] for row in listed["rows"]} == {"sync"}
    assert {row["kind"] for row in cast.call("search", text="orders", kinds="source")["rows"]} == {"source"}


def test_a_suggested_note_and_definition_wait_too(cast: Cast) -> None:
    cast.call("note", asset=ORDERS, text="Returns stand here as negative amounts.")
    note = Note.objects.get(asset__name="dev.main.orders")
    assert (note.status, note.approved_by_id) == ("suggested", None)
    cast.call("declare", asset=ORDERS, definition="One row an order.")
    written = Definition.objects.get(asset__name="dev.main.orders")
    assert (written.status, written.approved_by_id) == ("suggested", None)
    explained = cast.call("explain_table", asset=ORDERS)
    assert explained["notes"]["items"][0]["status"] == "suggested"
    assert explained["definition"] == {"text": "not known yet", "suggested": 1}
    again = cast.call("note", asset=ORDERS, text="Returns stand here as negative amounts.")
    assert again["notes"] == 0


def test_an_agent_names_no_domain_and_no_people(cast: Cast) -> None:
    assert "takes" in cast.refusal("declare", asset="Board", domain="sales")["message"]
    assert "takes" in cast.refusal("declare", asset="Board", owner="owner@example.org")["message"]


def test_names_of_a_restricted_domain_are_hidden_and_counts_are_not(cast: Cast) -> None:
    radius = cast.call("blast_radius", asset=ORDERS)
    board = next(one for one in radius["consumers"] if "restricted" in one["name"])
    assert board["name"] == "a dashboard of a restricted domain"
    assert radius["total"] == len(radius["nodes"])
    walked = cast.call("lineage", asset=ORDERS)
    assert "weekly_board" not in json.dumps([radius, walked, cast.call("explain_table", asset=ORDERS)])
    assert cast.refusal("explain_table", asset="exposure.shop.weekly_board")["error"] == "not_found"
    people.give_role(cast.owner, "member", scope="domain:board", actor=Actor(people.system("cli"), "cli"))
    assert "weekly_board" in json.dumps(cast.call("blast_radius", asset=ORDERS))
    people.take_role(cast.owner, "member", scope="domain:board", actor=Actor(people.system("cli"), "cli"))


def test_a_token_without_the_scope_is_refused_by_the_tool_that_needs_it(cast: Cast) -> None:
    cast.call("explain_table", token=cast.reader, asset=ORDERS)
    cast.call("column_lineage", token=cast.reader, asset=ORDERS, column="id")
    told = cast.refusal("note", token=cast.reader, asset=ORDERS, text="no")
    assert told == {"error": "not_allowed", "message": "This token does not carry the scope declare:write."}
