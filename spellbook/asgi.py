"""The ASGI application that uvicorn serves: the site, and the MCP server at /mcp."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping
from importlib import import_module
from typing import Any
from weakref import WeakKeyDictionary

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "spellbook.settings")
site = get_asgi_application()

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[Mapping[str, Any]]]
Send = Callable[[Mapping[str, Any]], Awaitable[None]]

_doors: WeakKeyDictionary[asyncio.AbstractEventLoop, Any] = WeakKeyDictionary()


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    """Requests for /mcp go to its door, everything else to Django."""
    if scope["type"] == "http" and scope["path"] in ("/mcp", "/mcp/"):
        await (await _door())(scope, receive, send)
    else:
        await site(scope, receive, send)


async def _door() -> Any:
    """The door of this event loop. Its module is loaded by whoever comes first: that takes a second or more and 20 MB,
    which a site that no agent visits does not spend."""
    loop = asyncio.get_running_loop()
    if loop not in _doors:
        module = await asyncio.to_thread(import_module, "spellbook.mcp.door")
        if loop not in _doors:
            _doors[loop] = module.Door()
    return _doors[loop]
