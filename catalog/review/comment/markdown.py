"""A review as a comment on a pull request, in GitHub-flavoured Markdown: read on a phone, at night, by a stranger."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote, urlsplit

from catalog.review.comment.budget import ROOM, Sheet, size
from catalog.review.comment.changes import change_table
from catalog.review.comment.details import details
from catalog.review.comment.escape import plain
from catalog.review.comment.summary import summary
from catalog.review.moments import written
from catalog.review.types import DANGEROUS, SAFE, Review
from catalog.review.words import counted

SMALLEST = 2_000

_LONGEST_LINK = 300
_SENTENCE = 160
_OPENED = 3
_DETAILS_TAKE, _FOOT_TAKES, _FOOT_NEEDS = 0.5, 0.15, 900
_LONG, _SHORT = 12, 3
_IN_ADDRESS = "%/:?#@!$&'()*+,;=-._~[]"


def render(review: Review, *, budget: int = ROOM, link: str = "", acknowledged: str = "") -> str:
    """The comment: summary, table of changes, details of the grave ones, and what could not be told.

    At most `budget` long, in UTF-16 code units (never less than the characters that GitHub counts). What
    does not fit is left out whole, from the end, and counted; `link` (http or https, at most 300 characters) says
    where all of it is. `acknowledged` is a sentence on who took note of it and why. ValueError for a budget under
    SMALLEST.
    """
    if budget < SMALLEST:
        raise ValueError(f"a review does not fit into {budget:,} characters; at least {SMALLEST:,} are needed")
    return _Comment(review, budget, link).text(acknowledged)


class _Comment:
    def __init__(self, review: Review, room: int, link: str) -> None:
        self.review, self.sheet, self.where = review, Sheet(room), _where(link)
        self.sentence = _SENTENCE + size(self.where)  # what it takes to say that something is left out

    def text(self, acknowledged: str) -> str:
        self.summary(acknowledged)
        room = self.sheet.room
        foot = Sheet(max(int(room * _FOOT_TAKES), min(room - 2 * self.sentence, _FOOT_NEEDS)))
        self.foot(foot)
        kept = foot.used + self.sentence
        draft = Sheet(int(room * _DETAILS_TAKE))
        self.details(draft, keep=self.sentence)
        change_table(self.sheet, self.review, self.where, keep=kept + draft.used, sentence=self.sentence)
        self.details(self.sheet, keep=kept)
        self.sheet.take(foot)
        return self.sheet.text()

    def summary(self, acknowledged: str) -> None:
        """No block takes more than half of the room, so that the last one finds some as well."""
        whole = True
        for block in summary(self.review, acknowledged):
            keep = max(self.sheet.room // 2, 4 * self.sentence)
            if not self.sheet.add(block, keep=keep):
                whole = False
                self.sheet.add_lines("", block.split("\n"), keep=keep)
        if not whole:
            self.sheet.add(f"More of this summary did not fit into this comment.{self.where}")

    def details(self, sheet: Sheet, keep: int) -> None:
        grave = [change for change in self.review.changes if change.verdict != SAFE]
        for number, change in enumerate(grave):
            opened = change.verdict == DANGEROUS and number < _OPENED
            tries = (details(change, self.review, opened=opened, most=most) for most in (_LONG, _SHORT))
            if not any(sheet.add(block, keep=keep) for block in tries):
                left = counted(len(grave) - number, "more change" if number else "change")
                sheet.add(f"The details of {left} did not fit into this comment.{self.where}")
                return

    def foot(self, sheet: Sheet) -> None:
        left = 0
        for title, sentences in _lists(self.review):
            lines = (f"- {plain(sentence, 400)}" for sentence in sentences)
            left += len(sentences) - sheet.add_lines(f"### {title}\n", lines, keep=self.sentence)
        if left:
            sheet.add(f"{counted(left, 'more note')} did not fit into this comment.{self.where}")
        else:
            sheet.add(self.where.strip())


def _lists(review: Review) -> Iterator[tuple[str, tuple[str, ...]]]:
    yield "What could not be told", review.notes
    told = [review.compared] if review.compared else []
    if review.sources:
        told.append(f"Readers are known from: {', '.join(review.sources)}.")
    if review.at is not None:
        told.append(f"Reviewed at {written(review.at)}; times are counted from then.")
    yield "What this rests on", tuple(told)


def _where(link: str) -> str:
    """Where the whole review is, as a sentence to follow another; "" without a usable address."""
    try:
        address = urlsplit(link.strip())
    except ValueError:
        return ""
    said = quote(address.geturl(), safe=_IN_ADDRESS)
    usable = address.scheme in ("http", "https") and address.netloc and len(said) <= _LONGEST_LINK
    return f" [See the whole review](<{said}>)." if usable else ""
