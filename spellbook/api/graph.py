"""Reading the graph around one asset: what is known of it, what feeds it, whom it hurts."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from django.http import HttpRequest
from ninja import Query, Router

from foundation.audit import Actor
from spellbook import asking
from spellbook.api.auth import Scope

router = Router()
read = Scope("catalog:read")


@router.get("/assets/{path:name}/explain", auth=read)
def explain_asset(request: HttpRequest, name: str) -> dict[str, Any]:
    """Everything that is known of one asset, and what is not known yet."""
    return asking.explained(name, actor=_actor(request))


@router.get("/assets/{path:name}/columns/{path:column}/lineage", auth=read)
def read_column_lineage(
    request: HttpRequest,
    name: str,
    column: str,
    direction: Literal["up", "down"] = "down",
    hops: int | None = None,
    limit: int = asking.MOST_ROWS,
) -> dict[str, Any]:
    """What one column is made of, or goes into, with the confidence of each step."""
    return asking.column_lineage(name, column, direction, actor=_actor(request), hops=hops, limit=limit)


@router.get("/assets/{path:name}/lineage", auth=read)
def read_lineage(
    request: HttpRequest,
    name: str,
    direction: Literal["up", "down"] = "down",
    hops: int | None = None,
    kind: Annotated[list[str], Query()] = [],  # noqa: B006
    offset: int = 0,
    limit: int = 100,
) -> dict[str, Any]:
    """One page of what feeds an asset, or of what it feeds; `kind` may be repeated."""
    return asking.lineage(name, direction, actor=_actor(request), hops=hops, kinds=kind, offset=offset, limit=limit)


@router.get("/assets/{path:name}/blast_radius", auth=read)
def read_blast_radius(
    request: HttpRequest, name: str, hops: int | None = None, limit: int = asking.MOST_ROWS
) -> dict[str, Any]:
    """Everything that an asset feeds, and who reads next."""
    return asking.blast_radius(name, actor=_actor(request), hops=hops, limit=limit)


def _actor(request: HttpRequest) -> Actor:
    actor: Actor = request.auth  # type: ignore[attr-defined]
    return actor
