"""A review as it is kept: never changed, written once for the same change among the same readers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from catalog import actions
from catalog.models import PullRequest, Review
from catalog.services.reviewing import pull_requests
from foundation import audit, canonical, clock
from foundation.audit import Actor
from foundation.locks import transaction

PASSING: Final = frozenset({
    "at", "next_read", "last_useful_minute", "sources", "compared", "notes", "reasons", "why", "sentence", "evidence",
})  # fmt: skip
"""Parts of a document that go on while the change stays what it is: times, and sentences, which tell times and counts.
What they are told of is in the other parts."""
NEXT_READS: Final = 50
KEPT_FIELDS: Final = ("head_sha", "head_manifest", "base_manifest", "digest")


@dataclass(frozen=True, slots=True)
class Made:
    """What was said of one head. `subjects` is what has to be answered for, as [{unique_id, asset (id or None)}];
    `annotations` are remarks on lines, as [{path, line, level, title, message}]."""

    head_manifest: str
    head_origin: str
    base_manifest: str
    base_commit: str
    compared: str
    graph_version: int
    verdict: str
    needs_answer: bool
    subjects: Sequence[Mapping[str, Any]]
    document: Mapping[str, Any]
    markdown: str
    annotations: Sequence[Mapping[str, Any]]


def keep(row: PullRequest, made: Made, *, actor: Actor) -> Review:
    """Keep the review as that of the pull request. The one that stands is returned when it says the same of the same
    files: nothing is written then. Conflict when the row went to another worker."""
    fields = {name: storable(getattr(made, name)) for name in Made.__slots__}
    new = Review(
        pull_request=row, head_sha=row.head_sha, base_sha=row.base_sha, digest=digest_of(fields["document"]),
        summary=summary_of(fields["document"]),
        **{**fields, "compared": fields["compared"][:1000]},
    )  # fmt: skip
    standing = row.review
    if standing is not None and all(getattr(standing, name) == getattr(new, name) for name in KEPT_FIELDS):
        return standing
    with transaction():
        new.created_at = clock.now()
        new.save(force_insert=True)
        pull_requests.hold(row, review=new)
        facts: pull_requests.Facts = {
            "commit": row.head_sha[:12], "number": row.number, "verdict": new.verdict,
            "repository": pull_requests.repository_of(row.connection),
        }  # fmt: skip
        audit.record(actor, actions.REVIEW_WRITTEN, new, facts=facts)
    return new


def digest_of(document: Mapping[str, Any]) -> str:
    """SHA-256 of what a change does and to whom, as a document has it, whatever the hour."""
    return canonical.digest(_lasting(document))


def summary_of(document: Mapping[str, Any]) -> dict[str, Any]:
    """What a list of reviews shows of a document, which may be large."""
    readers = document.get("readers") or ()
    times = sorted(one["next_read"] for one in readers if one.get("next_read"))
    return {
        "changes": len(document.get("changes") or ()), "readers": len(readers),
        "readers_known": bool(document.get("readers_known")), "next_reads": times[:NEXT_READS],
    }  # fmt: skip


def storable(value: Any) -> Any:
    """`value` as both databases take it: no null characters and no half of a surrogate pair; lists for tuples."""
    if isinstance(value, str):
        return value.replace("\0", "\ufffd").encode("utf-8", "replace").decode()
    if isinstance(value, Mapping):
        return {storable(key): storable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [storable(item) for item in value]
    return value


def _lasting(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _lasting(item) for key, item in value.items() if key not in PASSING}
    if isinstance(value, (list, tuple)):
        return [_lasting(item) for item in value]
    return str(value) if isinstance(value, float) else value
