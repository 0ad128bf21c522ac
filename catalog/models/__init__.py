"""What there is, and what changed in it."""

from __future__ import annotations

from catalog.models.builds import Build, BuildArtifact, BuildOutput
from catalog.models.consumers import AssetRole, Consumer, Note, Sync
from catalog.models.graph import Asset, Column, Domain, EdgeClaim, GraphHead, GraphVersion, NodeClaim, Source

__all__ = [
    "Asset",
    "AssetRole",
    "Build",
    "BuildArtifact",
    "BuildOutput",
    "Column",
    "Consumer",
    "Domain",
    "EdgeClaim",
    "GraphHead",
    "GraphVersion",
    "NodeClaim",
    "Note",
    "Source",
    "Sync",
]
