"""The demo's own keys, made once, readable by their owner alone."""

from __future__ import annotations

import secrets
from pathlib import Path

from spellbook.settings import private_file

SIGNING_KEYS = ("receipt.key", "checkpoint.key")


def make_demo_keys(folder: Path) -> None:
    """Make what is missing of the two Ed25519 seeds (RFC 8032: 32 random bytes, here as 64 hexadecimal digits)."""
    for name in SIGNING_KEYS:
        private_file(folder / name, secrets.token_hex(32))
