"""What a watcher outside may ask: does the site answer, and is anybody doing the due work."""

from __future__ import annotations

from django.apps import apps
from django.conf import settings
from django.db import DatabaseError, connection
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from foundation.due import DueRow, oldest_due_age


@never_cache
@require_safe
def healthz(request: HttpRequest) -> JsonResponse:
    """200 as long as the process answers; touches nothing else."""
    return JsonResponse({"status": "ok"})


@never_cache
@require_safe
def readyz(request: HttpRequest) -> JsonResponse:
    """`{status, oldest_due_seconds}`; 503 when the database is away or a due row waits over SPELLBOOK_READY_LIMIT s."""
    try:
        connection.ensure_connection()
        age = oldest_due_age([model for model in apps.get_models() if issubclass(model, DueRow)])
    except DatabaseError:
        return JsonResponse({"status": "database unavailable", "oldest_due_seconds": None}, status=503)
    seconds = None if age is None else max(0, int(age.total_seconds()))
    if seconds is not None and seconds > settings.SPELLBOOK_READY_LIMIT:
        return JsonResponse({"status": "due work is waiting", "oldest_due_seconds": seconds}, status=503)
    return JsonResponse({"status": "ok", "oldest_due_seconds": seconds})
