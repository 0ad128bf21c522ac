"""The address of a pull request's page."""

from __future__ import annotations

from django.conf import settings

from catalog.models import PullRequest


def page_of(row: PullRequest) -> str:
    """The whole address, for whoever reads elsewhere."""
    return f"{settings.SPELLBOOK_BASE_URL}/reviews/{row.pk}"
