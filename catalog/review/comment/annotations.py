"""The lines of a pull request that a review has something to say of, as GitHub's check runs take them.

Source: "Create a check run" of GitHub's REST API, `output.annotations`: path, start_line, annotation_level, title (at
most 255 characters), message (at most 64 KB).
"""

from __future__ import annotations

from collections.abc import Iterator

from catalog.code_hosts.github.limits import TITLE
from catalog.code_hosts.github.types import Annotation
from catalog.lints.types import Finding
from catalog.review.comment.changes import what_it_does
from catalog.review.comment.escape import on_one_line, shortened
from catalog.review.types import DANGEROUS, LOOK, SAFE, Change, Review
from catalog.review.words import VERDICTS, signed

FAILURE, WARNING, NOTICE = "failure", "warning", "notice"
MOST = 200
"""As many as a person may read; GitHub takes 50 a request."""

_LEVELS = {DANGEROUS: FAILURE, LOOK: WARNING}
_ORDER = (FAILURE, WARNING, NOTICE)
_MESSAGE, _SENTENCE = 4_000, 500


def line_annotations(review: Review, *, folder: str = "", most: int = MOST) -> tuple[Annotation, ...]:
    """At most `most`, the gravest first: one for each finding in a file, and one at line 1 for each change that is not
    safe and has none.

    `folder` is where the project stands in the repository. Changes without a file have none. No finding is graver on
    its line than the verdict of its change, so that lines and verdict do not contradict each other.
    """
    all_of_them = (one for change in review.changes if change.path for one in _of(change, _path(folder, change.path)))
    return tuple(sorted(all_of_them, key=lambda one: _ORDER.index(one.level))[:most])


def _of(change: Change, path: str) -> Iterator[Annotation]:
    told = False
    for finding in change.findings:
        told = True
        yield Annotation(path, max(finding.place.line or 1, 1), _level(change, finding), *_finding(change, finding))
    if not told and change.verdict != SAFE:
        words = " ".join(change.reasons) or f"{what_it_does(change)}."
        yield Annotation(path, 1, _LEVELS.get(change.verdict, NOTICE), _title(change), _said(words, _MESSAGE))


def _level(change: Change, finding: Finding) -> str:
    levels = _LEVELS.get(finding.severity, NOTICE), _LEVELS.get(change.verdict, NOTICE)
    return max(levels, key=_ORDER.index)


def _finding(change: Change, finding: Finding) -> tuple[str, str]:
    lines = [finding.sentence, *finding.evidence[:6]]
    if finding.rewrite is not None:
        lines.append(f"Instead: {finding.rewrite}")
    return _title(change), shortened("\n".join(_said(line, _SENTENCE) for line in lines), _MESSAGE)


def _title(change: Change) -> str:
    word = signed(VERDICTS, change.verdict)[1]
    return _said(f"{word}: {shortened(change.name or change.unique_id, 100)} {what_it_does(change)}", TITLE)


def _said(text: str, limit: int) -> str:
    return shortened(on_one_line(text[:20_000]), limit)


def _path(folder: str, path: str) -> str:
    return "/".join(part.strip("/") for part in (folder, path) if part.strip("/"))
