"""The table of all changes, one row each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from catalog.review.comment.budget import Sheet
from catalog.review.comment.escape import cell, code, plain
from catalog.review.comment.summary import tally
from catalog.review.types import Change, Review
from catalog.review.words import ACTIONS, CHANGES, DIRECTIONS, VERDICTS, capital, counted, said, signed

_TOGETHER = "\u00a0"  # sign and word stay on one line of a narrow cell
_HEAD = "| Verdict | Change | Rows | Readers |\n|---|---|---|---|"


def change_table(sheet: Sheet, review: Review, where: str, *, keep: int, sentence: int) -> None:
    """Put the table into `sheet`, as many rows as leave `keep` characters and a `sentence`, and say how many are left
    out and, with `where`, where they are."""
    if not review.changes:
        return
    titled = sheet.add("### Changes", keep=keep + sentence)
    shown = sheet.add_lines(_HEAD, _rows(review), keep=keep + sentence) if titled else 0
    left = review.changes[shown:]
    if left:
        of = tally(Counter(change.verdict for change in left))
        more = counted(len(left), "more change" if shown else "change")
        sheet.add(f"{more} did not fit into this table ({of}).{where}", keep=keep)


def what_it_does(change: Change) -> str:
    """What a change does to the rows, in words; where no SQL was compared, what was changed."""
    if change.direction:
        return said(DIRECTIONS, change.direction)
    if change.action in ("added", "removed"):
        return "the whole table is new" if change.action == "added" else "the whole table goes"
    if change.action == "renamed":
        return "the table has another name"
    return f"not compared; changed: {what_changed(change)}" if change.kinds else "not compared"


def what_changed(change: Change) -> str:
    """The kinds of a change, in words."""
    return ", ".join(plain(said(CHANGES, kind), 60) for kind in change.kinds[:8])


def _rows(review: Review) -> Iterator[str]:
    for change in review.changes:
        cells = (_TOGETHER.join(signed(VERDICTS, change.verdict)), _name(change), capital(plain(what_it_does(change))),
                 _readers(change, review.readers_known))  # fmt: skip
        yield f"| {' | '.join(cell(one) for one in cells)} |"


def _name(change: Change) -> str:
    action = "" if change.action == "modified" else f" ({plain(said(ACTIONS, change.action), 40)})"
    return f"{code(change.name or change.unique_id, 80)}{action}"


def _readers(change: Change, known: bool) -> str:
    if change.readers:
        return f"{len(change.readers):,}" + ("" if known else " or more")
    return "none known" if known else "unknown"
