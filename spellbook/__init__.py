"""The top floor: settings, addresses, processes and whatever joins the floors below."""

from __future__ import annotations

from spellbook.celery import app as celery_app

__all__ = ["celery_app"]
