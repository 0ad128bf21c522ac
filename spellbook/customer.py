"""One installation, one organisation: a `customerId` that comes with a question must be its own (D1)."""

from __future__ import annotations

from django.conf import settings

from foundation.errors import NotAllowed

ARGUMENT = "customerId"


def check(told: object) -> None:
    """NotAllowed for a `customerId` that is not that of this installation; None, nothing said, is always right."""
    if told is not None and (not settings.SPELLBOOK_CUSTOMER_ID or told != settings.SPELLBOOK_CUSTOMER_ID):
        raise NotAllowed(f"The {ARGUMENT} is not that of this installation; leave it out, or give its own.")
