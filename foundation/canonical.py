"""The one place that turns values into canonical bytes and digests.

RFC 8785 (JSON Canonicalization Scheme), narrowed: numbers are integers (at most 2^53 - 1) or are written as strings.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime

import rfc8785

from foundation.errors import BadInput


def canonical_bytes(value: object) -> bytes:
    """The RFC 8785 form of `value` (dict with text keys, list, tuple, str, int, bool, None). BadInput on anything else.

    >>> canonical_bytes({"b": 1, "a": [True, None]})
    b'{"a":[true,null],"b":1}'
    """
    try:
        return rfc8785.dumps(_checked(value))
    except rfc8785.CanonicalizationError as error:
        raise BadInput(f"This value has no canonical form: {error}.") from None
    except RecursionError:
        raise BadInput("This value has no canonical form: it is nested too deeply.") from None


def digest(value: object) -> str:
    """SHA-256 of the canonical bytes, 64 hex digits."""
    return sha256_hex(canonical_bytes(value))


def sha256_hex(data: bytes) -> str:
    """SHA-256 of the bytes as they are, 64 hex digits."""
    return hashlib.sha256(data).hexdigest()


def timestamp(value: datetime) -> str:
    """RFC 3339 in UTC with exactly six fraction digits and `Z`. BadInput on a moment without a time zone."""
    if value.tzinfo is None:
        raise BadInput("A timestamp needs a time zone.")
    return value.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def _checked(value: object) -> rfc8785._impl._Value:
    """The same value in plain lists and dictionaries; refuses floats, which do not survive other readers unchanged."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [_checked(item) for item in value]
    if isinstance(value, Mapping):
        return {_key(key): _checked(item) for key, item in value.items()}
    raise BadInput(f"A canonical value holds integers and text, not {type(value).__name__}.")


def _key(key: object) -> str:
    if isinstance(key, str):
        return key
    raise BadInput("The keys of a canonical value are text.")
