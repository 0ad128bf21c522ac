"""Strict base64 and JSON: a value has one accepted spelling, so that a changed character never goes unseen."""

from __future__ import annotations

import base64
import binascii
import json
from typing import Any


def b64(data: bytes) -> str:
    """Standard base64 with padding (RFC 4648 section 4)."""
    return base64.b64encode(data).decode("ascii")


def strict_b64decode(text: str) -> bytes:
    """The bytes behind canonical standard base64; `ValueError` when padding, spare bits or alphabet are not
    canonical.
    """
    try:
        data = base64.b64decode(text.encode("ascii"), validate=True)
    except (binascii.Error, UnicodeEncodeError):
        raise ValueError("not base64") from None
    if b64(data) != text:
        raise ValueError("not canonical base64")
    return data


def either_b64decode(text: str) -> bytes:
    """As `strict_b64decode`, for the standard or the URL-safe alphabet, not a mixture (DSSE asks for both)."""
    if "-" in text or "_" in text:
        if "+" in text or "/" in text:
            raise ValueError("mixed base64 alphabets")
        text = text.replace("-", "+").replace("_", "/")
    return strict_b64decode(text)


def _object_without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice")
    return found


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def strict_json_object(data: bytes) -> dict[str, Any]:
    """A JSON object without duplicate keys, NaN or infinities; `ValueError` for anything else."""
    try:
        value = json.loads(
            data.decode("utf-8"),
            object_pairs_hook=_object_without_duplicates,
            parse_constant=_refuse_constant,
        )
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if not isinstance(value, dict):
        raise ValueError("not a JSON object")
    return value
