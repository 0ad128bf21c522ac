"""Webhooks of code hosts: the raw body is read up to a limit, verified, stored once, answered; all else comes later.

No session, no CSRF token, no sign-in: the signature over the body is what lets a delivery in.
"""

from __future__ import annotations

from typing import Final

from django.http import HttpRequest, HttpResponseNotAllowed, JsonResponse
from django.http.response import HttpResponseBase
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt

from catalog.code_hosts.github.webhook import LARGEST
from catalog.services.reviewing import deliveries
from foundation.errors import SpellbookError

TOO_LARGE: Final = f"The body is larger than {LARGEST // 1024 // 1024} MB; nothing was kept."


@csrf_exempt
@never_cache
def github(request: HttpRequest, name: str) -> HttpResponseBase:
    """A delivery to the connection `name`.

    202 with `{"kept"}`: false for one that was here before. 413 over 25 MB; 403 with one sentence for whatever is not
    verified, an unknown connection too; 422 for a signed one that cannot be used; 503 when it cannot be stored now, so
    that it is delivered again.
    """
    if request.method != "POST":
        return HttpResponseNotAllowed(["POST"])
    body = _body(request)
    if body is None:
        return JsonResponse({"error": "bad_input", "message": TOO_LARGE}, status=413)
    try:
        kept = deliveries.receive(name, body, dict(request.headers))
    except SpellbookError as error:
        return JsonResponse({"error": error.code, "message": str(error)}, status=error.status)
    return JsonResponse({"kept": kept}, status=202)


def _body(request: HttpRequest) -> bytes | None:
    """The raw bytes, read past the limit by one byte at most; None for more than that."""
    length = request.META.get("CONTENT_LENGTH") or "0"
    if length.isascii() and length.isdigit() and len(length) < 20 and int(length) > LARGEST:
        return None
    body = request.read(LARGEST + 1)
    return body if len(body) <= LARGEST else None
