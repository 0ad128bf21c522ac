"""What may go wrong, in words for a user: one class per HTTP answer, one clear sentence per error, never a secret."""

from __future__ import annotations

from typing import ClassVar


class SpellbookError(Exception):
    """An expected refusal. `str(error)` is one sentence for a user; every face (web, API, CLI) shows it as it is."""

    status: ClassVar[int] = 400
    code: ClassVar[str] = "error"


class BadInput(SpellbookError):
    """What was given cannot be used."""

    status = 422
    code = "bad_input"


class NotFound(SpellbookError):
    """There is no such thing, or not for this reader."""

    status = 404
    code = "not_found"


class NotAllowed(SpellbookError):
    """The thing exists; this principal may not do it."""

    status = 403
    code = "not_allowed"


class Conflict(SpellbookError):
    """Somebody was first, or the state has moved on."""

    status = 409
    code = "conflict"


class Gone(SpellbookError):
    """The time for it is over."""

    status = 410
    code = "expired"


class Busy(SpellbookError):
    """A lock was not to be had in time; nothing was recorded."""

    status = 503
    code = "busy"


class Unavailable(SpellbookError):
    """Something that this installation needs does not work now (disk, database, file, other program)."""

    status = 503
    code = "unavailable"
