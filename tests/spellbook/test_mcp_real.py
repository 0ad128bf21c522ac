"""MCP as it is run: the real web process over HTTP, and `manage.py mcp` that a client starts itself over stdio."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import httpx
import httpx2
import pytest
from django.db import connections
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from foundation import people
from foundation.audit import Actor
from foundation.models import Token
from foundation.tokens import revoke_token
from tests.engines import Engine
from tests.spellbook.mcp_clients import ORDERS, PING, SCOPES, Cast, answer, issued, own_database, refusal, settled

ROOT = Path(__file__).resolve().parents[2]
COMMAND = [sys.executable, "manage.py", "mcp"]
T = TypeVar("T")

pytestmark = pytest.mark.real


class Served:
    """A running web process, and the environment in which `manage.py mcp` finds the same database."""

    def __init__(self, cast: Cast, port: int, environment: dict[str, str]) -> None:
        self.cast, self.port, self.environment = cast, port, environment

    def http(self, work: Callable[[Client], Awaitable[T]], mode: str) -> T:
        """Do it with a client of the server at /mcp."""

        async def talk() -> T:
            headers = {"Authorization": f"Bearer {self.cast.token}"}
            address = f"http://localhost:{self.port}/mcp"
            async with (
                httpx2.AsyncClient(headers=headers, timeout=30) as web,
                Client(streamable_http_client(address, http_client=web), mode=mode) as client,
            ):
                return await work(client)

        return asyncio.run(talk())

    def stdio(self, work: Callable[[Client], Awaitable[T]], token: str, mode: str = "auto") -> T:
        """Do it with a client that starts `manage.py mcp` itself."""

        async def talk() -> T:
            env = {**self.environment, "SPELLBOOK_MCP_TOKEN": token}
            server = StdioServerParameters(command=COMMAND[0], args=COMMAND[1:], env=env, cwd=ROOT)
            async with Client(server, mode=mode) as client:
                return await work(client)

        return asyncio.run(talk())


@pytest.fixture(scope="module")
def served(
    django_db_setup: None, django_db_blocker: Any, database_engine: Engine, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    data = tmp_path_factory.mktemp("mcp")
    with own_database(database_engine, django_db_blocker) as url, socket.create_server(("localhost", 0)) as listening:
        port = listening.getsockname()[1]
        environment = {
            "PATH": os.environ["PATH"], "DATABASE_URL": url, "SPELLBOOK_DATA_DIR": str(data), "PORT": str(port),
        }  # fmt: skip
        cast = settled()
        process = subprocess.Popen(
            [sys.executable, "-m", "spellbook.web", str(listening.fileno())], cwd=ROOT, env=environment,
            pass_fds=(listening.fileno(),), stderr=(data / "web.log").open("wb"),
        )  # fmt: skip
        try:
            until(lambda: httpx.get(f"http://localhost:{port}/healthz").status_code == 200)
            yield Served(cast, port, environment)
        finally:
            process.terminate()
            process.wait()


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
def test_the_tools_answer_over_http_and_over_stdio_alike(served: Served, mode: str) -> None:
    async def asked(client: Client) -> list[dict[str, Any]]:
        calls: list[tuple[str, dict[str, Any]]] = [
            ("search", {"text": "orders"}),
            ("explain_table", {"asset": ORDERS}),
            ("lineage", {"asset": ORDERS, "direction": "up"}),
            ("column_lineage", {"asset": ORDERS, "column": "id"}),
            ("blast_radius", {"asset": ORDERS, "hops": 1}),
        ]
        return [answer(await client.call_tool(tool, arguments)) for tool, arguments in calls]

    over_http = served.http(asked, mode)
    assert served.stdio(asked, served.cast.token, mode) == over_http
    assert over_http[0]["total"] >= 2


def test_a_token_that_is_revoked_ends_a_conversation_that_goes_on(served: Served) -> None:
    token = issued("short", served.cast.owner, *SCOPES)
    row = Token.objects.get(label="short")

    async def revoked_meanwhile(client: Client) -> dict[str, Any]:
        answer(await client.call_tool("explain_table", {"asset": ORDERS}))
        await asyncio.to_thread(revoke, row)
        return refusal(await client.call_tool("explain_table", {"asset": ORDERS}))

    told = served.stdio(revoked_meanwhile, token)
    assert told == {"error": "not_allowed", "message": "This token was revoked."}


def revoke(row: Token) -> None:
    revoke_token(row, actor=Actor(people.system("cli"), "cli"))
    connections["default"].close()


def test_the_command_without_a_token_is_one_sentence(served: Served) -> None:
    done = subprocess.run(
        COMMAND, cwd=ROOT, env=served.environment, input="", capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert "Set SPELLBOOK_MCP_TOKEN" in done.stderr


def test_the_token_may_stand_in_a_file_and_the_command_ends_with_its_client(served: Served, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(served.cast.token)
    env = {**served.environment, "SPELLBOOK_MCP_TOKEN_FILE": str(file)}
    done = subprocess.run(
        COMMAND, cwd=ROOT, env=env, input=json.dumps(PING) + "\n", capture_output=True, text=True, check=False,
        timeout=60,
    )  # fmt: skip
    assert done.returncode == 0
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in done.stdout.splitlines())  # nothing else is written
