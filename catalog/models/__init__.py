"""What there is, and what changed in it."""

from __future__ import annotations

from catalog.models.builds import Build, BuildArtifact, BuildOutput
from catalog.models.column_lineage import ColumnLineage
from catalog.models.consumers import AssetRole, Consumer, Definition, Note, Sync
from catalog.models.declarations import Declaration
from catalog.models.graph import (
    Asset,
    ColumnList,
    Domain,
    EdgeClaim,
    GraphHead,
    GraphVersion,
    NamespaceAlias,
    NodeClaim,
    Source,
    StagedEdge,
    StagedNode,
)
from catalog.models.introspection import Introspection, TableSize
from catalog.models.lineage_events import LineageDataset, LineageEvent, LineageJob, LineageUse
from catalog.models.reviews import (
    PullRequest,
    Review,
    ReviewAcknowledgement,
    ReviewArtifact,
    ReviewDelivery,
    ReviewRule,
)
from catalog.models.search import SearchDue, SearchEntry, SearchState, SearchTrigram, SearchWord

__all__ = [
    "Asset",
    "AssetRole",
    "Build",
    "BuildArtifact",
    "BuildOutput",
    "ColumnLineage",
    "ColumnList",
    "Consumer",
    "Declaration",
    "Definition",
    "Domain",
    "EdgeClaim",
    "GraphHead",
    "GraphVersion",
    "Introspection",
    "LineageDataset",
    "LineageEvent",
    "LineageJob",
    "LineageUse",
    "NamespaceAlias",
    "NodeClaim",
    "Note",
    "PullRequest",
    "Review",
    "ReviewAcknowledgement",
    "ReviewArtifact",
    "ReviewDelivery",
    "ReviewRule",
    "SearchDue",
    "SearchEntry",
    "SearchState",
    "SearchTrigram",
    "SearchWord",
    "Source",
    "StagedEdge",
    "StagedNode",
    "Sync",
    "TableSize",
]
