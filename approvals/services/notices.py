"""Telling people about a request: one outbox row per configured channel, or the words that it stays on the page."""

from __future__ import annotations

from typing import Any

from approvals.models import Request
from approvals.scope import timeline_of
from foundation import outbox
from incidents.alerts import KEPT_HERE, channels


def tell(request: Request, event: str, body: dict[str, Any]) -> str:
    """Put one message about `request` into every channel, once per `event`; returns where it went, in words."""
    for channel in channels():
        outbox.put(
            event=f"request:{request.pk}:{event}",
            destination=channel,
            purpose="approval",
            body={"request": str(request.pk), "plan": str(request.plan_id), **body},
            correlation_id=timeline_of(request.plan),
        )
    return ", ".join(f"told on {channel}" for channel in channels()) or KEPT_HERE
