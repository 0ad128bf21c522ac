"""Streamable HTTP at /mcp (https://modelcontextprotocol.io/specification): who is let in, and the way to the server.

Every request stands alone: no session is kept, so that any number of web processes may answer. The check of Host and
Origin that the protocol asks for is made here, by the installation's own settings.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, TypeAlias

import anyio.to_thread
from django.conf import settings
from django.http.request import split_domain_port, validate_host
from mcp.server.transport_security import TransportSecuritySettings

from foundation.errors import NotAllowed, SpellbookError
from spellbook.mcp.bearer import admit
from spellbook.mcp.server import TOKEN, Server
from spellbook.mcp.tools import in_database
from spellbook.sentences import sentence

Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]

UNSIGNED = "Send the token of an agent as 'Authorization: Bearer …'."
CHECKED_HERE = TransportSecuritySettings(enable_dns_rebinding_protection=False)


class Turned(Exception):
    """Somebody is turned away at the door."""

    def __init__(self, status: int, code: str, message: str, **headers: str) -> None:
        super().__init__(message)
        self.status, self.code, self.headers = status, code, headers


class Door:
    """An ASGI application for one event loop; the server behind it is started by the first request."""

    def __init__(self) -> None:
        server = Server()
        self.app = server.streamable_http_app(
            streamable_http_path="/mcp", stateless_http=True, json_response=True, transport_security=CHECKED_HERE
        )
        self.sessions = server.session_manager
        self.open: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.keeper = asyncio.create_task(self._keep())

    async def _keep(self) -> None:
        """Hold the server up as long as the loop runs; whoever waits for it hears why when it cannot start."""
        try:
            async with self.sessions.run():
                self.open.set_result(None)
                await asyncio.Event().wait()
        except Exception as error:
            if self.open.done():
                raise
            self.open.set_exception(error)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            raw = token(scope)
            await anyio.to_thread.run_sync(in_database(admit), raw)
        except Turned as why:
            await _answer(send, why.status, why.code, str(why), why.headers)
        except NotAllowed as why:  # for a client this is "ask for another token"
            await _answer(send, 401, why.code, sentence(why), {"WWW-Authenticate": 'Bearer error="invalid_token"'})
        except SpellbookError as why:
            await _answer(send, why.status, why.code, sentence(why), {})
        else:
            await asyncio.shield(self.open)
            await self.app({**scope, "path": "/mcp", TOKEN: raw}, receive, send)


def token(scope: Scope) -> str:
    """The bearer token of a request that may come in; Turned for all others."""
    headers = {name.lower().decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
    host, _ = split_domain_port(headers.get("host", ""))
    if not validate_host(host, settings.ALLOWED_HOSTS):
        raise Turned(421, "bad_input", "This host name is not one of this site.")
    if headers.get("origin", settings.SPELLBOOK_BASE_URL) != settings.SPELLBOOK_BASE_URL:
        raise Turned(403, "not_allowed", "Another site may not ask here.")
    if scope["method"] != "POST":
        raise Turned(405, "not_allowed", "This address takes POST alone: no session is kept here.", Allow="POST")
    kind, _, raw = headers.get("authorization", "").partition(" ")
    if kind.lower() != "bearer" or not raw.strip():
        raise Turned(401, "not_signed_in", UNSIGNED, **{"WWW-Authenticate": "Bearer"})
    return str(raw.strip())


async def _answer(send: Send, status: int, code: str, message: str, headers: MutableMapping[str, str]) -> None:
    body = json.dumps({"error": code, "message": message}, ensure_ascii=False).encode()
    kind = {"Content-Type": "application/json", "Content-Length": str(len(body)), "Cache-Control": "no-store"}
    raw = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in {**kind, **headers}.items()]
    await send({"type": "http.response.start", "status": status, "headers": raw})
    await send({"type": "http.response.body", "body": body})
