"""One difference between two queries, as a line of a list."""

from __future__ import annotations

from collections.abc import Iterator

from catalog.diff.row_set_types import UNKNOWN, RowSetChange
from catalog.review.comment.escape import code, plain
from catalog.review.words import DIRECTIONS, ROW_SET, capital, said

_SQL = 400


def row_set_line(change: RowSetChange) -> str:
    """What changed, the SQL of it, and what that alone does to the rows."""
    return " ".join(f"{sentence}." for sentence in _sentences(change))


def _sentences(change: RowSetChange) -> Iterator[str]:
    what = said(ROW_SET, change.kind)
    told_by_note = change.note.startswith(what)
    name = change.note.removeprefix(what).lstrip(": ") if told_by_note else ""
    yield f"{capital(plain(what))}{', ' if name else ''}{code(name, 100)}{_sql(change)}"
    yield _direction(change.direction)
    if change.note and not told_by_note:
        yield capital(plain(change.note).rstrip("."))
    if change.columns and change.kind.startswith(("filter", "join", "qualify")):
        yield f"It hangs on {_columns(change)}"
    if change.basis == "raw":
        yield "Compared as it is written, because the SQL was not compiled"


def _sql(change: RowSetChange) -> str:
    relation = f" {code(change.relation, 120)}" if change.relation else ""
    joined = f" ({plain(change.join_kind, 30)} join)" if relation and change.join_kind else ""
    now = code(change.predicate, _SQL)
    if change.before:
        now = f"{code(change.before, _SQL)} became {now}" if now else f"{code(change.before, _SQL)} before"
    found = f"{relation}{joined}" + (f"{' on' if relation else ''} {now}" if now else "")
    return f":{found}" if found else ""


def _direction(direction: str) -> str:
    return "What this does to the rows is not known" if direction == UNKNOWN else f"This {said(DIRECTIONS, direction)}"


def _columns(change: RowSetChange) -> str:
    names = [code(".".join(filter(None, pair)), 100) for pair in change.columns[:6]]
    return ", ".join(names) + (f" and {len(change.columns) - 6:,} more" if change.columns[6:] else "")
