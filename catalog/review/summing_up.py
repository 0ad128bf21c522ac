"""How the changes of a review, of manifests or of files, become the whole that is said of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any, Final

from catalog.review.estate.reached import by_damage, each_once
from catalog.review.people import once
from catalog.review.types import DANGEROUS, VERDICTS, Change, Knowledge, Review
from foundation.errors import BadInput

FEW: Final = 5
"""So many reasons stand in the summary of a review."""


def require_zone(at: datetime) -> None:
    """BadInput for a moment without a time zone."""
    if at.tzinfo is None:
        raise BadInput("The moment of a review needs a time zone.")


def gravest_first(changes: Iterable[Change]) -> tuple[Change, ...]:
    """The gravest first, then by time to damage, then by name."""
    return tuple(sorted(changes, key=_grave))


def first_reasons(gravest: Sequence[Change], verdict: str, each: int, thing: str) -> Iterator[str]:
    """The first `each` reasons of the first few of the gravest changes, and how many more of them there are; `thing` is
    what a change is called."""
    yield from dict.fromkeys(reason for change in gravest[:FEW] for reason in change.reasons[:each])
    if len(gravest) > FEW:
        more, word = len(gravest) - FEW, "dangerous" if verdict == DANGEROUS else "to be looked at"
        yield f"{more:,} more {thing} is {word}." if more == 1 else f"{more:,} more {thing}s are {word}."


def summed_up(
    changes: tuple[Change, ...],
    knowledge: Knowledge,
    *,
    verdict: str,
    reasons: Iterable[str],
    required: tuple[str, ...],
    notes: Iterable[str],
    compared: str,
    at: datetime,
) -> Review:
    """The review of `changes`, which stand in their order: readers and people once each, every note once."""
    return Review(
        verdict=verdict,
        reasons=tuple(reasons),
        changes=changes,
        readers=each_once(change.readers for change in changes),
        readers_known=bool(knowledge.sources),
        required=required,
        people=once(person for change in changes for person in change.people),
        notes=tuple(dict.fromkeys(notes)),
        sources=knowledge.sources,
        compared=compared,
        at=at,
    )


def _grave(change: Change) -> tuple[Any, ...]:
    first = by_damage(change.readers[0]) if change.readers else ()
    return (-VERDICTS.index(change.verdict), not change.readers, first, change.name, change.unique_id)
