"""The answers of the tools as their output schemas describe them; keys that are not named here pass as they are."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class Answer(BaseModel):
    """What every answer allows: more keys than its schema names."""

    model_config = ConfigDict(extra="allow")


class Found(Answer):
    """`search`."""

    total: int = Field(description="how many there are in all")
    truncated: bool = Field(description="whether there are more than the rows given")
    rows: list[dict[str, Any]] = Field(description="exact names first, then beginnings, then words")
    did_you_mean: list[str] = Field(default=[], description="near names, when nothing was found")


class Trust(Answer):
    """How far a table can be relied on."""

    score: int | None = Field(description="0 to 100; null when nothing is known")
    confidence: int = Field(description="percent of what could be known that is known")
    state: str = Field(description="high, middle, low, or unknown: too little is known")
    parts: list[dict[str, Any]]
    caps: list[dict[str, Any]] = Field(description="what holds the score down, such as an open incident")


class Explained(Answer):
    """`explain_table`; a part of which nothing is known is the text "not known yet"."""

    asset: str
    asset_id: int
    kind: str
    domain: str
    description: str
    definition: dict[str, Any] | str
    code: dict[str, Any] | str
    columns: list[dict[str, Any]] | str
    people: dict[str, list[str] | str]
    upstream: dict[str, Any] | str
    downstream: dict[str, Any] | str
    readers: dict[str, Any] | str
    next_read: str
    freshness: dict[str, Any] | str
    checks: list[dict[str, Any]] | str
    metrics: list[dict[str, Any]] | str
    open_incidents: list[str]
    notes: dict[str, Any]
    documentation: dict[str, Any]
    trust: Trust


class Walked(Answer):
    """`lineage`."""

    asset: str
    direction: str
    graph_version: int
    total: int = Field(description="all assets reached within the hops asked for")
    truncated: bool = Field(description="whether there are more than the rows given")
    cycle: bool = Field(description="whether the asset feeds itself, as a sync that writes back makes it")
    rows: list[dict[str, Any]]
    next_read: str | None


class WalkedColumns(Answer):
    """`column_lineage`; names of a restricted domain are null."""

    asset: str
    column: str
    direction: str
    graph_version: int
    total: int = Field(description="all columns reached within the hops asked for")
    nodes: list[dict[str, Any]] = Field(description="nearest first; `confidence` in percent, of the weakest step")
    rows_total: int
    rows: list[dict[str, Any]] = Field(description="tables whose rows the column decides: filters, joins, groups")
    fallback_total: int
    fallback: list[dict[str, Any]] = Field(description="reached, but only the table is known, with the reason")
    truncated: bool = Field(description="whether one of the lists is not complete")
    reason: str = Field(description="why the column is taken as it was named, or empty")


class Radius(Answer):
    """`blast_radius`."""

    asset: str
    asset_id: int
    graph_version: int
    total: int
    truncated: bool
    next_read: str | None = Field(description="when the next reader reads, UTC; null when no time is known")
    nodes: list[dict[str, Any]]
    edges: list[list[int]]
    readers: int = Field(description="how many readers are reached")
    consumers: list[dict[str, Any]] = Field(description="the readers, soonest damage first; the first thousand")


class Suggested(Answer):
    """`declare` and `note`."""

    status: str = Field(description="what becomes of a suggestion")
    unmatched: list[dict[str, str]] = Field(description="names that nobody knows yet; kept, and joined when they come")
