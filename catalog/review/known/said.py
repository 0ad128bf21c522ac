"""What one source says of one reader, and how several sources together make the reader that a review speaks of."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from catalog.review.types import KnownReader, People

UNKNOWN: Final = ("mode", "unknown")
Meaning = Callable[[str], Hashable]
"""What the name of a table means: equal for two names of the same table."""


@dataclass(frozen=True, slots=True)
class Said:
    """A source's word on a reader, which it calls by `names`; the first is shown.

    `fields` holds what it says of kind, tool, mode, delete_rule, schedule {cron, zone, triggered_by_api}, lead_seconds,
    consequence and domain; what is not in it, it does not say. `columns` is None where it does not say them.
    """

    names: tuple[str, ...]
    source: str
    fields: Mapping[str, Any] = field(default_factory=dict)
    reads: tuple[str, ...] = ()
    columns: frozenset[str] | None = None
    people: People = field(default_factory=dict)
    status: str = "standing"
    hidden: bool = False


def united(parts: Sequence[Said], meaning: Meaning) -> KnownReader:
    """The reader of which `parts` speak, the weakest source first.

    Each field is that of the last part that says it, people role by role; a mode "unknown" is not said. What it reads
    is all that any part names: a table too many costs a look, one too few the damage. It is a sync, and stands, when
    any part says so.
    """
    fields = {name: value for part in parts for name, value in part.fields.items() if (name, value) != UNKNOWN}
    people = {role: names for part in parts for role, names in part.people.items() if names}
    schedule = fields.pop("schedule", {})
    kind = fields.pop("kind", "") or ("sync" if fields.get("tool") else "dashboard")
    kind = "sync" if any(part.fields.get("kind") == "sync" for part in parts) else kind
    mode = fields.pop("mode", "") or ("unknown" if kind == "sync" else "")
    return KnownReader(
        name=parts[0].names[0],
        kind=kind,
        mode=mode,
        reads=tuple(dict.fromkeys(name for part in parts for name in part.reads)),
        columns=_columns(parts, meaning),
        people=people,
        status="standing" if any(part.status == "standing" for part in parts) else "suggested",
        hidden=any(part.hidden for part in parts),
        source=", ".join(dict.fromkeys(part.source for part in reversed(parts))),
        **fields,
        **schedule,
    )


def _columns(parts: Sequence[Said], meaning: Meaning) -> frozenset[str] | None:
    """All columns that are said, when they are said of every table that it reads; else None, since they may be few.

    A part that names columns and no tables speaks of all that it reads.
    """
    told = [part for part in parts if part.columns is not None]
    if not told:
        return None
    covered = {meaning(name) for part in told for name in part.reads}
    rest = {meaning(name) for part in parts if part.columns is None for name in part.reads}
    if rest - covered and all(part.reads for part in told):
        return None
    return frozenset(column for part in told for column in part.columns or ())
