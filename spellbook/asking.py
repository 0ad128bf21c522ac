"""What machines ask of the graph by name: one function a question, called by REST and MCP alike.

Names are looked up among what the asker may see (`spellbook.eyes`); an unknown one is an error with near names, never
"no impact".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from catalog.columns import selectors as columns
from catalog.graph.adjacency import Direction
from catalog.names import full_name
from catalog.search.find import Found, find
from catalog.selectors import assets_by_id
from foundation.audit import Actor
from foundation.clock import now
from foundation.errors import BadInput
from spellbook import walks
from spellbook.explain import explain
from spellbook.eyes import Unveiled, eyes_of, named
from spellbook.trust import Trust, scores

MOST_ROWS = 500
MOST_HOPS = 1_000_000
MOST_TEXT = 200


def explained(name: str, *, actor: Actor) -> dict[str, Any]:
    """As `spellbook.explain.explain`. NotFound for an unknown asset, BadInput for an ambiguous name."""
    sight = eyes_of(actor)
    return explain(named(name, sight), at=now(), sight=sight)


def lineage(
    name: str,
    direction: Direction,
    *,
    actor: Actor,
    hops: int | None = None,
    kinds: Sequence[str] = (),
    offset: int = 0,
    limit: int = 100,
) -> dict[str, Any]:
    """One page of what feeds an asset ("up") or what it feeds ("down"), with totals, cycles and the next read.

    BadInput for limits that make no sense; else as `explained`.
    """
    _bounds(offset, limit, hops)
    _texts(kinds)
    sight = eyes_of(actor)
    asset = named(name, sight)
    return walks.walk(asset, direction, at=now(), sight=sight, hops=hops, kinds=kinds, offset=offset, limit=limit)


def column_lineage(
    name: str,
    column: str,
    direction: Direction,
    *,
    actor: Actor,
    hops: int | None = None,
    limit: int = columns.MOST_LISTED,
) -> dict[str, Any]:
    """What one column is made of ("up") or goes into ("down"), each with its confidence; at most `limit` rows a list.

    Where only the tables are known they stand under `fallback`, with the reason. Names of restricted domains are null.
    NotFound, with near names, for an unknown column; else as `lineage`.
    """
    _bounds(0, limit, hops, columns.MOST_LISTED)
    sight = eyes_of(actor)
    walk = columns.column_lineage(named(name, sight), column, direction, hops, limit)
    return walk.as_dict({pk for pk, asset in assets_by_id(walk.names).items() if sight.sees(asset)})


def blast_radius(name: str, *, actor: Actor, hops: int | None = None, limit: int = 100) -> dict[str, Any]:
    """Everything that an asset feeds, and who reads next: the form of the command, at most `limit` nodes listed.

    Readers are listed whatever the limit, soonest damage first.
    """
    _bounds(0, limit, hops)
    sight = eyes_of(actor)
    return walks.blast_radius(named(name, sight), at=now(), sight=sight, hops=hops, limit=limit)


def search(
    text: str,
    *,
    actor: Actor,
    kinds: Sequence[str] = (),
    domains: Sequence[str] = (),
    offset: int = 0,
    limit: int = 20,
) -> dict[str, Any]:
    """Assets by name, column, description, owner or tag, each with its trust."""
    _bounds(offset, limit, None)
    _texts([text, *kinds, *domains])
    sight = eyes_of(actor)
    person = None if isinstance(sight, Unveiled) else sight.person
    page = find(text, person, kinds=kinds, domains=domains, offset=offset, limit=limit)
    trust = scores([row.asset for row in page.rows])
    return {
        "total": page.total,
        "truncated": page.truncated,
        "offset": page.offset,
        "rows": [_row(row, trust[row.asset.pk]) for row in page.rows],
        "did_you_mean": list(page.did_you_mean),
    }


def _row(row: Found, trust: Trust) -> dict[str, Any]:
    asset = row.asset
    return {
        "asset_id": asset.pk,
        "asset": full_name(asset),
        "name": asset.name,
        "kind": asset.kind,
        "domain": asset.domain.key if asset.domain else None,
        "description": asset.description[:MOST_TEXT],
        "found_by": row.rank,
        "columns": list(row.columns),
        "trust": {"score": trust.score, "confidence": trust.confidence, "state": trust.state},
    }


def _texts(texts: Sequence[str]) -> None:
    """No database takes a null character or half of a surrogate pair; both are as useless as a text without end."""
    if any(len(text) > MOST_TEXT or "\0" in text or _torn(text) for text in texts):
        raise BadInput(f"A text has at most {MOST_TEXT} characters, and no null character among them.")


def _torn(text: str) -> bool:
    return any("\ud800" <= letter <= "\udfff" for letter in text)


def _bounds(offset: int, limit: int, hops: int | None, most: int = MOST_ROWS) -> None:
    if not 0 <= offset < 2**31 or not 1 <= limit <= most:
        raise BadInput(f"The offset is at least 0 and the limit from 1 to {most}.")
    if hops is not None and not 1 <= hops <= MOST_HOPS:
        raise BadInput("The number of hops is at least 1.")
