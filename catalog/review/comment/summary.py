"""What a comment begins with: the verdict, why, who reads next, and whom to ask."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import datetime

from catalog.review.comment.escape import plain
from catalog.review.comment.reader_words import after_it, called, doubts, in_time, reads_next, to_ask
from catalog.review.moments import distance
from catalog.review.types import DANGEROUS, LOOK, SAFE, Reached, Review
from catalog.review.words import VERDICTS, counted, signed

REASONS_SHOWN = 6
_COUNTED = {DANGEROUS: "dangerous", LOOK: "to look at", SAFE: "safe"}
_UNKNOWN_READERS = (
    "**Readers unknown.** Nothing told which syncs, dashboards or files read these tables, so this review cannot say "
    "who is hurt, nor when. dbt exposures, `meta`, a declarations file or a facts file would tell."
)


def summary(review: Review, acknowledged: str = "") -> Iterator[str]:
    """The blocks of the summary, the most important first; each of at most a few thousand characters."""
    yield f"## {' '.join(signed(VERDICTS, review.verdict))}"
    yield _scale(review)
    if acknowledged:
        yield f"**Acknowledged:** {plain(acknowledged, 1_000)}"
    if review.reasons:
        yield "\n".join(_some(review.reasons, "reason"))
    if review.required:
        yield "\n".join(["**Has to be acknowledged:**", "", *_some(review.required, "rule")])
    yield from _readers(review)
    asked = to_ask(review.people)
    if asked:
        yield asked
    elif review.verdict != SAFE:
        yield "**Ask**: nobody is named as owner or approver of what this touches."


def tally(verdicts: Counter[str]) -> str:
    """1 dangerous, 2 to look at, 3 safe."""
    return ", ".join(f"{verdicts[verdict]:,} {words}" for verdict, words in _COUNTED.items() if verdicts[verdict])


def _scale(review: Review) -> str:
    if not review.changes:
        return "No change was found."
    of = tally(Counter(change.verdict for change in review.changes))
    return f"{len(review.changes):,} changes: {of}." if review.changes[1:] else "1 change."


def _some(sentences: tuple[str, ...], kind: str) -> Iterator[str]:
    yield from (f"- {plain(sentence, 500)}" for sentence in sentences[:REASONS_SHOWN])
    if sentences[REASONS_SHOWN:]:
        yield f"- and {counted(len(sentences) - REASONS_SHOWN, f'more {kind}', f'more {kind}s')}"


def _readers(review: Review) -> Iterator[str]:
    if review.readers:
        timed = [(reader.next_read, number) for number, reader in enumerate(review.readers) if reader.next_read]
        first = min(timed)[1] if timed else 0
        yield _first(review.readers[first], review.at)
        yield _others(review.readers[:first] + review.readers[first + 1 :])
    if not review.readers_known:
        yield _UNKNOWN_READERS
    elif not review.readers:
        yield "No reader that was declared is reached."


def _others(readers: tuple[Reached, ...]) -> str:
    """A reader whose time is not known may well be the first."""
    if not readers:
        return ""
    words = f"Besides it, {counted(len(readers), 'more reader is', 'more readers are')} reached"
    untimed = sum(reader.next_read is None for reader in readers)
    if not untimed:
        return f"{words}."
    whose = "all of them" if untimed == len(readers) > 1 else f"{untimed:,} of them" if len(readers) > 1 else "it"
    return f"{words}; when {whose} {'reads' if untimed == 1 else 'read'} is not known."


def _first(reader: Reached, now: datetime | None) -> str:
    words = f"**Next reader:** {called(reader)}{doubts(reader)}"
    when = reads_next(reader)
    if reader.next_read is None:
        words += f" is reached; {when}."
    else:
        after = f", {distance(reader.next_read - now)} after this review" if now is not None else ""
        words += f" reads **{when}**{after}."
    return " ".join(filter(None, [words, in_time(reader, now), after_it(reader)]))
