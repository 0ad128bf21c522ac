"""The REST face: machines announce builds and record values; every rule is in the services."""

from __future__ import annotations

from spellbook.api.urls import api

__all__ = ["api"]
