"""What every page shares: who asks, which methods are answered, how a refusal looks, and the frame around it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, cast
from uuid import uuid4

from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, HttpResponseRedirect, QueryDict
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django_htmx.http import HttpResponseClientRedirect
from django_htmx.middleware import HtmxDetails

from approvals import selectors as approvals
from foundation.audit import Actor
from foundation.errors import BadInput, SpellbookError
from foundation.models import Person, Principal
from spellbook.sight import Sight

_PAGES_OF_FORMS = (
    (re.compile(r"(/assets/\d+)/(?:definition|note|people|review-rule)"), r"\1/declare"),
    (re.compile(r"/suggestions/.*"), "/readers"),
    (re.compile(r"/holds/.*"), "/me"),
    (re.compile(r"(/(?:requests|incidents|plans|domains|readers|reviews)/[^/]+)/.*"), r"\1"),
)
"""From the address that a form is sent to, to the page on which it stands; of all others that is home."""
_LISTS = {"assets": "/catalog", "plans": "/incidents", "requests": "/me"} | {
    name: f"/{name}" for name in ("catalog", "readers", "incidents", "history", "receipts", "domains", "reviews")
}


class AuthenticatedRequest(HttpRequest):
    """A request of somebody who is signed in."""

    user: Person
    htmx: HtmxDetails


View = Callable[..., HttpResponse]


def page(*methods: str) -> Callable[[View], View]:
    """A view for signed-in people that answers these methods alone and turns a typed refusal into a page.

    Whoever is not signed in goes to /sign-in and comes back; whoever opens the address of a form (from the history of
    the browser, after a refusal) goes to the page on which it stands; another method is answered with 405.
    """
    allowed = [*methods, "HEAD"] if "GET" in methods else list(methods)

    def decorate(view: View) -> View:
        @never_cache
        @wraps(view)
        def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            if not request.user.is_authenticated:
                return redirect_to_login(_way_back(request))
            if request.method in ("GET", "HEAD") and "GET" not in methods:
                return HttpResponseRedirect(_page_of_the_form(request))
            if request.method not in allowed:
                return HttpResponseNotAllowed(allowed)
            mine = cast(AuthenticatedRequest, request)
            try:
                _refuse_null(mine)
                mine.POST = _with_plain_lines(mine.POST)  # type: ignore[assignment]  # immutable as well
                return view(mine, *args, **kwargs)
            except SpellbookError as error:
                return refused(mine, error)

        return answer

    return decorate


def _refuse_null(request: HttpRequest) -> None:
    """No database stores a null character in a text alike, so none is taken from a form or an address."""
    fields = [*request.GET.lists(), *request.POST.lists()]
    if any("\0" in text for name, texts in fields for text in (name, *texts)):
        raise BadInput("What was sent holds a null character. Nothing was recorded.")


def _with_plain_lines(sent: QueryDict) -> QueryDict:
    """What was sent, each line ended by a line feed alone; browsers send CRLF (HTML, 4.10.22.7)."""
    plain = QueryDict(mutable=True, encoding=sent.encoding)
    for name, texts in sent.lists():
        plain.setlist(name, [text.replace("\r\n", "\n") for text in texts])
    plain._mutable = False
    return plain


def _way_back(request: HttpRequest) -> str:
    """The page to return to after signing in: for a form, the page that it stands on."""
    return request.get_full_path() if request.method in ("GET", "HEAD") else _page_of_the_form(request)


def _page_of_the_form(request: HttpRequest) -> str:
    pages = (found.expand(page) for form, page in _PAGES_OF_FORMS if (found := form.fullmatch(request.path)))
    return next(pages, "/")


def _before(request: HttpRequest) -> str:
    """Where a refused page leads back to: the same one without its question, the list of its kind, or home."""
    if request.method not in ("GET", "HEAD"):
        return _page_of_the_form(request)
    if request.GET:
        return request.path
    kind, _, one = request.path.strip("/").partition("/")
    return _LISTS.get(kind, "/") if one else "/"


def whole(request: AuthenticatedRequest, name: str) -> int | None:
    """A whole number of the query, from 1 on; None when it is not there. BadInput for anything else."""
    text = request.GET.get(name, "")
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 10 and int(text)):
        raise BadInput(f"{name} is a whole number of at least 1.")
    return int(text)


def actor_of(request: AuthenticatedRequest) -> Actor:
    """The person as the one who acts, through the web; all rows of one click share a correlation id of their own."""
    return Actor(request.user.principal, "web", correlation_id=uuid4())


def show(
    request: AuthenticatedRequest, template: str, context: Mapping[str, Any] | None = None, *, status: int = 200
) -> HttpResponse:
    """Render a page with what its frame needs: what this person may see, and the stop."""
    sight, me = Sight(request.user), request.user
    me.principal = Principal.objects.select_related("name_row").get(pk=me.principal_id)  # the frame says the name
    frame = {"sight": sight, "me": me, "stop": approvals.stop()}
    return render(request, template, {**frame, **(context or {})}, status=status)


def done(request: AuthenticatedRequest, address: str, said: str) -> HttpResponse:
    """A write that succeeded: go to `address`, where `said` is announced."""
    messages.success(request, said)
    return HttpResponseClientRedirect(address) if request.htmx else HttpResponseRedirect(address)


def refused(request: AuthenticatedRequest, error: SpellbookError, *, back: str = "") -> HttpResponse:
    """A typed refusal with its own status and one sentence: a page, or a fragment for the form that was sent."""
    context = {
        "message": Sight(request.user).called(str(error)),
        "status": error.status,
        "back": back or _before(request),
    }
    if request.htmx and request.method == "POST":
        return render(request, "pages/error.html#refusal", context, status=error.status)
    return show(
        request, "pages/error.html", {**context, "title": TITLES.get(error.code, "Refused")}, status=error.status
    )


TITLES = {
    "bad_input": "This cannot be used",
    "not_found": "Not found",
    "not_allowed": "Not yours to do",
    "conflict": "The state has moved on",
    "expired": "The time for it is over",
    "busy": "Busy",
    "unavailable": "Something is missing",
}
