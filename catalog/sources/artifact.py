"""The bytes of a dbt artifact become one plain dictionary, or one sentence that says why they cannot (D8)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from foundation.errors import BadInput

MAX_BYTES = 500 * 1024 * 1024
"""Larger artifacts are refused unread: the largest known projects write about a tenth of it."""

_MARKER = re.compile(rb"^(<<<<<<< |>>>>>>> |=======\r?$)", re.MULTILINE)
_SCHEMA = re.compile(r"/dbt/(?P<name>[a-z_-]+)/v(?P<number>\d+)\.json$")
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")  # PostgreSQL refuses NUL, UTF-8 refuses half surrogates


def read_bytes(path: Path, what: str) -> bytes:
    """The bytes of the file at `path`; BadInput when it is missing, unreadable or over the size limit."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise _too_large(what)
        return path.read_bytes()
    except OSError as error:
        raise BadInput(f"the {what} {path} cannot be read: {error.strerror or error}") from error


def load(data: bytes, what: str) -> dict[str, Any]:
    """The object that `data` holds as UTF-8 JSON; BadInput with one sentence for everything else."""
    if len(data) > MAX_BYTES:
        raise _too_large(what)
    text = _utf8(data, what)
    value = _parse(text, what)
    if not isinstance(value, dict):
        raise BadInput(f"the {what} is not a JSON object but a {_json_word(value)}")
    return _storable(value) if b"\\u0000" in data or _has_surrogate(data) else value


def schema_version(document: Mapping[str, Any], what: str, known: Sequence[int]) -> str | None:
    """`v12` and the like, None when the file does not say; BadInput for another artifact or an unknown number."""
    url = mapping(document.get("metadata")).get("dbt_schema_version")
    if url is None:
        return None
    found = _SCHEMA.search(str(url))
    if found is None:
        raise BadInput(f"the {what} names an unknown schema version: {str(url)[:200]}")
    name, number = found["name"].replace("-", "_"), int(found["number"])
    if name != what.replace("-", "_").replace(" ", "_"):
        raise BadInput(f"this is a dbt {name.replace('_', ' ')} file, not a {what}")
    if number not in known:
        raise BadInput(f"the {what} has version v{number}, which is not known here; v{known[0]} to v{known[-1]} are")
    return f"v{number}"


def mapping(value: object) -> Mapping[str, Any]:
    """`value` when it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def sequence(value: object) -> Sequence[Any]:
    """`value` when it is a list, else an empty one."""
    return value if isinstance(value, list) else ()


def text(value: object) -> str:
    """`value` when it is text (numbers are written out), else the empty text."""
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else ""


def strings(value: object) -> tuple[str, ...]:
    """The texts in a list, in order and once each; a single text counts as a list of one."""
    items = [value] if isinstance(value, str) else sequence(value)
    return tuple(dict.fromkeys(item for item in items if isinstance(item, str) and item))


def objects(value: object) -> Iterator[tuple[str, Any]]:
    """The entries of a collection that older versions wrote as a list and newer ones as an object by id."""
    if isinstance(value, dict):
        yield from value.items()
    for item in sequence(value):
        yield text(mapping(item).get("unique_id")), item


def _too_large(what: str) -> BadInput:
    return BadInput(f"the {what} is larger than {MAX_BYTES // 1024 // 1024} MB")


def _utf8(data: bytes, what: str) -> str:
    if not data.strip():
        raise BadInput(f"the {what} is empty")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInput(f"the {what} is not UTF-8 text (byte {error.start})") from error


def _parse(text: str, what: str) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        if _MARKER.search(text.encode()):
            raise BadInput(f"the {what} holds unresolved merge conflict markers") from error
        if error.pos >= len(text.rstrip()) - 1 and text.lstrip()[0] in "{[":
            raise BadInput(f"the {what} is truncated: it ends in the middle of its JSON") from error
    # Python's own json writes NaN and half surrogates, which orjson refuses; only then is the slow parser asked.
    try:
        return json.loads(text, parse_constant=lambda _: None)
    except (ValueError, RecursionError) as error:
        where = f" (line {error.lineno}, column {error.colno})" if isinstance(error, json.JSONDecodeError) else ""
        raise BadInput(f"the {what} is not JSON{where}") from error


def _has_surrogate(data: bytes) -> bool:
    return re.search(rb"\\u[dD][89a-fA-F]", data) is not None


def _storable(value: Any) -> Any:
    if isinstance(value, str):
        return _UNSTORABLE.sub("\ufffd", value)
    if isinstance(value, dict):
        return {_storable(key): _storable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_storable(item) for item in value]
    return value


def _json_word(value: object) -> str:
    return {list: "list", str: "text", bool: "boolean", int: "number", float: "number"}.get(type(value), "null")
