"""The MCP server as its clients see it: the real `mcp` client, over HTTP to the real web process and over stdio."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import httpx
import httpx2
import pytest
from django.db import connections
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, TextContent

from catalog.models import Asset, Consumer, Definition, Domain, Note
from foundation import people
from foundation.audit import Actor
from foundation.models import AuditRow, Person, Token
from foundation.people import deactivate, issue_token, reactivate
from foundation.tokens import revoke_token
from spellbook.mcp.tools import TOOLS
from tests.engines import Engine, open_at, put_back
from tests.spellbook.machines import Machine, make_shop

ROOT = Path(__file__).resolve().parents[2]
T = TypeVar("T")
SCOPES = ("catalog:read", "declare:write")
ORDERS, REVENUE = "main.orders", "main.revenue"


@dataclass
class Served:
    """A running web process on a database of its own, and the tokens of three agents."""

    port: int
    environment: dict[str, str]
    owner: Person
    token: str
    reader: str
    person_token: str

    @property
    def url(self) -> str:
        return f"http://localhost:{self.port}/mcp"

    def http(self, work: Callable[[Client], Awaitable[T]], token: str | None = None, mode: str = "auto") -> T:
        """Do it with a client of the server at /mcp."""

        async def talk() -> T:
            headers = {"Authorization": f"Bearer {token or self.token}"}
            async with (
                httpx2.AsyncClient(headers=headers, timeout=30) as web,
                Client(streamable_http_client(self.url, http_client=web), mode=mode) as client,
            ):
                return await work(client)

        return asyncio.run(talk())

    def stdio(self, work: Callable[[Client], Awaitable[T]], token: str | None = None, mode: str = "auto") -> T:
        """Do it with a client that starts `manage.py mcp` itself."""

        async def talk() -> T:
            env = {**self.environment, "SPELLBOOK_MCP_TOKEN": token or self.token}
            server = StdioServerParameters(command=sys.executable, args=["manage.py", "mcp"], env=env, cwd=ROOT)
            async with Client(server, mode=mode) as client:
                return await work(client)

        return asyncio.run(talk())

    def call(self, tool: str, /, token: str | None = None, **arguments: Any) -> dict[str, Any]:
        """The structured answer of one call over HTTP, which must not be an error."""
        return answer(self.http(lambda client: client.call_tool(tool, arguments), token))

    def refusal(self, tool: str, /, token: str | None = None, **arguments: Any) -> dict[str, Any]:
        """The refusal of one call over HTTP."""
        return refusal(self.http(lambda client: client.call_tool(tool, arguments), token))

    def post(self, body: object, **headers: str) -> httpx.Response:
        """A request as no client of the SDK would send it."""
        sent = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json", **headers}
        return httpx.post(self.url, content=body if isinstance(body, bytes) else json.dumps(body), headers=sent)


def answer(result: CallToolResult) -> dict[str, Any]:
    assert not result.is_error, result.content
    assert isinstance(result.structured_content, dict)
    assert isinstance(result.content[0], TextContent)
    assert json.loads(result.content[0].text) == result.structured_content  # for clients that read text alone
    return result.structured_content


def refusal(result: CallToolResult) -> dict[str, Any]:
    assert result.is_error
    assert isinstance(result.content[0], TextContent)
    found: dict[str, Any] = json.loads(result.content[0].text)
    assert set(found) == {"error", "message"}
    return found


def issued(agent: str, owner: Person, *scopes: str, namespaces: tuple[str, ...] = ()) -> str:
    made = people.create_agent(agent, owner=owner, namespaces=namespaces)
    return issue_token(made, label=agent, scopes=scopes)[1]


@pytest.fixture(scope="module")
def served(
    django_db_setup: None, django_db_blocker: Any, database_engine: Engine, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    with django_db_blocker.unblock():
        url = database_engine.copy()
        previous = open_at(url)
        data = tmp_path_factory.mktemp("mcp")
        listening = socket.create_server(("localhost", 0))
        port = listening.getsockname()[1]
        environment = {
            "PATH": os.environ["PATH"], "DATABASE_URL": url, "SPELLBOOK_DATA_DIR": str(data), "PORT": str(port),
        }  # fmt: skip
        process = None
        try:
            made = settled(port, environment)
            process = subprocess.Popen(
                [sys.executable, "-m", "spellbook.web", str(listening.fileno())], cwd=ROOT, env=environment,
                pass_fds=(listening.fileno(),), stderr=(data / "web.log").open("wb"),
            )  # fmt: skip
            until(lambda: httpx.get(f"http://localhost:{port}/healthz").status_code == 200)
            yield made
        finally:
            if process is not None:
                process.terminate()
                process.wait()
            listening.close()
            connections["default"].close()
            put_back(previous)
            database_engine.drop(url)


def settled(port: int, environment: dict[str, str]) -> Served:
    """A shop with a restricted board, and the tokens."""
    make_shop()
    machine = Machine.make(scopes=SCOPES)
    reader = issued("reader", machine.owner, "catalog:read")
    own = issue_token(machine.owner.principal, label="own", scopes=SCOPES)[1]
    hidden = Domain.objects.create(key="board", name="Board", restricted=True)
    Asset.objects.filter(name__contains="weekly_board").update(domain=hidden)
    return Served(port, environment, machine.owner, machine.token, reader, own)


def until(done: Callable[[], object], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while True:
        try:
            if done():
                return
        except httpx.HTTPError:
            pass
        assert time.monotonic() < end
        time.sleep(0.1)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_every_tool_is_listed_with_its_arguments_its_answer_and_what_it_does(served: Served, mode: str) -> None:
    listed = served.http(lambda client: client.list_tools(), mode=mode).tools
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


def test_no_tool_decides_anything(served: Served) -> None:
    listed = served.http(lambda client: client.list_tools()).tools
    words = ("approve", "decide", "raise", "lower", "stop", "lift", "run", "refuse", "close")
    assert not [tool.name for tool in listed if any(word in tool.name for word in words)]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_tools_answer_over_http_and_over_stdio_alike(served: Served, mode: str) -> None:
    async def asked(client: Client) -> list[dict[str, Any]]:
        calls: list[tuple[str, dict[str, Any]]] = [
            ("search", {"text": "orders"}),
            ("explain_table", {"asset": ORDERS}),
            ("lineage", {"asset": ORDERS, "direction": "up"}),
            ("blast_radius", {"asset": ORDERS, "hops": 1}),
        ]
        return [answer(await client.call_tool(tool, arguments)) for tool, arguments in calls]

    over_http = served.http(asked, mode=mode)
    assert served.stdio(asked, mode=mode) == over_http
    found, explained, above, below = over_http
    assert found["total"] >= 2
    assert explained["asset"].endswith("dev.main.orders")
    assert explained["checks"] == "not known yet"
    assert [row["name"] for row in above["rows"]] == ["dev.main.stg_orders", "dev.raw.orders"]
    assert (below["total"], len(below["nodes"])) == (2, 1)


def test_an_unknown_table_is_an_error_with_near_names_and_never_no_impact(served: Served) -> None:
    for tool in ("explain_table", "lineage", "blast_radius"):
        told = served.refusal(tool, asset="main.ordres")
        assert told["error"] == "not_found"
        assert "dev.main.orders" in told["message"]


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("blast_radius", {}, "asset: Field required."),
    ("blast_radius", {"asset": ORDERS, "hops": 0}, "hops:"),
    ("blast_radius", {"asset": ORDERS, "hops": 2**80}, "hops:"),
    ("blast_radius", {"asset": ORDERS, "depth": 2}, "blast_radius takes asset, hops, limit, not depth."),
    ("blast_radius", {"asset": "a\0b"}, "No asset is named"),
    ("blast_radius", {"asset": 7}, "asset:"),
    ("blast_radius", {"asset": "x" * 2000}, "asset:"),
    ("blast_radius", {"asset": ""}, "The name of an asset is empty."),
    ("lineage", {"asset": ORDERS, "direction": "sideways"}, "direction:"),
    ("lineage", {"asset": ORDERS, "kinds": ["a\0b"]}, "null character"),
    ("search", {"text": "a\0b"}, "null character"),
    ("search", {"text": "orders", "limit": 10**9}, "limit:"),
    ("note", {"asset": ORDERS, "text": "a\0b"}, "text"),
    ("note", {"asset": "nothing_like_it", "text": "a"}, "No asset is named"),
    ("declare", {"asset": "a\0b", "kind": "dashboard"}, "asset"),
    ("declare", {"asset": "A", "kind": "dashboard", "cron": "every day"}, "cron"),
    ("declare", {"asset": "A", "tool": "t", "mode": "sideways"}, "mode:"),
    ("approve", {"request": 1}, "There is no tool 'approve'"),
]


def test_what_cannot_be_used_is_one_sentence_in_json(served: Served) -> None:
    async def asked(client: Client) -> list[dict[str, Any]]:
        return [refusal(await client.call_tool(tool, arguments)) for tool, arguments, _ in REFUSED]

    for told, (tool, arguments, words) in zip(served.http(asked), REFUSED, strict=True):
        assert words in told["message"], (tool, arguments)
        assert "\n" not in told["message"]
        assert "Traceback" not in told["message"]


def test_half_a_surrogate_pair_is_refused_in_words(served: Served) -> None:
    asked = '{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "explain_table", "arguments": %s}}'
    for name in ("\\ud800", "a\\udfffb"):
        call = asked % f'{{"asset": "{name}"}}'
        told = served.post(call.encode(), Authorization=f"Bearer {served.token}").json()
        assert "error" in told or told["result"]["isError"], told


def test_a_suggested_reader_waits_for_a_person_and_counts_meanwhile(served: Served) -> None:
    told = served.call(
        "declare", asset="Churn mirror", kind="sync", tool="crm", mode="mirror", reads=[REVENUE], cron="0 2 * * *",
        zone="Europe/Berlin", consequence="Rows removed here vanish there.",
    )  # fmt: skip
    assert told["consumers"] == ["Churn mirror"]
    assert told["status"].startswith("suggested")
    row = Consumer.objects.get(asset__name="Churn mirror")
    assert (row.status, row.approved_by_id) == ("suggested", None)
    assert row.suggested_by is not None
    assert row.suggested_by.owner == served.owner
    assert "Churn mirror" in [one["name"] for one in served.call("blast_radius", asset=ORDERS)["consumers"]]
    audited = AuditRow.objects.filter(source="mcp").order_by("-pk").first()
    assert audited is not None
    assert audited.principal.kind == "agent"


def test_a_suggested_note_and_definition_wait_too(served: Served) -> None:
    served.call("note", asset=ORDERS, text="Returns stand here as negative amounts.")
    note = Note.objects.get(asset__name="dev.main.orders")
    assert (note.status, note.approved_by_id) == ("suggested", None)
    served.call("declare", asset=ORDERS, definition="One row an order.")
    written = Definition.objects.get(asset__name="dev.main.orders")
    assert (written.status, written.approved_by_id) == ("suggested", None)
    explained = served.call("explain_table", asset=ORDERS)
    assert explained["notes"]["items"][0]["status"] == "suggested"
    assert explained["definition"] == {"text": "not known yet", "suggested": 1}
    again = served.call("note", asset=ORDERS, text="Returns stand here as negative amounts.")
    assert again["notes"] == 0


def test_an_agent_names_no_domain_and_no_people(served: Served) -> None:
    assert "takes" in served.refusal("declare", asset="Board", domain="sales")["message"]
    assert "takes" in served.refusal("declare", asset="Board", owner="owner@example.org")["message"]


def test_names_of_a_restricted_domain_are_hidden_and_counts_are_not(served: Served) -> None:
    radius = served.call("blast_radius", asset=ORDERS)
    board = next(one for one in radius["consumers"] if one["kind"] == "dashboard")
    assert board["name"] == "a dashboard of a restricted domain"
    assert radius["total"] == len(radius["nodes"])
    walked = served.call("lineage", asset=ORDERS)
    assert "weekly_board" not in json.dumps([radius, walked, served.call("explain_table", asset=ORDERS)])
    assert served.refusal("explain_table", asset="exposure.shop.weekly_board")["error"] == "not_found"
    people.give_role(served.owner, "member", scope="domain:board", actor=Actor(people.system("cli"), "cli"))
    assert "weekly_board" in json.dumps(served.call("blast_radius", asset=ORDERS))
    people.take_role(served.owner, "member", scope="domain:board", actor=Actor(people.system("cli"), "cli"))


def test_a_token_without_the_scope_is_refused_by_the_tool_that_needs_it(served: Served) -> None:
    served.call("explain_table", token=served.reader, asset=ORDERS)
    told = served.refusal("note", token=served.reader, asset=ORDERS, text="no")
    assert told == {"error": "not_allowed", "message": "This token does not carry the scope declare:write."}


PING = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


def test_the_door_lets_in_only_who_bears_the_token_of_an_agent(served: Served) -> None:
    unsigned = served.post(PING)
    assert (unsigned.status_code, unsigned.headers["www-authenticate"]) == (401, "Bearer")
    assert unsigned.json()["error"] == "not_signed_in"
    for bad in ("Basic abc", "Bearer", "Bearer nothing", "Bearer sbk_" + "a" * 5000):
        assert served.post(PING, Authorization=bad).status_code == 401, bad
    own = served.post(PING, Authorization=f"Bearer {served.person_token}")
    assert (own.status_code, own.json()["message"]) == (
        401, "Only the token of an agent is taken here; people have the pages and the command line.",
    )  # fmt: skip
    assert served.post(PING, Authorization=f"bearer {served.token}").status_code == 200


def test_a_revoked_token_and_a_deactivated_owner_end_every_way_in(served: Served) -> None:
    token = issued("short", served.owner, *SCOPES)
    row = Token.objects.get(label="short")
    served.call("explain_table", token=token, asset=ORDERS)
    actor = Actor(people.system("cli"), "cli")
    deactivate(served.owner, actor=actor)
    assert served.post(PING, Authorization=f"Bearer {token}").status_code == 401
    reactivate(served.owner, actor=actor)

    async def revoked_meanwhile(client: Client) -> dict[str, Any]:
        answer(await client.call_tool("explain_table", {"asset": ORDERS}))
        await asyncio.to_thread(revoke, row, actor)
        return refusal(await client.call_tool("explain_table", {"asset": ORDERS}))

    told = served.stdio(revoked_meanwhile, token=token)
    assert told == {"error": "not_allowed", "message": "This token was revoked."}
    assert served.post(PING, Authorization=f"Bearer {token}").json()["message"] == "This token was revoked."


def revoke(row: Token, actor: Actor) -> None:
    revoke_token(row, actor=actor)
    connections["default"].close()


def test_other_sites_other_hosts_and_other_methods_are_turned_away(served: Served) -> None:
    signed = {"Authorization": f"Bearer {served.token}"}
    assert served.post(PING, **signed, Origin="https://evil.example").status_code == 403
    assert served.post(PING, **signed, Origin=f"http://localhost:{served.port}").status_code == 200
    assert served.post(PING, **signed, Host="evil.example").status_code == 421
    for method in ("GET", "DELETE", "PUT"):
        told = httpx.request(method, served.url, headers=signed)
        assert (told.status_code, told.headers["allow"]) == (405, "POST")
    assert httpx.get(f"http://localhost:{served.port}/mcp/more").status_code == 404
    assert httpx.get(f"http://localhost:{served.port}/healthz").status_code == 200


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b'{"jsonrpc":"2.0"}', b"\xff\xfe", b"[" * 100_000])
def test_a_body_that_is_no_message_is_an_error_of_the_client(served: Served, body: bytes) -> None:
    told = served.post(body, Authorization=f"Bearer {served.token}")
    assert 400 <= told.status_code < 500
    assert "Traceback" not in told.text


def test_a_body_of_many_megabytes_is_refused(served: Served) -> None:
    assert served.post(b"x" * 5_000_000, Authorization=f"Bearer {served.token}").status_code == 413


def test_many_clients_at_once_get_their_own_answers(served: Served) -> None:
    async def one(name: str, token: str) -> str:
        async with (
            httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=60) as web,
            Client(streamable_http_client(served.url, http_client=web)) as client,
        ):
            said = await client.call_tool("note", {"asset": name, "text": f"{name} at once"})
            return "refused" if said.is_error else "kept"

    async def all_of_them() -> list[str]:
        calls = [one(REVENUE, served.reader if number % 2 else served.token) for number in range(12)]
        return await asyncio.gather(*calls)

    assert asyncio.run(all_of_them()) == ["kept", "refused"] * 6
    assert Note.objects.filter(asset__name="dev.main.revenue").count() == 1


@pytest.mark.parametrize(
    ("token", "sentence"),
    [
        ("", "Set SPELLBOOK_MCP_TOKEN, or SPELLBOOK_MCP_TOKEN_FILE, to the token of an agent"),
        ("sbk_nothing", "This token is not known here."),
        ("person", "Only the token of an agent is taken here"),
    ],
)
def test_the_command_without_the_token_of_an_agent_is_one_sentence(served: Served, token: str, sentence: str) -> None:
    token = served.person_token if token == "person" else token
    env = {**served.environment, **({"SPELLBOOK_MCP_TOKEN": token} if token else {})}
    done = subprocess.run(
        [sys.executable, "manage.py", "mcp"], cwd=ROOT, env=env, input="", capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1


def test_the_token_may_stand_in_a_file_and_the_command_ends_with_its_client(served: Served, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(served.token)
    env = {**served.environment, "SPELLBOOK_MCP_TOKEN_FILE": str(file)}
    asked = json.dumps(PING) + "\n"
    done = subprocess.run(
        [sys.executable, "manage.py", "mcp"], cwd=ROOT, env=env, input=asked, capture_output=True, text=True,
        check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in done.stdout.splitlines())  # nothing else is written
