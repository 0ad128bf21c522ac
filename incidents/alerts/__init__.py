"""The channels that an alert goes to; a new one is one module here and one line in `CHANNELS`."""

from __future__ import annotations

CHANNELS: tuple[str, ...] = ()


KEPT_HERE = "kept here, no channel configured"


def channels() -> tuple[str, ...]:
    """Outbox destinations ("kind:target") of every configured channel; empty means that alerts stay on the page."""
    return CHANNELS


def where() -> str:
    """Where an alert or a message goes, in words (D7): every channel, or that it stays on the page."""
    return ", ".join(channels()) or KEPT_HERE
