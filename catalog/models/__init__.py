"""What there is, and what changed in it."""

from __future__ import annotations

from catalog.models.builds import Build, BuildArtifact, BuildOutput
from catalog.models.column_lineage import ColumnLineage
from catalog.models.consumers import AssetRole, Consumer, Definition, Note, Sync
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

__all__ = [
    "Asset",
    "AssetRole",
    "Build",
    "BuildArtifact",
    "BuildOutput",
    "ColumnLineage",
    "ColumnList",
    "Consumer",
    "Definition",
    "Domain",
    "EdgeClaim",
    "GraphHead",
    "GraphVersion",
    "NamespaceAlias",
    "NodeClaim",
    "Note",
    "Source",
    "StagedEdge",
    "StagedNode",
    "Sync",
]
