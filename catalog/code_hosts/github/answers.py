"""GitHub's refusals in our words, and its answers read with care: what is missing or odd is said, never guessed."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

import httpx
import orjson

from foundation.errors import BadInput, NotAllowed, NotFound, SpellbookError, Unavailable

SHA = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_WORDS = 300
_LONGEST_WAIT = timedelta(hours=24)  # a header that says more is wrong
_DEFAULT_WAIT = timedelta(minutes=1)  # what GitHub asks for when it names no time


class RateLimited(Unavailable):
    """GitHub takes no more requests of ours before `until`."""

    def __init__(self, message: str, until: datetime) -> None:
        super().__init__(message)
        self.until = until


def check_sha(sha: str) -> str:
    """A whole commit id; BadInput for anything else."""
    if not SHA.fullmatch(sha):
        raise BadInput(f"{sha[:80]!r} is not a whole commit id.")
    return sha


def loaded(body: bytes, what: str) -> Any:
    """The JSON of an answer; Unavailable when it is none."""
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        raise odd(what, "is not JSON") from None


def odd(what: str, why: str) -> Unavailable:
    """The error for an answer that does not say what it should."""
    return Unavailable(f"GitHub's answer on {what} {why}.")


def refusal(status: int, headers: Mapping[str, str], body: bytes, what: str) -> SpellbookError:
    """The error for an answer that is no success. GitHub's own words are shortened; headers are never shown."""
    limited = _rate_limit(status, headers, body)
    if limited is not None:
        return limited
    words = said(body)
    because = f" GitHub says: {words}" if words else ""
    if status == 401:
        return NotAllowed(f"GitHub does not accept the credential for {what}.{because}")
    if status in (403, 451):
        return NotAllowed(f"GitHub does not allow {what}.{because}")
    if status in (404, 410):
        return NotFound(f"GitHub has no {what}, or does not show it to this credential.{because}")
    if 400 <= status < 500:
        return BadInput(f"GitHub refuses {what} ({status}).{because}")
    return Unavailable(f"GitHub fails on {what} ({status}).{because}")


def said(body: bytes) -> str:
    """GitHub's own words in an error, on one line of at most 300 characters; "" when there are none."""
    try:
        data = orjson.loads(body)
    except orjson.JSONDecodeError:
        return ""
    if not isinstance(data, dict):
        return ""
    parts = [data.get("message"), *_errors(data.get("errors"))]
    text = "; ".join(part for part in parts if isinstance(part, str) and part)
    clean = "".join(letter if letter.isprintable() else " " for letter in text)
    return clean if len(clean) <= _WORDS else clean[: _WORDS - 1] + "…"


def _errors(errors: object) -> list[str]:
    """`errors` holds texts, or objects with a message, or with field and code."""
    found = []
    for error in errors[:5] if isinstance(errors, list) else [errors]:
        if isinstance(error, str):
            found.append(error)
        elif isinstance(error, dict):
            words = [error.get(key) for key in ("field", "code", "message")]
            found.append(" ".join(word for word in words if isinstance(word, str)))
    return found


def _rate_limit(status: int, headers: Mapping[str, str], body: bytes) -> RateLimited | None:
    """https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api: 403 or 429 with nothing left,
    or with retry-after, or saying that a secondary limit was met."""
    spent = headers.get("x-ratelimit-remaining") == "0"
    secondary = "retry-after" in headers or "secondary rate limit" in said(body).lower()
    if status not in (403, 429) or not (spent or secondary or status == 429):
        return None
    now = datetime.now(UTC)
    until = min(max(_until(headers, now, spent), now), now + _LONGEST_WAIT)
    return RateLimited(f"GitHub takes no more requests of ours before {until:%Y-%m-%d %H:%M:%S} UTC.", until)


def _until(headers: Mapping[str, str], now: datetime, spent: bool) -> datetime:
    wait, reset = headers.get("retry-after", ""), headers.get("x-ratelimit-reset", "")
    if wait.isdecimal() and len(wait) < 10:
        return now + timedelta(seconds=int(wait))
    if spent and reset.isdecimal() and len(reset) < 12:
        # GitHub's own clock counts; ours may be wrong.
        return now + timedelta(seconds=int(reset) - (now.timestamp() - clock_ahead(headers)))
    return now + _DEFAULT_WAIT


def clock_ahead(headers: Mapping[str, str]) -> float:
    """By how many seconds this machine's clock is ahead of the answer's Date header; 0 when it has none."""
    try:
        there = parsedate_to_datetime(headers.get("date", ""))
    except ValueError:
        return 0.0
    return time.time() - there.timestamp()


def unreachable(error: httpx.HTTPError | httpx.InvalidURL, what: str, *, wrote: bool) -> Unavailable:
    """The error when no whole answer came. httpx's own text may hold an address with a signature, so it is not shown.

    `wrote`: the request may have been carried out all the same, which is said.
    """
    why = "did not answer in time" if isinstance(error, httpx.TimeoutException) else "cannot be reached"
    unknown = " It is not known whether it was done." if wrote and not isinstance(error, httpx.ConnectError) else ""
    return Unavailable(f"GitHub {why} for {what}.{unknown}")
