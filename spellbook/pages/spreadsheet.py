"""Rows as CSV (RFC 4180), a line at a time, each cell as a spreadsheet may open it."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from foundation.unseen import visible

FORMULA = ("=", "+", "-", "@", "\t", "\r")


def lines(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    """The line of the head, then one for each row."""
    writer = csv.writer(_Line())
    yield writer.writerow(head)
    for row in rows:
        yield writer.writerow([cell(value) for value in row])


def cell(value: Any) -> str:
    """Nothing unseen, and no text of others that a spreadsheet would run as a formula; a list in one cell."""
    if value is None or isinstance(value, bool):
        return {None: "", True: "yes", False: "no"}[value]
    text = visible("; ".join(map(str, value)) if isinstance(value, (list, tuple)) else value)
    return f"'{text}" if text.startswith(FORMULA) else text


class _Line:
    """What csv writes to: it gives the line back."""

    def write(self, text: str) -> str:
        return text
