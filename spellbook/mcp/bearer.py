"""Who calls a tool: the agent whose token came with the request, looked up anew at every call."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from uuid import uuid4

from foundation import people
from foundation.audit import Actor
from foundation.errors import NotAllowed
from foundation.models import Principal
from foundation.tokens import standing_token

READ, SUGGEST = "catalog:read", "declare:write"
AGENTS_ONLY = "Only the token of an agent is taken here; people have the pages and the command line."

_raw: ContextVar[str] = ContextVar("mcp_token")


def admit(raw: str) -> None:
    """NotAllowed unless this is a standing token of an agent; what it may do is asked at each call."""
    _agent(standing_token(raw).principal)


@contextmanager
def bearing(raw: str) -> Iterator[None]:
    """Calls made inside are those of whoever bears this token."""
    token = _raw.set(raw)
    try:
        yield
    finally:
        _raw.reset(token)


def caller(scope: str) -> Actor:
    """The agent that calls, if its token still stands and carries `scope`; NotAllowed otherwise."""
    principal = _agent(people.principal_for_token(_raw.get(), scope=scope))
    return Actor(principal, "mcp", correlation_id=uuid4())


def _agent(principal: Principal) -> Principal:
    if principal.kind != Principal.Kind.AGENT:
        raise NotAllowed(AGENTS_ONLY)
    return principal
