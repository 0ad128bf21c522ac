"""The channels that an alert goes to; a new one is one module here and one line in `CHANNELS`."""

from __future__ import annotations

CHANNELS: tuple[str, ...] = ()


def channels() -> tuple[str, ...]:
    """Outbox destinations ("kind:target") of every configured channel; empty means that alerts stay on the page."""
    return CHANNELS
