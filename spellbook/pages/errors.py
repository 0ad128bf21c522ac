"""Pages for what went wrong outside of a view: no such address, a form that is too old, a fault of ours."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

NO_PAGE = "There is no page at this address."
NO_RIGHT = "This is not for you."
OLD_FORM = "This form is too old or came from another site; open the page again and repeat what you did."
OUR_FAULT = "Something broke here. Nothing was recorded that is not shown; the log of the installation has the details."


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """404 for an address that leads nowhere."""
    return _plain(request, 404, "Not found", NO_PAGE)


def forbidden(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """403 raised by Django itself."""
    return _plain(request, 403, "Not yours to do", NO_RIGHT)


def csrf_failed(request: HttpRequest, reason: str = "") -> HttpResponse:
    """403 for a form without a token of this session."""
    return _plain(request, 403, "This form is too old", OLD_FORM)


def broken(request: HttpRequest) -> HttpResponse:
    """500; asks neither database nor session, since either may be what broke."""
    return _plain(request, 500, "A fault of ours", OUR_FAULT)


def _plain(request: HttpRequest, status: int, title: str, message: str) -> HttpResponse:
    context = {"status": status, "title": title, "message": message, "back": "/"}
    if request.headers.get("HX-Request") == "true":
        return render(request, "pages/error.html#refusal", context, status=status)
    return render(request, "pages/error.html", context, status=status)
