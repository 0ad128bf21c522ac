"""The API object: routers, and one shape for every refusal."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from ninja import NinjaAPI
from ninja.errors import AuthenticationError, HttpError, ValidationError

from foundation.errors import SpellbookError
from spellbook.api import assets, builds, declarations, graph, incidents, lineage, reviews, values
from spellbook.sentences import sentence

UNSIGNED = "Send a token as 'Authorization: Bearer …'."
UNREADABLE = "The body of the request cannot be read: JSON, or a form with files, is expected."

api = NinjaAPI(title="Spellbook", version="1", docs_url=None, openapi_url=None, urls_namespace="api")
api.add_router("/", builds.router)
api.add_router("/", values.router)
api.add_router("/", incidents.router)
api.add_router("/", assets.router)
api.add_router("/", graph.router)
api.add_router("/", lineage.router)
api.add_router("/", declarations.router)
api.add_router("/", reviews.router)


@api.exception_handler(SpellbookError)
def refused(request: HttpRequest, error: SpellbookError) -> HttpResponse:
    """A typed refusal: its own status, a short code, one sentence."""
    return _answer(request, error.status, error.code, sentence(error))


@api.exception_handler(AuthenticationError)
def unknown(request: HttpRequest, error: AuthenticationError) -> HttpResponse:
    """No token, or not in the Authorization header."""
    answer = _answer(request, 401, "not_signed_in", UNSIGNED)
    answer["WWW-Authenticate"] = "Bearer"
    return answer


@api.exception_handler(ValidationError)
def malformed(request: HttpRequest, error: ValidationError) -> HttpResponse:
    """A body that does not fit: the first field that is wrong, in one sentence; nothing was recorded."""
    first = error.errors[0]
    where = ".".join(str(part) for part in first["loc"][2:] or first["loc"][1:]) or "body"
    return _answer(request, 422, "bad_input", sentence(f"{where}: {first['msg']}"))


@api.exception_handler(HttpError)
def unreadable(request: HttpRequest, error: HttpError) -> HttpResponse:
    """A body that is neither JSON nor a form."""
    return _answer(request, error.status_code, "bad_input", UNREADABLE)


def _answer(request: HttpRequest, status: int, code: str, message: str) -> HttpResponse:
    return api.create_response(request, {"error": code, "message": message}, status=status)
