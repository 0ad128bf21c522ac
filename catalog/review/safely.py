"""Parsers fail on SQL in ways their authors did not think of: what fails is not known, and all else goes on."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TypeVar

from catalog.lints.registry import UNREAD
from catalog.lints.types import CERTAIN, LOOK, Finding, ModelState, Place

T = TypeVar("T")
_log = logging.getLogger(__name__)


def safely(look: Callable[[], T], otherwise: T) -> T:
    """What `look` gives, or `otherwise` when it fails on what it looks at; the fault goes to the log."""
    try:
        return look()
    except Exception:  # RecursionError among them: a review must tell of the rest
        _log.warning("A part of a review could not be looked at", exc_info=True)
        return otherwise


def unread(model: ModelState) -> Finding:
    """The finding of a model that no lint could look through."""
    sentence = f"The SQL of {model.name} could not be looked through for lost rows."
    return Finding(UNREAD, LOOK, Place(), sentence, (), None, CERTAIN)
