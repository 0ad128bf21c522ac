"""A lineage as a file: one row for each asset of the page, all of them, written as they are read."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable, Iterator
from itertools import islice
from typing import Any

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, StreamingHttpResponse

from catalog.graph.lineage import Lineage
from catalog.graph.lineage_rows import LineageRow
from spellbook.pages.spreadsheet import lines as csv_lines

COLUMNS = (
    "from", "to", "hops", "kind", "owner", "next_read", "mode", "consequence", "last_useful_minute", "through",
    "status", "tool", "delete_rule", "operator", "domain", "namespace", "name", "asset_id", "cycle",
)  # fmt: skip
BATCH = 500


def as_csv(found: Lineage) -> Iterator[str]:
    """The header and a line for each row; data flows from `from` to `to`, one of which is the asset of the row."""
    return csv_lines(COLUMNS, (_line(row, found.direction) for row in found.rows()))


def as_json(found: Lineage) -> Iterator[str]:
    """One document: what the page says of all, and `rows`."""
    head = found.page(limit=1).as_dict()
    for name in ("rows", "offset", "limit"):
        del head[name]
    head["truncated"] = head["found"] < head["total"]
    yield json.dumps(head)[:-1] + ', "rows": ['
    for place, row in enumerate(found.rows()):
        ends = dict(zip(("from", "to"), _ends(row, found.direction), strict=True))
        yield ("\n" if place == 0 else ",\n") + json.dumps({**ends, **row.as_dict()})
    yield "]}\n"


def attached(request: HttpRequest, lines: Iterable[str], name: str, content_type: str) -> StreamingHttpResponse:
    """A download that leaves as it is made; one that fails midway breaks off, so that it is never taken for whole."""
    parts: Any = _not_blocking(lines) if isinstance(request, ASGIRequest) else lines
    answer = StreamingHttpResponse(parts, content_type=content_type)
    answer["Content-Disposition"] = f'attachment; filename="{name}"'
    return answer


async def _not_blocking(lines: Iterable[str]) -> AsyncIterator[str]:
    """The lines in batches, each made in the thread of the request, where its database connection is."""
    rest = iter(lines)
    while part := await sync_to_async(lambda: "".join(islice(rest, BATCH)))():
        yield part


def _ends(row: LineageRow, direction: str) -> tuple[str, str]:
    return (row.via_name, row.name) if direction == "down" else (row.name, row.via_name)


def _line(row: LineageRow, direction: str) -> list[Any]:
    plain = row.as_dict()
    return [*_ends(row, direction), *(plain[name] for name in COLUMNS[2:])]
