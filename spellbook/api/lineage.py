"""The OpenLineage receiver: events are checked, kept once, answered, and read afterwards.

The address and the answer are those of OpenLineage's own HTTP transport
(https://openlineage.io/docs/client/python, transport `http`): a producer needs our address and a token, no code.
"""

from __future__ import annotations

import zlib

import orjson
from django.http import HttpRequest
from ninja import Router, Schema, Status

from catalog.services.lineage_events import receive
from foundation.errors import BadInput
from spellbook.api.auth import Scope

router = Router()
LARGEST = 10 * 1024 * 1024
MOST = 1000


class Taken(Schema):
    """How many events came, and how many of them were not here before."""

    events: int
    created: int


@router.post("/lineage", auth=Scope("lineage:write"), response={201: Taken})
def take_events(request: HttpRequest) -> Status[Taken]:
    """Keep an OpenLineage event, or a list of them; a list in which one is refused is refused whole."""
    document = _json(_body(request))
    events = document if isinstance(document, list) else [document]
    if len(events) > MOST:
        raise BadInput(f"At most {MOST} events are taken in one request, not {len(events)}.")
    created = receive(events, actor=request.auth)  # type: ignore[attr-defined]
    return Status(201, Taken(events=len(events), created=created))


@router.post("/lineage/batch", auth=Scope("lineage:write"), response={201: Taken})
def take_batch(request: HttpRequest) -> Status[Taken]:
    """The same under the address that the specification has for lists."""
    return take_events(request)


def _body(request: HttpRequest) -> bytes:
    data = request.read(LARGEST + 1)
    encoding = request.headers.get("Content-Encoding", "identity").strip().lower()
    if encoding == "gzip":
        data = _unzipped(data)
    elif encoding != "identity":
        raise BadInput(f"The encoding {encoding[:40]!r} of the body is not read here; send it plain or as gzip.")
    if len(data) > LARGEST:
        raise BadInput("The body is larger than 10 MB.")
    return data


def _unzipped(data: bytes) -> bytes:
    """At most one byte more than is taken, whatever the body would swell to."""
    reader = zlib.decompressobj(wbits=31)
    try:
        plain = reader.decompress(data, LARGEST + 1)
    except zlib.error:
        raise BadInput("The body says that it is gzip, but it is not.") from None
    if not reader.eof and len(plain) <= LARGEST:
        raise BadInput("The body ends in the middle of its gzip.")
    if reader.unused_data:
        raise BadInput("Something follows the gzip of the body; it is sent as one member.")
    return plain


def _json(data: bytes) -> object:
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise BadInput(f"The body is not JSON in UTF-8 (line {error.lineno}, column {error.colno}).") from None
