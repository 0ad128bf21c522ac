"""The tools: typed arguments in, one service or selector called, its answer out. None decides anything (D12)."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any, Literal, ParamSpec, TypeVar

from django.db import close_old_connections
from mcp_types import ToolAnnotations
from pydantic import Field

from spellbook import asking, suggesting
from spellbook.mcp.bearer import READ, SUGGEST, caller
from spellbook.mcp.shapes import Explained, Found, Radius, Suggested, Walked, WalkedColumns

P = ParamSpec("P")
R = TypeVar("R")

NAMED = "`namespace/name`, the exact name, or a dotted end of it that fits only one"
Name = Annotated[str, Field(description=NAMED, max_length=1000)]
Hops = Annotated[int | None, Field(description="no further than so many edges; all when left out", ge=1, le=1_000_000)]
Limit = Annotated[int, Field(description="at most so many rows", ge=1, le=asking.MOST_ROWS)]
Offset = Annotated[int, Field(description="rows to leave out before", ge=0, lt=2**31)]
Names = str | Annotated[tuple[str, ...], Field(max_length=200)]
Text = Annotated[str, Field(max_length=10_000)]
Mode = Literal["mirror", "append", "full", "one_time", "activation", "extract", "unknown"]

ASKS = ToolAnnotations(read_only_hint=True, idempotent_hint=True, destructive_hint=False, open_world_hint=False)
SUGGESTS = ToolAnnotations(read_only_hint=False, idempotent_hint=True, destructive_hint=False, open_world_hint=False)


def in_database(work: Callable[P, R]) -> Callable[P, R]:
    """For work on a thread that Django's request cycle knows nothing of: its connection ends with the call."""

    @wraps(work)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        close_old_connections()
        try:
            return work(*args, **kwargs)
        finally:
            close_old_connections()

    return run


def search(
    text: Annotated[str, Field(description="words of a name, column, description, owner or tag", max_length=200)],
    kinds: Annotated[Names, Field(description="only these kinds, such as model, source, sync, dashboard")] = (),
    domains: Annotated[Names, Field(description="only these domains, by key")] = (),
    limit: Limit = 20,
    offset: Offset = 0,
) -> Found:
    """Find tables, columns, readers and syncs. Exact names come first, then beginnings, then words; near names are
    given when nothing is found."""
    actor = caller(READ)
    return Found(
        **asking.search(text, actor=actor, kinds=_names(kinds), domains=_names(domains), offset=offset, limit=limit)
    )


def explain_table(asset: Name) -> Explained:
    """Everything that is known of one table: definition, columns and where they come from, people, lineage both ways,
    readers with their next reads, checks, open incidents, notes, documentation and trust with its evidence. What nobody
    knows is said as "not known yet"; an unknown table is an error."""
    return Explained(**asking.explained(asset, actor=caller(READ)))


def lineage(
    asset: Name,
    direction: Annotated[Literal["up", "down"], Field(description="up: what feeds it; down: what it feeds")] = "down",
    hops: Hops = None,
    kinds: Annotated[Names, Field(description="list only these kinds; all are counted")] = (),
    limit: Limit = 100,
    offset: Offset = 0,
) -> Walked:
    """What feeds an asset or what it feeds, with hops, one witness path (`via`), kinds counted, cycles said, and for
    readers when they read next. `total` counts all; `truncated` says that there are more rows."""
    actor, wanted = caller(READ), _names(kinds)
    return Walked(**asking.lineage(asset, direction, actor=actor, hops=hops, kinds=wanted, offset=offset, limit=limit))


def column_lineage(
    asset: Name,
    column: Annotated[str, Field(description="the name of a column; case is not told apart", max_length=1000)],
    direction: Annotated[
        Literal["up", "down"], Field(description="up: what it is made of; down: what it goes into")
    ] = "down",
    hops: Hops = None,
    limit: Limit = 100,
) -> WalkedColumns:
    """What one column is made of or goes into, across tables, each step with its kind and confidence. `rows` are tables
    whose rows it decides; `fallback` are assets that are reached by their tables alone, with the reason: what lies
    there is not known, which never means no impact."""
    actor = caller(READ)
    return WalkedColumns(**asking.column_lineage(asset, column, direction, actor=actor, hops=hops, limit=limit))


def blast_radius(asset: Name, hops: Hops = None, limit: Limit = 100) -> Radius:
    """What breaks if this asset is wrong: everything that it feeds, every reader with its mode, consequence and next
    read, soonest damage first, and the last minute at which a hold still helps. Counts and times are given of
    restricted readers too; only their names are hidden."""
    return Radius(**asking.blast_radius(asset, actor=caller(READ), hops=hops, limit=limit))


def declare(
    asset: Annotated[str, Field(description="the name of the reader, or of the table that is defined", max_length=500)],
    definition: Annotated[Text | None, Field(description="what the asset means, in a sentence")] = None,
    kind: Annotated[str | None, Field(description="sync, dashboard, report, campaign, notebook, ml_model …")] = None,
    reads: Annotated[Names | None, Field(description="the tables that it reads")] = None,
    through: Annotated[Names | None, Field(description="the syncs through which it reads")] = None,
    tool: Annotated[str | None, Field(description="for a sync: the tool that runs it")] = None,
    mode: Annotated[Mode | None, Field(description="for a sync: how it writes there")] = None,
    delete_rule: Annotated[str | None, Field(description="for a sync: what it removes there")] = None,
    cron: Annotated[str | None, Field(description="when it reads, as five cron fields")] = None,
    zone: Annotated[str | None, Field(description="the IANA zone of cron, such as Europe/Berlin; default UTC")] = None,
    triggered_by_api: Annotated[bool | None, Field(description="it has no time of its own")] = None,
    lead_minutes: Annotated[int | None, Field(description="how long before a read a hold must stand", ge=0)] = None,
    consequence: Annotated[str | None, Field(description="what happens when it reads something wrong")] = None,
    contact: Annotated[str | None, Field(description="where its people are reached")] = None,
) -> Suggested:
    """Suggest a reader or sync with what it reads and when, or what an asset means (asset and definition alone). It is
    a suggestion: it counts in blast radii and waits until a person of the domain approves or refuses it. Arguments that
    are left out say nothing."""
    actor = caller(SUGGEST)
    said = {
        "kind": kind, "reads": None if reads is None else _names(reads),
        "through": None if through is None else _names(through), "tool": tool, "mode": mode,
        "delete_rule": delete_rule, "schedule": _schedule(cron, zone, triggered_by_api), "lead_minutes": lead_minutes,
        "consequence": consequence, "contact": contact,
    }  # fmt: skip
    named = {key: value for key, value in said.items() if value is not None}
    if definition is not None and not named:
        return Suggested(**suggesting.suggest_definition(asset, definition, actor=actor))
    meaning = {} if definition is None else {"definition": definition}
    return Suggested(**suggesting.suggest_reader({"asset": asset, **named, **meaning}, actor=actor))


def note(asset: Name, text: Annotated[Text, Field(description="one thing worth knowing of it")]) -> Suggested:
    """Suggest a note on an asset. It is shown as a suggestion until a person of the domain approves it."""
    return Suggested(**suggesting.suggest_note(asset, text, actor=caller(SUGGEST)))


def _names(told: Names) -> list[str]:
    """One name stands for a list of one."""
    return [told] if isinstance(told, str) else list(told)


def _schedule(cron: str | None, zone: str | None, by_api: bool | None) -> dict[str, Any] | None:
    said = {"cron": cron, "zone": zone, "triggered_by_api": by_api}
    return {key: value for key, value in said.items() if value is not None} or None


TOOLS: tuple[tuple[Callable[..., Any], ToolAnnotations], ...] = (
    (search, ASKS),
    (explain_table, ASKS),
    (lineage, ASKS),
    (column_lineage, ASKS),
    (blast_radius, ASKS),
    (declare, SUGGESTS),
    (note, SUGGESTS),
)
"""Every tool with what it tells a client of itself. A new one is one function and one line."""
