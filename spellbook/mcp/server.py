"""The MCP server: the tools, who bears the token of a call, and one JSON shape for every refusal."""

from __future__ import annotations

import json
import logging
from inspect import signature
from typing import Any

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, InputRequiredResult, TextContent
from pydantic import ValidationError

from foundation.errors import SpellbookError
from spellbook import customer
from spellbook.mcp.bearer import bearing
from spellbook.mcp.tools import TOOLS, in_database
from spellbook.sentences import sentence

TOKEN = "spellbook.token"  # noqa: S105 -- the key of the ASGI scope under which the door leaves it
INSTRUCTIONS = (
    "Spellbook knows which tables there are, what they feed, and when the next reader reads. Ask before you change a "
    "table: blast_radius says who is hurt and by when. What you declare is a suggestion until a person of the domain "
    "answers. Nothing here approves, runs or stops anything. A customerId may be left out; one that is given must be "
    "that of this installation."
)
PARAMETERS = {tool.__name__: tuple(signature(tool).parameters) for tool, _ in TOOLS}
BROKEN = "Something broke here; the log of the installation has the details."

logger = logging.getLogger(__name__)


class Server(MCPServer[Any]):
    """Serves the tools to the bearer of `token` (stdio), or of the token that came with each request (HTTP)."""

    def __init__(self, token: str | None = None) -> None:
        super().__init__("spellbook", title="Spellbook", instructions=INSTRUCTIONS, version="1", subscriptions=False)
        self.token = token
        for tool, hints in TOOLS:
            self.add_tool(in_database(tool), annotations=hints, structured_output=True)

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """As the base class, but a refusal is `{"error", "message"}` in JSON, marked as an error, and never raised."""
        given = {key: value for key, value in arguments.items() if key != customer.ARGUMENT}
        unknown = self._unknown(name, given)
        if unknown:
            return refused("bad_input", unknown)
        try:
            customer.check(arguments.get(customer.ARGUMENT))
            with bearing(self.token or _token_of(context)):
                return await super().call_tool(name, given, context)
        except SpellbookError as error:
            return refused(error.code, sentence(error))
        except ToolError as error:
            return _told(name, error)

    def _unknown(self, name: str, arguments: dict[str, Any]) -> str:
        """What is wrong with the names in a call, in a sentence: an argument that nobody reads is not just dropped."""
        known = PARAMETERS.get(name)
        if known is None:
            return f"There is no tool {name[:60]!r}; there are {', '.join(PARAMETERS)}."
        surplus = sorted(str(one)[:60] for one in arguments if one not in known)
        return f"{name} takes {', '.join(known)}, not {', '.join(surplus)}." if surplus else ""


def refused(code: str, message: str) -> CallToolResult:
    """A refusal as agents read it."""
    text = json.dumps({"error": code, "message": message}, ensure_ascii=False)
    return CallToolResult(content=[TextContent(type="text", text=text)], is_error=True)


def _told(name: str, error: ToolError) -> CallToolResult:
    cause = error.__cause__
    if isinstance(cause, SpellbookError):
        return refused(cause.code, sentence(cause))
    if isinstance(cause, ValidationError):
        return refused("bad_input", _misfit(cause))
    logger.error("The tool %s broke.", name, exc_info=cause or error)
    return refused("broken", BROKEN)


def _misfit(error: ValidationError) -> str:
    """What does not fit in one sentence: the first argument that is wrong, in the words of pydantic where it has one
    way to be right."""
    found = error.errors()
    where = str(found[0]["loc"][0]) if found[0]["loc"] else "arguments"
    mine = [one for one in found if one["loc"][:1] == found[0]["loc"][:1]]
    if mine[0]["type"] == "missing":
        return f"{where} is needed."
    if any(one["type"] == "too_long" for one in mine):
        return f"{where}: at most {mine[-1]['ctx']['max_length']} names are taken."
    if len(mine) > 1 and mine[0]["loc"][1:] == ("str",):
        return f"{where}: give a text or a list of texts."
    return sentence(f"{where}: {mine[0]['msg']}")


def _token_of(context: Context[Any, Any] | None) -> str:
    request = context.request_context.request if context is not None else None
    return str(request.scope.get(TOKEN, "")) if request is not None else ""
