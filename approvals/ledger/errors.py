"""What can be wrong with a receipt, as one typed error that names the part that broke."""

from __future__ import annotations

from enum import StrEnum

from foundation.errors import SpellbookError


class Part(StrEnum):
    """The part of a receipt or bundle that a check refused."""

    ARCHIVE = "archive"
    KEY = "key"
    ENVELOPE = "envelope"
    SIGNATURE = "envelope signature"
    TYPE = "receipt type"
    STATEMENT = "statement"
    PROOF = "proof text"
    LEAF = "leaf"
    INCLUSION = "inclusion proof"
    CHECKPOINT = "checkpoint"
    CHECKPOINT_SIGNATURE = "checkpoint signature"
    LINKED = "linked receipt"
    EVIDENCE = "evidence"
    RECIPE = "verification recipe"


class NotVerified(SpellbookError):
    """A receipt that is not what it claims to be; `part` says where, the message says why in one sentence."""

    status = 422
    code = "not_verified"

    def __init__(self, part: Part, message: str) -> None:
        super().__init__(message)
        self.part = part


class HeadRefused(SpellbookError):
    """The sealer must not sign this head: it lies below, or contradicts, one that it signed before."""

    status = 409
    code = "head_refused"
