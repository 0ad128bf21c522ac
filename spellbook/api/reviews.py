"""Reviews for machines: posting the manifest of a commit, reading what was said of it, and the facts for a review that
a job makes by itself. There is no way to acknowledge here.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from ninja import File, Form, Router, Schema, Status
from ninja.files import UploadedFile

from catalog.code_hosts.github.connection import KIND
from catalog.models import PullRequest, Review
from catalog.review.known import facts_document
from catalog.review_rows import acknowledgements
from catalog.services.access import permit
from catalog.services.reviewing import files, pull_requests
from foundation.audit import Actor
from foundation.errors import BadInput, NotFound
from foundation.models import Connection
from spellbook import review_facts
from spellbook.api.auth import Scope
from spellbook.eyes import eyes_of
from spellbook.review_links import page_of
from spellbook.review_veil import Veil

router = Router()


class Asked(Schema):
    repository: str
    head_sha: str
    pull_request: int | None = None


class Kept(Schema):
    head_sha: str
    created: bool
    reviews: list[str]


@router.post("/reviews", auth=Scope("review:write"), response={202: Kept})
def post_review(
    request: HttpRequest,
    body: Form[Asked],
    manifest: File[UploadedFile | None] = None,
    base_manifest: File[UploadedFile | None] = None,
    catalog: File[UploadedFile | None] = None,
) -> Status[Kept]:
    """Keep the manifest of a commit and have its pull requests reviewed. The same again changes nothing."""
    actor = _actor(request)
    sent = {"manifest": manifest, "base_manifest": base_manifest, "catalog": catalog}
    text = next((name for name in sent if name in request.POST), None)
    if text is not None:
        raise BadInput(f"The {text} is sent as text; send it as a file.")
    connection = _connection(body.repository)
    permit(actor, connection.namespace or connection.name)
    given = {kind: _read(kind, file) for kind, file in sent.items() if file is not None}
    created = files.post(connection, body.head_sha, given, number=body.pull_request, actor=actor)
    sha = body.head_sha.strip().lower()
    rows = PullRequest.objects.filter(connection=connection, head_sha=sha)
    if body.pull_request is not None:
        rows = rows | PullRequest.objects.filter(connection=connection, number=body.pull_request)
    return Status(202, Kept(head_sha=sha, created=created, reviews=[page_of(one) for one in rows.order_by("number")]))


@router.get("/reviews/{uuid:pk}", auth=Scope("catalog:read"))
def read_review(request: HttpRequest, pk: UUID) -> dict[str, Any]:
    """The newest review of a pull request, or one by its own id, with names as the token's owner may read them."""
    row, found = _review(pk)
    veil = Veil(eyes_of(_actor(request)))
    told = [{"at": one.at.isoformat(), "reason": one.reason, "name": name} for one, name in acknowledgements(found)]
    return {
        "id": str(found.pk) if found else None, "pull_request": str(row.pk), "number": row.number, "state": row.state,
        "repository": pull_requests.repository_of(row.connection), "head_sha": row.head_sha, "problem": row.problem,
        "current": found is not None and found.head_sha == row.head_sha and found.pk == row.review_id,
        "verdict": found.verdict if found else None, "needs_answer": bool(found and found.needs_answer),
        "digest": found.digest if found else None, "compared": found.compared if found else None,
        "page": page_of(row), "acknowledgements": told, "review": veil.document(found) if found else None,
    }  # fmt: skip


@router.get("/review-facts", auth=Scope("catalog:read"))
def read_facts(request: HttpRequest, project: str = "") -> HttpResponse:
    """What a review needs to know, as `spellbook.facts/1`; `project` is dbt's name of the project under review."""
    hidden = eyes_of(_actor(request)).hidden_domains
    document = review_facts.document(project=project[:200], hidden=hidden, outside=True)
    return HttpResponse(facts_document.write(document), content_type="application/json")


def _connection(repository: str) -> Connection:
    """The connection of that name, or the one to that repository."""
    wanted = repository.strip().removesuffix(".git").removeprefix("https://github.com/").lower()
    rows = [
        one
        for one in Connection.objects.filter(kind=KIND, purpose="code").order_by("name")
        if wanted in (one.name.lower(), pull_requests.repository_of(one).lower())
    ]
    if len(rows) != 1:
        why = "is no connection to a code host here" if not rows else "is that of several connections; give one's name"
        raise NotFound(f"The repository {repository[:200]!r} {why}.")
    return rows[0]


def _review(pk: UUID) -> tuple[PullRequest, Review | None]:
    related = ("connection", "review")
    row = PullRequest.objects.select_related(*related).filter(pk=pk).first()
    if row is not None:
        return row, row.review
    found = Review.objects.select_related("pull_request__connection").filter(pk=pk).first()
    if found is None:
        raise NotFound("There is no such review.")
    return found.pull_request, found


def _read(kind: str, file: UploadedFile) -> bytes:
    if file.size is not None and file.size > files.LARGEST:
        raise BadInput(f"The {kind} is larger than 500 MB.")
    return bytes(file.read())


def _actor(request: HttpRequest) -> Actor:
    actor: Actor = request.auth  # type: ignore[attr-defined]
    return actor
