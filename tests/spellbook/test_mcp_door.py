"""Who is let in at /mcp, and what is turned away: requests as no client of the SDK would send them, and some that it
would, to the application that the web process serves."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from pytest_django import Settings

from catalog.models import Note
from foundation import people
from foundation.audit import Actor
from foundation.models import Token
from foundation.people import deactivate, reactivate
from foundation.tokens import revoke_token
from spellbook.asgi import application
from tests.engines import Engine
from tests.spellbook import docs
from tests.spellbook.commands import manage
from tests.spellbook.mcp_clients import ORDERS, PING, REVENUE, SCOPES, Cast, answer, issued, own_database, settled

SITE = "http://localhost:8000"


@pytest.fixture(scope="module")
def cast(django_db_setup: None, django_db_blocker: Any, database_engine: Engine) -> Iterator[Cast]:
    with own_database(database_engine, django_db_blocker):
        yield settled()


def web(**headers: str) -> httpx2.AsyncClient:
    app: Any = application
    return httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url=SITE, headers=headers, timeout=60)


def over(client: httpx2.AsyncClient) -> Any:
    return streamable_http_client(f"{SITE}/mcp", http_client=client)


def send(body: object, method: str = "POST", path: str = "/mcp", **headers: str) -> httpx2.Response:
    """One request, as it is."""
    sent = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json", **headers}

    async def sending() -> httpx2.Response:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        async with web() as client:
            return await client.request(method, path, content=content, headers=sent)

    return asyncio.run(sending())


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def test_a_client_over_http_is_answered_and_its_token_is_who_asks(cast: Cast) -> None:
    async def asked(token: str) -> tuple[dict[str, Any], bool]:
        async with (
            web(**bearer(token)) as client,
            Client(streamable_http_client(f"{SITE}/mcp", http_client=client)) as mcp,
        ):
            found = answer(await mcp.call_tool("search", {"text": "orders"}))
            return found, (await mcp.call_tool("note", {"asset": ORDERS, "text": "By HTTP."})).is_error or False

    over_http, refused = asyncio.run(asked(cast.reader))
    assert over_http == cast.call("search", text="orders")
    assert refused
    assert not asyncio.run(asked(cast.token))[1]


@pytest.mark.parametrize("shown", docs.mcp_calls(), ids=str)
def test_the_request_of_the_page_is_answered(cast: Cast, shown: docs.Shown) -> None:
    words = shown.words(TOKEN=cast.token)[1:-1]
    options = list(zip(words[::2], words[1::2], strict=True))
    headers = dict(value.split(": ", 1) for option, value in options if option == "-H")
    body = next(value for option, value in options if option == "-d")
    told = send(body.encode(), **headers).json()
    assert set(told) == {"jsonrpc", "id", "result"}
    assert told["result"]["isError"] is False
    assert told["result"]["structuredContent"]["asset"] == "duckdb://wh/dev.main.orders"


def test_the_door_lets_in_only_who_bears_the_token_of_an_agent(cast: Cast) -> None:
    unsigned = send(PING)
    assert (unsigned.status_code, unsigned.headers["www-authenticate"]) == (401, "Bearer")
    assert unsigned.json()["error"] == "not_signed_in"
    for bad in ("Basic abc", "Bearer", "Bearer nothing", "Bearer sbk_" + "a" * 5000):
        assert send(PING, Authorization=bad).status_code == 401, bad
    own = send(PING, **bearer(cast.person_token))
    assert (own.status_code, own.json()["message"]) == (
        401, "Only the token of an agent is taken here; people have the pages and the command line.",
    )  # fmt: skip
    assert send(PING, Authorization=f"bearer {cast.token}").status_code == 200


def test_a_revoked_token_and_a_deactivated_owner_end_every_way_in(cast: Cast) -> None:
    token = issued("short", cast.owner, *SCOPES)
    actor = Actor(people.system("cli"), "cli")
    cast.call("explain_table", token=token, asset=ORDERS)
    deactivate(cast.owner, actor=actor)
    assert send(PING, **bearer(token)).status_code == 401
    reactivate(cast.owner, actor=actor)
    assert send(PING, **bearer(token)).status_code == 200
    revoke_token(Token.objects.get(label="short"), actor=actor)
    assert send(PING, **bearer(token)).json()["message"] == "This token was revoked."
    told = cast.refusal("explain_table", token=token, asset=ORDERS)
    assert told == {"error": "not_allowed", "message": "This token was revoked."}


def test_other_sites_other_hosts_and_other_methods_are_turned_away(cast: Cast) -> None:
    signed = bearer(cast.token)
    assert send(PING, **signed, Origin="https://evil.example").status_code == 403
    assert send(PING, **signed, Origin=SITE).status_code == 200
    assert send(PING, **signed, Host="evil.example").status_code == 421
    for method in ("GET", "DELETE", "PUT"):
        told = send(PING, method, **signed)
        assert (told.status_code, told.headers["allow"]) == (405, "POST")
    assert send(PING, "GET", "/mcp/more").status_code == 404
    assert send(PING, "GET", "/healthz").status_code == 200


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b'{"jsonrpc":"2.0"}', b"\xff\xfe", b"[" * 100_000])
def test_a_body_that_is_no_message_is_an_error_of_the_client(cast: Cast, body: bytes) -> None:
    told = send(body, **bearer(cast.token))
    assert 400 <= told.status_code < 500
    assert "Traceback" not in told.text


def test_a_body_of_many_megabytes_is_refused(cast: Cast) -> None:
    assert send(b"x" * 5_000_000, **bearer(cast.token)).status_code == 413


def test_half_a_surrogate_pair_is_refused_in_words(cast: Cast) -> None:
    asked = '{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "explain_table", "arguments": %s}}'
    for name in ("\\ud800", "a\\udfffb"):
        call = asked % f'{{"asset": "{name}"}}'
        told = send(call.encode(), **bearer(cast.token)).json()
        assert "error" in told or told["result"]["isError"], told


def test_many_clients_at_once_get_their_own_answers(cast: Cast) -> None:
    async def one(name: str, token: str) -> str:
        async with (
            web(**bearer(token)) as client,
            Client(streamable_http_client(f"{SITE}/mcp", http_client=client)) as mcp,
        ):
            said = await mcp.call_tool("note", {"asset": name, "text": f"{name} at once"})
            return "refused" if said.is_error else "kept"

    async def all_of_them() -> list[str]:
        calls = [one(REVENUE, cast.reader if number % 2 else cast.token) for number in range(12)]
        return await asyncio.gather(*calls)

    assert asyncio.run(all_of_them()) == ["kept", "refused"] * 6
    assert Note.objects.filter(asset__name="dev.main.revenue").count() == 1


def test_the_command_serves_nobody_without_the_token_of_an_agent(cast: Cast, settings: Settings) -> None:
    for token, said in (
        ("", "Set SPELLBOOK_MCP_TOKEN, or SPELLBOOK_MCP_TOKEN_FILE, to the token of an agent"),
        ("sbk_nothing", "This token is not known here."),
        (cast.person_token, "Only the token of an agent is taken here"),
    ):
        settings.SPELLBOOK_MCP_TOKEN = token
        ran = manage("mcp")
        assert (ran.code, ran.out, ran.err.count("\n")) == (1, "", 1)
        assert said in ran.err
