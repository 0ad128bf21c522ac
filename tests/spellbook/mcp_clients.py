"""MCP clients for tests: the real client of the SDK on a database of its own, in this process, and what it is told."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from django.db import connections
from mcp import Client
from mcp_types import CallToolResult, TextContent

from catalog.models import Asset, Domain
from foundation import people
from foundation.models import Person
from foundation.people import issue_token
from spellbook.mcp.server import Server
from tests.engines import Engine, open_at, put_back
from tests.spellbook.machines import Machine, make_shop

T = TypeVar("T")
SCOPES = ("catalog:read", "declare:write")
ORDERS, REVENUE = "main.orders", "main.revenue"
PING = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


@dataclass
class Cast:
    """Three tokens on a shop with a restricted board: an agent's that does all, one's that reads, a person's."""

    owner: Person
    token: str
    reader: str
    person_token: str
    servers: dict[str, Server] = field(default_factory=dict)

    def talk(self, work: Callable[[Client], Awaitable[T]], token: str | None = None, mode: str = "auto") -> T:
        """Do it with a client of a server in this process, which serves whoever bears `token`."""
        raw = token or self.token
        server = self.servers.setdefault(raw, Server(raw))

        async def talking() -> T:
            async with Client(server, mode=mode) as client:
                return await work(client)

        return asyncio.run(talking())

    def call(self, tool: str, /, token: str | None = None, **arguments: Any) -> dict[str, Any]:
        """The structured answer of one call, which must not be an error."""
        return answer(self.talk(lambda client: client.call_tool(tool, arguments), token))

    def refusal(self, tool: str, /, token: str | None = None, **arguments: Any) -> dict[str, Any]:
        """The refusal of one call."""
        return refusal(self.talk(lambda client: client.call_tool(tool, arguments), token))


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


@contextmanager
def own_database(engine: Engine, blocker: Any) -> Iterator[str]:
    """A database that the threads of the server reach too, for all tests of a module; yields its URL."""
    with blocker.unblock():
        url = engine.copy()
        previous = open_at(url)
        try:
            yield url
        finally:
            connections["default"].close()
            put_back(previous)
            engine.drop(url)


def settled() -> Cast:
    """A shop with a restricted board, and the tokens."""
    make_shop()
    machine = Machine.make(scopes=SCOPES)
    reader = issued("reader", machine.owner, "catalog:read")
    own = issue_token(machine.owner.principal, label="own", scopes=SCOPES)[1]
    hidden = Domain.objects.create(key="board", name="Board", restricted=True)
    Asset.objects.filter(name__contains="weekly_board").update(domain=hidden)
    return Cast(machine.owner, machine.token, reader, own)
