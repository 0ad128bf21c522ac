"""What a reader is called in a sentence: the same in reasons, in lists of people and in a comment. Plain text."""

from __future__ import annotations

from catalog.review.types import KnownReader, Reached
from catalog.review.words import MODES, said

NOT_SHOWN = "whose name is not shown"
"""Stands for the name of a reader of a restricted domain."""


def shown(reader: KnownReader) -> str:
    """The name of a reader as everybody may see it."""
    return NOT_SHOWN if reader.hidden else reader.name


def kind_of(reader: KnownReader | Reached) -> str:
    """What a reader is, with the mode of a sync: Mirror sync, sync of unknown mode, dashboard."""
    kind = reader.kind.replace("_", " ") or "reader"
    if reader.mode and reader.mode != "unknown":
        return f"{said(MODES, reader.mode)} {kind}"
    return f"{kind} of unknown mode" if reader.mode or reader.kind == "sync" else kind


def named(reader: KnownReader | Reached) -> str:
    """What a reader is, and its name: Mirror sync Orders. One of a restricted domain has no name."""
    return f"{kind_of(reader)} of a restricted domain" if reader.hidden else f"{kind_of(reader)} {reader.name}"
