"""Signing in and out."""

from __future__ import annotations

from django.contrib.auth import login, logout
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from foundation import sign_in as service
from foundation.errors import NotAllowed


@sensitive_post_parameters("password")
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def sign_in(request: HttpRequest) -> HttpResponse:
    """The form, and what it posts: email, password, next (a path of this site)."""
    given = request.POST if request.method == "POST" else request.GET
    target = _own_path(request, given.get("next", ""))
    if request.method != "POST":
        if request.user.is_authenticated:
            return HttpResponseRedirect(target)
        return render(request, "pages/sign_in.html", {"next": target})
    email = given.get("email", "")
    try:
        person = service.attempt(request, email, given.get("password", ""))
    except NotAllowed as error:
        context = {"next": target, "email": email[:254], "refusal": str(error)}
        return render(request, "pages/sign_in.html", context, status=error.status)
    login(request, person)
    return HttpResponseRedirect(target)


@never_cache
@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    """End the session; whoever has none is brought to the same place."""
    logout(request)
    return HttpResponseRedirect("/sign-in")


def _own_path(request: HttpRequest, path: str) -> str:
    """`path` when it leads nowhere but here, else the home page."""
    safe = url_has_allowed_host_and_scheme(path, allowed_hosts={request.get_host()}, require_https=request.is_secure())
    return path if safe and path.startswith("/") else "/"
