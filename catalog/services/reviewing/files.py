"""The files that a review reads: posted by a job for one commit, or left by a workflow run of it.

They are data for reviews alone: none is a build, and none makes a graph version.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from catalog import actions
from catalog.code_hosts.github.client import GitHub
from catalog.models import PullRequest, ReviewArtifact
from catalog.services.reviewing import pull_requests
from catalog.sources import catalog_file, manifest
from foundation import artifacts as store
from foundation import audit, clock
from foundation.audit import Actor
from foundation.errors import BadInput, NotFound
from foundation.locks import lock, transaction
from foundation.models import Connection

READERS: Final = {"manifest": manifest.read, "base_manifest": manifest.read, "catalog": catalog_file.read}
LARGEST: Final = 500 * 1024 * 1024
POSTED: Final = "posted"
MEMBER: Final = "manifest.json"
_SHA: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Found:
    """A file by its digest; `origin` is "posted", or "artifact:" and the number that the host gave it."""

    sha256: str
    origin: str
    said: str

    def load(self) -> bytes:
        """Its bytes."""
        return store.load(self.sha256)


def post(
    connection: Connection, head_sha: str, given: Mapping[str, bytes], *, number: int | None = None, actor: Actor
) -> bool:
    """Keep what a job posted for a commit and have its pull requests looked at, the one of `number` too if it is given;
    False when all of it was here before.

    Every file is read once before anything is kept. BadInput for a commit, number, kind or file that cannot be used.
    """
    if number is not None:
        pull_requests.check_number(number)
    sha = head_sha.strip().lower()
    if not _SHA.fullmatch(sha):
        raise BadInput(f"head_sha is the whole id of a commit, not {head_sha[:80]!r}.")
    if "manifest" not in given:
        raise BadInput("A review needs the manifest of the commit.")
    for kind, data in given.items():
        if kind not in READERS:
            raise BadInput(f"A review takes the files {', '.join(READERS)}, not {kind}.")
        READERS[kind](data)
    kept = {kind: store.store(data) for kind, data in given.items()}
    with transaction():
        lock(Connection.objects.all(), pk=connection.pk)
        new = {kind: sha256 for kind, sha256 in kept.items() if _newest(connection, sha, kind) != sha256}
        for kind, sha256 in new.items():
            row = ReviewArtifact.objects.create(
                connection=connection, head_sha=sha, kind=kind, sha256=sha256, posted_by=actor.principal,
                posted_at=clock.now(),
            )  # fmt: skip
            facts = {"kind": kind, "commit": sha[:12], "repository": pull_requests.repository_of(connection)}
            audit.record(actor, actions.REVIEW_FILE_POSTED, row, facts=facts)
        if new:
            pull_requests.ask_for_heads(connection, [sha])
        if number is not None and not _seen(connection, number, sha):
            pull_requests.ask(connection, number, actor=actor)
    return bool(new)


def posted(row: PullRequest, kind: str) -> Found | None:
    """The newest file of a kind that was posted for the head of a pull request."""
    sha256 = _newest(row.connection, row.head_sha, kind)
    return Found(sha256, POSTED, "posted by a job") if sha256 else None


def head_manifest(row: PullRequest, github: GitHub) -> Found | None:
    """The manifest of the head: posted, else the newest that a workflow run of the commit left; None while there is
    none. BadInput for an artifact that cannot be used; errors of the host as they are."""
    found = posted(row, "manifest")
    if found is not None:
        return found
    for artifact in github.artifacts(row.head_sha, github.settings.artifact):
        if artifact.expired:
            continue
        origin, said = f"artifact:{artifact.id}", f"from the workflow run {artifact.run_id}"
        known = row.review
        if known is not None and (known.head_sha, known.head_origin) == (row.head_sha, origin):
            return Found(known.head_manifest, origin, said)
        try:
            data = github.artifact_file(artifact, MEMBER, LARGEST)
        except NotFound:  # it expired meanwhile, or holds no manifest
            continue
        return Found(store.store(data), origin, said)
    return None


def _seen(connection: Connection, number: int, sha: str) -> bool:
    """Whether the pull request is known with this head, so that it has been asked for already."""
    return PullRequest.objects.filter(connection=connection, number=number, head_sha=sha).exists()


def _newest(connection: Connection, sha: str, kind: str) -> str | None:
    rows = ReviewArtifact.objects.filter(connection=connection, head_sha=sha, kind=kind).order_by("-pk")
    return rows.values_list("sha256", flat=True).first()
