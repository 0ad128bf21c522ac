"""The bytes of a dbt artifact become one plain dictionary, or one sentence that says why they cannot (D8)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from foundation.errors import BadInput

MAX_BYTES = 500_000_000
"""Artifacts of this size and more are refused unread: the largest known projects write about a tenth of it."""

_MARKER = re.compile(rb"^(<<<<<<< |>>>>>>> |=======\r?$)", re.MULTILINE)
_SCHEMA = re.compile(r"/dbt/(?P<name>[a-z_-]+)/v(?P<number>[0-9]{1,9})\.json$")
_BOM = b"\xef\xbb\xbf"
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")  # PostgreSQL refuses NUL, UTF-8 refuses half surrogates


def read_bytes(path: Path, what: str) -> bytes:
    """The bytes of the file at `path`; BadInput when it is missing, unreadable or over the size limit."""
    try:
        if path.stat().st_size >= MAX_BYTES:
            raise _too_large(what)
        return path.read_bytes()
    except OSError as error:
        raise BadInput(f"the {what} {path} cannot be read: {error.strerror or error}") from error


def load(data: bytes, what: str) -> dict[str, Any]:
    """The object that `data` holds as UTF-8 JSON; BadInput with one sentence for everything else."""
    if len(data) >= MAX_BYTES:
        raise _too_large(what)
    try:
        value, strict = orjson.loads(data.removeprefix(_BOM)), True
    except orjson.JSONDecodeError:
        value, strict = _parse(_utf8(data, what), what), False
    if not isinstance(value, dict):
        raise BadInput(f"the {what} is not a JSON object but a {_json_word(value)}")
    # orjson lets no half surrogate through; a NUL can only stand in the file as an escape.
    return value if strict and b"\\u0000" not in data else _storable(value)


def schema_version(document: Mapping[str, Any], what: str) -> str | None:
    """`v12` and the like, None when the file does not say; BadInput when it says that it is another artifact.

    A number that no dbt of today writes is no reason to refuse (D8): see `strange_version`.
    """
    url = mapping(document.get("metadata")).get("dbt_schema_version")
    found = _SCHEMA.search(url) if isinstance(url, str) else None
    if found is None:
        return None
    name = found["name"].replace("-", "_")
    if name != what.replace("-", "_").replace(" ", "_"):
        raise BadInput(f"this is a dbt {name.replace('_', ' ')} file, not a {what}")
    return f"v{found['number']}"


def strange_version(document: Mapping[str, Any], what: str, known: Sequence[int]) -> str | None:
    """A sentence about a schema version that is not known here; None when it is known, or the file says none."""
    url = mapping(document.get("metadata")).get("dbt_schema_version")
    found = _SCHEMA.search(url) if isinstance(url, str) else None
    if url is None or (found is not None and int(found["number"]) in known):
        return None
    said = f"v{found['number']}" if found else text(url)[:200] or "something that is no text"
    return f"the {what} names the schema version {said}, which is not known here; it was read as far as it is alike"


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
    if not value:
        return ()
    items = [value] if isinstance(value, str) else sequence(value)
    return tuple(dict.fromkeys(item for item in items if isinstance(item, str) and item))


def objects(value: object) -> Iterator[tuple[str, Any]]:
    """The entries of a collection that older versions wrote as a list and newer ones as an object by id."""
    if isinstance(value, dict):
        yield from value.items()
    for item in sequence(value):
        yield text(mapping(item).get("unique_id")), item


def _too_large(what: str) -> BadInput:
    return BadInput(f"the {what} has {MAX_BYTES // 1_000_000} MB or more and was not read")


def integer(value: object) -> int | None:
    """`value` when it is a whole number or the text of one, as some adapters write counts; else None."""
    if isinstance(value, str) and value.isdecimal() and value.isascii():
        return int(value) if len(value) < 20 else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _truncated(what: str) -> BadInput:
    return BadInput(f"the {what} is truncated: it ends in the middle of its JSON")


def _utf8(data: bytes, what: str) -> str:
    if not data.strip():
        raise BadInput(f"the {what} is empty")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if error.reason == "unexpected end of data":
            raise _truncated(what) from error
        raise BadInput(f"the {what} is not UTF-8 text (byte {error.start})") from error


def _parse(text: str, what: str) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        if _MARKER.search(text.encode()):
            raise BadInput(f"the {what} holds unresolved merge conflict markers") from error
        if error.pos >= len(text.rstrip()) - 1 and text.lstrip()[0] in "{[":
            raise _truncated(what) from error
    # Python's own json writes NaN and half surrogates, which orjson refuses; only then is the slow parser asked.
    try:
        return json.loads(text, parse_constant=lambda _: None)
    except (ValueError, RecursionError) as error:
        where = f" (line {error.lineno}, column {error.colno})" if isinstance(error, json.JSONDecodeError) else ""
        raise BadInput(f"the {what} is not JSON{where}") from error


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
