from __future__ import annotations

from contextlib import suppress
from typing import Any

import anyio
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from foundation.errors import SpellbookError
from spellbook.mcp.bearer import admit
from spellbook.mcp.server import Server
from spellbook.sentences import sentence

NO_TOKEN = "Set SPELLBOOK_MCP_TOKEN, or SPELLBOOK_MCP_TOKEN_FILE, to the token of an agent (`manage.py token issue`)."  # noqa: S105


class Command(BaseCommand):
    help = "Serves the MCP tools to one agent over standard input and output, until the client hangs up."
    requires_system_checks = ()

    def handle(self, *args: Any, **options: Any) -> None:
        raw = settings.SPELLBOOK_MCP_TOKEN
        if not raw:
            raise CommandError(NO_TOKEN)
        try:
            admit(raw)
        except SpellbookError as error:
            raise CommandError(sentence(error)) from None
        with suppress(KeyboardInterrupt):
            anyio.run(Server(raw).run_stdio_async)
