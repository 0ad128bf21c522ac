"""A review as it is kept: never changed, written once for the same change among the same readers."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from catalog import actions
from catalog.models import PullRequest, Review
from catalog.services.reviewing import pull_requests
from catalog.services.reviewing.storable import storable
from foundation import audit, canonical, clock
from foundation.audit import Actor
from foundation.locks import transaction

PASSING: Final = frozenset({
    "at", "next_read", "last_useful_minute", "sources", "compared", "notes", "reasons", "why", "sentence", "evidence",
})  # fmt: skip
"""Parts of a document that go on while the change stays what it is: times, and sentences, which tell times and counts.
What they are told of is in the other parts."""
COUNTED: Final = PASSING | {"verdict", "severity", "certainty", "checks"}
"""And those that rest on what is counted in a warehouse, which cannot always be asked."""
DANGEROUS: Final = "dangerous"
NEXT_READS: Final = 50
SAME_FILES: Final = ("head_sha", "head_manifest", "base_manifest")


@dataclass(frozen=True, slots=True)
class Made:
    """What was said of one head. `subjects` is what has to be answered for, as [{unique_id, asset (id or None)}];
    `annotations` are remarks on lines, as [{path, line, level, title, message}]. `uncounted` says that a warehouse
    could not be asked this time for something that the review would have said."""

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
    uncounted: bool = False


def keep(row: PullRequest, made: Made, *, actor: Actor) -> Review:
    """Keep the review as that of the pull request. The one that stands is returned when it says the same of the same
    files, or knew more of the same change: nothing is written then. Conflict when the row went to another worker."""
    fields = {name: storable(getattr(made, name)) for name in Made.__slots__ if name != "uncounted"}
    new = Review(
        pull_request=row, head_sha=row.head_sha, base_sha=row.base_sha, digest=digest_of(fields["document"]),
        summary=summary_of(fields["document"]),
        **{**fields, "compared": fields["compared"][:1000]},
    )  # fmt: skip
    standing = row.review
    if standing is not None and _stands(standing, new, made.uncounted):
        return standing
    with transaction():
        new.created_at = clock.now()
        new.save(force_insert=True)
        pull_requests.hold(row, review=new)
        facts: pull_requests.AuditFacts = {
            "commit": row.head_sha[:12], "number": row.number, "verdict": new.verdict,
            "repository": pull_requests.repository_of(row.connection),
        }  # fmt: skip
        audit.record(actor, actions.REVIEW_WRITTEN, new, facts=facts)
    return new


def digest_of(document: Mapping[str, Any]) -> str:
    """SHA-256 of what a change does and to whom, as a document has it, whatever the hour."""
    return canonical.digest(_lasting(document, PASSING))


def summary_of(document: Mapping[str, Any]) -> dict[str, Any]:
    """What a list of reviews shows of a document, which may be large."""
    readers = document.get("readers") or ()
    times = sorted(one["next_read"] for one in readers if one.get("next_read"))
    return {
        "changes": len(document.get("changes") or ()), "readers": len(readers),
        "readers_known": bool(document.get("readers_known")), "next_reads": times[:NEXT_READS],
    }  # fmt: skip


def _stands(standing: Review, new: Review, uncounted: bool) -> bool:
    """Whether the review that stands says what the new one says.

    A count that failed this time takes nothing back: where all else is the same, the earlier count goes on to hold, and
    with it the acknowledgement. Only a danger that the earlier review did not see makes another one.
    """
    if any(getattr(standing, name) != getattr(new, name) for name in SAME_FILES):
        return False
    if standing.digest == new.digest:
        return True
    if not uncounted or _dangers(new.document) - _dangers(standing.document):
        return False
    before, after = (_lasting(one.document, COUNTED) for one in (standing, new))
    return bool(before == after)


def _dangers(document: Mapping[str, Any]) -> set[str]:
    """The unique ids of the changes that a document calls dangerous."""
    return {str(one.get("unique_id")) for one in document.get("changes") or () if one.get("verdict") == DANGEROUS}


def _lasting(value: Any, passing: Collection[str]) -> Any:
    """What is left of a document without the parts `passing`. Lists are sorted by what they hold: they come by time to
    damage, which is another at another hour."""
    if isinstance(value, Mapping):
        return {key: _lasting(item, passing) for key, item in value.items() if key not in passing}
    if isinstance(value, (list, tuple)):
        return sorted((_lasting(item, passing) for item in value), key=canonical.canonical_bytes)
    return str(value) if isinstance(value, float) else value
