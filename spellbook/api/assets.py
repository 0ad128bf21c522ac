"""Searching the catalogue."""

from __future__ import annotations

from typing import Annotated, Any

from django.http import HttpRequest
from ninja import Query, Router

from foundation.audit import Actor
from spellbook import asking
from spellbook.api.auth import Scope

router = Router()


@router.get("/assets", auth=Scope("catalog:read"))
def search_assets(
    request: HttpRequest,
    q: str = "",
    kind: Annotated[list[str], Query()] = [],  # noqa: B006
    domain: Annotated[list[str], Query()] = [],  # noqa: B006
    offset: int = 0,
    limit: int = 50,
) -> dict[str, Any]:
    """What `q` describes, the best first; without it everything, by name. `kind` and `domain` may be repeated."""
    actor: Actor = request.auth  # type: ignore[attr-defined]
    return asking.search(q, actor=actor, kinds=kind, domains=domain, offset=offset, limit=limit)
