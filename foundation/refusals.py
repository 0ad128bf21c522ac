"""Refused attempts are kept too (I13): in a transaction of their own, since that of the attempt is rolled back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from uuid import UUID

from django.db import models

from foundation import audit
from foundation.audit import Actor
from foundation.errors import Busy, SpellbookError, Unavailable
from foundation.locks import transaction


@contextmanager
def kept(
    actor: Actor,
    action: str,
    target: models.Model | tuple[str, str],
    facts: Mapping[str, str],
    *,
    correlation_id: UUID | None = None,
) -> Iterator[None]:
    """Run an attempt; a typed refusal is recorded as a refused audit row (its sentence as `why`) and raised again.

    Busy and Unavailable mean that nothing was recorded, so for them nothing is.
    """
    try:
        yield
    except (Busy, Unavailable):
        raise
    except SpellbookError as error:
        with suppress(Busy, Unavailable), transaction():
            said = {**facts, "why": str(error), "code": error.code}
            audit.record(actor, action, target, correlation_id=correlation_id, facts=said, refused=True)
        raise
