"""Reviews of pull requests: the list, one with all that it says, and a person's acknowledgement of a dangerous one."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.http import HttpResponse

from catalog.code_hosts.github.connection import KIND
from catalog.models import PullRequest, Review
from catalog.review import words
from catalog.review_rows import acknowledgements, closed_pull_requests, open_pull_requests, pull_request, reviews_of
from catalog.services.reviewing import acknowledge as service
from catalog.services.reviewing import rules
from catalog.services.reviewing.pull_requests import repository_of
from foundation.clock import now
from foundation.errors import BadInput, NotFound
from foundation.models import Connection
from spellbook import plan_links, review_acknowledging
from spellbook.pages.frame import AuthenticatedRequest, actor_of, done, page, show
from spellbook.review_veil import Veil
from spellbook.sight import Sight

LISTED: Final = 100
CLOSED: Final = 10
MOST_CHANGES: Final = 100
"""Changes shown whole; the rest are counted."""
ORDER: Final = {"dangerous": 0, "look": 1, "": 2, "safe": 3}


@page("GET")
def reviews(request: AuthenticatedRequest) -> HttpResponse:
    """Every open pull request, the gravest first, then by the next read that it reaches."""
    moment = now()
    rows = [_row(one, moment) for one in open_pull_requests()[:LISTED]]
    rows.sort(key=lambda one: (ORDER.get(one["verdict"], 2), one["next_read"] or "9", -one["row"].number))
    context = {
        "rows": rows,
        "total": open_pull_requests().count(),
        "closed": [_row(one, moment) for one in closed_pull_requests()[:CLOSED]],
        "connected": Connection.objects.filter(kind=KIND, purpose="code").exists(),
    }
    return show(request, "pages/reviews.html", context)


@page("GET")
def review(request: AuthenticatedRequest, pk: UUID) -> HttpResponse:
    """One pull request with its newest review, or with the older one that `review` names."""
    sight, row = Sight(request.user), pull_request(pk)
    wanted = request.GET.get("review", "")
    chosen = _chosen(row, wanted) if wanted else row.review
    return show(request, "pages/review.html", _context(row, chosen, sight))


@page("POST")
def acknowledge(request: AuthenticatedRequest, pk: UUID) -> HttpResponse:
    """Acknowledge the review that the form shows: its id, its digest, a reason."""
    row = pull_request(pk)
    shown = _chosen(row, request.POST.get("review", "") or "none")
    digest, reason = request.POST.get("digest", ""), request.POST.get("reason", "")
    right, actor = review_acknowledging.covered, actor_of(request)
    service.acknowledge(shown.pk, digest, reason, person=request.user, right=right, actor=actor)
    return done(request, f"/reviews/{row.pk}", "Recorded. The comment and the check of the pull request follow.")


@page("POST")
def rule(request: AuthenticatedRequest, pk: int) -> HttpResponse:
    """Set or lift the rule that changes of an asset have to be acknowledged."""
    asset, deed = Sight(request.user).asset(pk), request.POST.get("rule", "")
    if deed not in ("set", "lift"):
        raise BadInput("A rule is set or lifted.")
    reason = request.POST.get("reason", "")
    if deed == "lift":
        shown = request.POST.get("seen", "")
        seen = int(shown) if shown.isascii() and shown.isdigit() and len(shown) < 10 else 0
        rules.lift_rule(asset, reason, person=request.user, actor=actor_of(request), seen=seen)
    else:
        rules.set_rule(asset, reason, person=request.user, actor=actor_of(request))
    said = "Changes of it need an acknowledgement from now on." if deed == "set" else "The rule is lifted."
    return done(request, f"/assets/{pk}/declare", said)


def _context(row: PullRequest, chosen: Review | None, sight: Sight) -> dict[str, Any]:
    document = Veil(sight).document(chosen) if chosen else {}
    newest = chosen is not None and chosen.pk == row.review_id and chosen.head_sha == row.head_sha
    waits = bool(chosen and chosen.needs_answer and newest and row.state == "open")
    answered = bool(chosen and review_acknowledging.answered(chosen))
    changes = document.get("changes", [])
    return {
        "row": row,
        "repository": repository_of(row.connection),
        "link": row.url if row.url.startswith("https://") else "",
        "review": chosen,
        "document": document,
        "changes": [_change(one) for one in changes[:MOST_CHANGES]],
        "more_changes": max(len(changes) - MOST_CHANGES, 0),
        "plans": plan_links.shown(chosen, sight),
        "newest": newest,
        "answered": answered,
        "acknowledgements": acknowledgements(chosen),
        "may_acknowledge": waits and not answered and _may(sight, chosen),
        "author": waits and review_acknowledging.is_author(sight.person, row),
        "waits": waits and not answered,
        "own": review_acknowledging.OWN,
        "who": review_acknowledging.WHO,
        "deciding": _deciding(chosen, sight) if waits else [],
        "older": [one for one in reviews_of(row)[:LISTED] if chosen is None or one.pk != chosen.pk],
    }


def _may(sight: Sight, chosen: Review | None) -> bool:
    if chosen is None or any(one.person_id == sight.person.pk for one in chosen.acknowledgements.all()):
        return False
    return review_acknowledging.may_acknowledge(sight.person, chosen)


def _deciding(chosen: Review | None, sight: Sight) -> list[Any]:
    """The assets whose domains have to acknowledge, as far as the graph has them."""
    return review_acknowledging.assets_of(chosen) if chosen else []


def _change(one: Mapping[str, Any]) -> dict[str, Any]:
    """A change in words: those of a comment, as this page escapes them itself."""
    kinds = [words.said(words.CHANGES, kind) for kind in one.get("kinds") or ()]
    return {
        **one,
        "action": words.said(words.ACTIONS, one.get("action") or ""),
        "direction": words.said(words.DIRECTIONS, one["direction"]) if one.get("direction") else "",
        "kinds": kinds,
        "row_set": [
            {
                **part, "kind": words.capital(words.said(words.ROW_SET, part["kind"])),
                "direction": words.said(words.DIRECTIONS, part["direction"]),
            }
            for part in one.get("row_set") or ()
        ],
        "reached": [(kind, number) for kind, number in (one.get("reached") or {}).items() if number],
        "findings": [
            {**part, "certainty": words.said(words.CERTAINTIES, part["certainty"])}
            for part in one.get("findings") or ()
        ],
    }  # fmt: skip


def _row(row: PullRequest, moment: datetime) -> dict[str, Any]:
    found = row.review if row.review is not None and row.review.head_sha == row.head_sha else None
    said = found.summary if found else {}
    times = [one for one in said.get("next_reads", ()) if one >= moment.isoformat()]
    return {
        "row": row,
        "repository": repository_of(row.connection),
        "review": found,
        "verdict": found.verdict if found else "",
        "changes": said.get("changes"),
        "readers": said.get("readers") if said.get("readers_known") else None,
        "next_read": times[0] if times else None,
        "answered": bool(found and found.needs_answer and review_acknowledging.answered(found)),
    }


def _chosen(row: PullRequest, wanted: str) -> Review:
    found = reviews_of(row).filter(pk=_uuid(wanted)).first()
    if found is None:
        raise NotFound("There is no such review of this pull request.")
    return found


def _uuid(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise BadInput("A review is named by its id.") from None
