"""All that is said of one grave change, behind a triangle."""

from __future__ import annotations

from collections.abc import Iterator

from catalog.lints.types import Finding
from catalog.review.comment.changes import what_changed, what_it_does
from catalog.review.comment.escape import cell, code, fence, html_code, in_html, plain
from catalog.review.comment.reader_words import (
    after_it,
    called,
    counts,
    doubts,
    operators,
    reads_next,
    through,
    to_ask,
)
from catalog.review.comment.rows import row_set_line
from catalog.review.comment.summary import REASONS_SHOWN
from catalog.review.types import Change, Check, Reached, Review
from catalog.review.words import ACTIONS, CERTAINTIES, SEVERITIES, VERDICTS, capital, counted, said, signed

_READERS = "| Reader | Reads next | Operated by | Through |\n|---|---|---|---|"


def details(change: Change, review: Review, *, opened: bool, most: int) -> str:
    """The whole `<details>` of a change as one block; of each list at most `most` entries, the others counted."""
    sign, word = signed(VERDICTS, change.verdict)
    name = html_code(change.name or change.unique_id, 100)
    did = in_html(said(ACTIONS, change.action), 40)
    was = f" from {html_code(change.was.rpartition('.')[2], 100)}" if change.was else ""
    summary = f"<summary>{sign} {word}: {name} {did}{was}, {in_html(what_it_does_shortly(change))}</summary>"
    parts = filter(None, _parts(change, review, most))
    return "\n\n".join([f"<details{' open' if opened else ''}>\n{summary}", *parts, "</details>"])


def what_it_does_shortly(change: Change) -> str:
    """The end of a change's heading."""
    return what_it_does(change).partition(":")[0]


def _parts(change: Change, review: Review, most: int) -> Iterator[str]:
    yield from _what_changed(change, most)
    said_above = set(review.reasons[:REASONS_SHOWN])
    reasons = [f"- {plain(reason, 400)}" for reason in change.reasons if reason not in said_above]
    if reasons:
        yield _list("**Why**", reasons, most, "reason")
    for number, finding in enumerate(change.findings[:most]):
        yield from _finding(finding, change.path, first=not number)
    if change.findings[most:]:
        yield f"{counted(len(change.findings) - most, 'more finding')} left out here."
    yield from _reach(change, review, most)
    yield from _checks(change, most)
    if set(change.people) != set(review.people):  # else it was said above
        yield to_ask(change.people)


def _what_changed(change: Change, most: int) -> Iterator[str]:
    head = f"**What changed** in {code(change.path, 200)}" if change.path else "**What changed**"
    lines = [f"- {row_set_line(one)}" for one in change.row_set]
    kinds = what_changed(change)
    if kinds and (not lines or set(change.kinds) - {"body", "compiled"}):
        lines.insert(0, f"- Changed: {kinds}.")
    if not lines:
        lines = [f"- {capital(plain(what_it_does(change)))}."]
    yield _list(head, lines, most, "difference")
    if change.row_set[1:]:
        yield f"All together: {plain(what_it_does(change))}."
    if change.only_columns:
        names = sorted(change.only_columns)
        shown = ", ".join(code(name, 100) for name in names[:8])
        more = f" and {len(names) - 8:,} more" if names[8:] else ""
        touched = "this column is" if len(names) == 1 else "these columns are"
        yield f"Only {touched} touched: {shown}{more}. Who reads other columns is not counted."


def _finding(finding: Finding, path: str, *, first: bool) -> Iterator[str]:
    sign, word = signed(SEVERITIES, finding.severity)
    place = f"{path}:{finding.place.line}" if path and finding.place.line else path
    where = f" in {code(place, 220)}" if place else ""
    sure = said(CERTAINTIES, finding.certainty)
    lines = [f"{sign} **{word}, {plain(sure, 40)}**{where}: {plain(finding.sentence, 600)}"]
    yield ("**Findings**\n\n" if first else "") + "\n".join([*lines, ""] if finding.evidence else lines).rstrip()
    if finding.evidence:
        told = [f"- {capital(plain(one, 400))}" for one in finding.evidence]
        yield _list("", told, 6, "fact")
    if finding.rewrite is not None:
        yield "A form that keeps the rows with NULL:" if finding.rule == "null-rows-dropped" else "A safer form:"
        yield fence(_as_diff(finding.place.text, finding.rewrite), "diff", 3_000)


def _as_diff(before: str, after: str) -> str:
    old, new = before.strip().splitlines(), after.strip().splitlines()
    return "\n".join([*(f"- {line}" for line in old), *(f"+ {line}" for line in new)])


def _reach(change: Change, review: Review, most: int) -> Iterator[str]:
    if change.readers:
        rows = [_row(reader) for reader in change.readers]
        yield f"**Readers**\n\n{_list(_READERS, rows, most, '')}"
        if change.readers[most:]:
            yield f"{counted(len(change.readers) - most, 'more reader')} left out here."
        told = [f"- {called(reader)}: {after_it(reader)}" for reader in change.readers[:most] if after_it(reader)]
        if told:
            yield "\n".join(["**What follows**", "", *told])
    elif review.readers_known:
        yield "**Readers:** none that was declared."
    if not review.readers_known:
        yield "**Readers unknown**" + (" beyond these." if change.readers else ": nothing told who reads this table.")
    downstream = counts(sorted(change.reached.items(), key=lambda item: (-item[1], item[0]))[:8])
    if downstream:
        near = ", ".join(code(name, 80) for name in change.nearest[:5])
        yield f"**Downstream:** {downstream}" + (f"; nearest {near}." if near else ".")


def _row(reader: Reached) -> str:
    cells = (called(reader) + doubts(reader), reads_next(reader), operators(reader), through(reader))
    return f"| {' | '.join(cell(one) for one in cells)} |"


def _checks(change: Change, most: int) -> Iterator[str]:
    if not change.checks:
        return
    yield _list("**Checks that would see it**", [f"- {_check(check)}" for check in change.checks], most, "check")
    written = [check.yaml.strip("\n") for check in change.checks[:most] if check.yaml.strip()]
    yield from (fence(yaml, "yaml", 2_000) for yaml in dict.fromkeys(written))


def _check(check: Check) -> str:
    if check.sentence:
        return capital(plain(check.sentence, 400))
    columns = f" on {', '.join(code(name, 100) for name in check.columns[:6])}" if check.columns else ""
    return f"{capital(plain(check.kind.replace('_', ' '), 80))} of {code(check.table, 120)}{columns}"


def _list(head: str, lines: list[str], most: int, kind: str) -> str:
    """`head`, an empty line unless it is a table's, at most `most` lines, and how many there are more."""
    begin = [] if not head else [head] if head is _READERS else [head, ""]
    more = [f"- and {counted(len(lines) - most, f'more {kind}')}"] if kind and lines[most:] else []
    return "\n".join([*begin, *lines[:most], *more])
