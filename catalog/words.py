"""The words that declarations, tables and reviews share, and how a key is made of a name. Pure."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

ROLES: Final = ("owner", "operator", "business_owner", "on_call", "tool_admin")
"""In which somebody may answer for an asset."""
MODES: Final = ("mirror", "append", "full", "one_time", "activation", "extract", "unknown")
"""How a sync writes."""


def slug(text: str) -> str:
    """A key for addresses: lower-case ASCII letters, digits, underscores and single hyphens; "" when nothing is left.

    The same for every text as Django's `slugify`, which wrote the keys that databases hold.
    """
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii").lower()
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", plain)).strip("-_")
