"""One changed file while it is looked at: what it makes, what that leads to, and why it is what it is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from catalog.review.by_files.reach import Followed, Reach
from catalog.review.case import REMOVED, RENAMED
from catalog.review.estate.names import joined
from catalog.review.estate.reached import said
from catalog.review.types import DANGEROUS, LOOK, SAFE, VERDICTS
from catalog.review.words import counted
from catalog.sources.file_map import FileRule, Mapped, mapped

UNCHANGED: Final = "unchanged"

Reason = tuple[str, str]
"""A verdict and a sentence."""


@dataclass(frozen=True, slots=True)
class FileChange:
    """A changed file as a code host lists it (the words of GitHub's "List pull requests files"): `status` is added,
    removed, modified, renamed, copied, changed or unchanged; `previous_path` is where a renamed or copied one was."""

    path: str
    status: str
    previous_path: str = ""


@dataclass(frozen=True, slots=True)
class FileCase:
    """A changed file: what it makes, which assets it makes no more, what all of them and what the latter lead to, and
    the team's rules that it touches, in sentences."""

    change: FileChange
    now: Mapped
    gone: tuple[str, ...]
    followed: Followed
    lost: Followed
    required: tuple[str, ...] = ()

    @property
    def assets(self) -> tuple[str, ...]:
        """All that it makes or made."""
        return tuple(dict.fromkeys((*self.now.assets, *self.gone)))

    @property
    def known(self) -> bool:
        """Whether a pattern says anything of it."""
        return bool(self.assets or self.now.harmless)


def case_of(change: FileChange, file_map: Sequence[FileRule], reach: Reach) -> FileCase:
    """The case of one changed file."""
    now, gone = now_made(change, file_map), no_longer_made(change, file_map)
    followed = reach.of((*now.assets, *gone))
    return FileCase(change, now, gone, followed, reach.of(gone), reach.rules_of(followed))


def now_made(change: FileChange, file_map: Sequence[FileRule]) -> Mapped:
    """What the file makes after the change."""
    found = mapped(change.path, file_map)
    return Mapped((), found.harmless) if change.status == REMOVED else found


def no_longer_made(change: FileChange, file_map: Sequence[FileRule]) -> tuple[str, ...]:
    """The assets that a file makes no more: of a removed one all, of a renamed one those of its old path alone."""
    if change.status == REMOVED:
        return mapped(change.path, file_map).assets
    if change.status != RENAMED or not change.previous_path:
        return ()
    kept = set(mapped(change.path, file_map).assets)
    return tuple(name for name in mapped(change.previous_path, file_map).assets if name not in kept)


def reasons(case: FileCase, readers_known: bool, at: datetime) -> list[Reason]:
    """(verdict, sentence) of each reason, the gravest first; at least one."""
    return sorted(_reasons(case, readers_known, at), key=lambda one: -VERDICTS.index(one[0]))


def _reasons(case: FileCase, readers_known: bool, at: datetime) -> Iterable[Reason]:
    path, followed = case.change.path, case.followed
    if not case.known:
        yield LOOK, f"{path} belongs to no known asset: no pattern of the connection matches it."
        return
    if not case.assets:
        yield SAFE, f"The pattern {joined(case.now.harmless)} says that {path} makes no table."
        return
    if case.gone:
        yield _of_what_goes(case, readers_known, at)
    if case.now.assets:
        yield LOOK, f"{path} makes {joined(case.now.assets)}; what its change does to the rows is not known."
    if followed.unknown:
        names = joined(followed.unknown)
        yield LOOK, f"{path} is said to make {names}, which nobody here knows: no change was followed from there."
    if not followed.whole:
        yield LOOK, f"What is made of {path} is too much to be followed, so that its readers are not known."
    if followed.readers:
        yield LOOK, f"It reaches {_readers(followed, at)}."
    elif not readers_known:
        yield LOOK, f"The readers of {joined(case.assets)} are not known: nothing told of readers."
    yield from ((LOOK, sentence) for sentence in case.required)


def _of_what_goes(case: FileCase, readers_known: bool, at: datetime) -> Reason:
    one, lost = case.change, case.lost
    does = "removed" if one.status == REMOVED else f"now called {one.path}"
    old = one.path if one.status == REMOVED else one.previous_path
    what = f"{old} is {does}, and makes {joined(case.gone)} no more"
    if any(reader.certain for reader in lost.readers):
        other = "Whether another file still does is not known."
        return DANGEROUS, f"{what}. That feeds {_readers(lost, at)}. {other}"
    if lost.readers:
        return LOOK, f"{what}. That may feed {_readers(lost, at)}."
    known = "no reader of it is known" if readers_known else "its readers are not known"
    return LOOK, f"{what}; {known}."


def _readers(followed: Followed, at: datetime) -> str:
    more = len(followed.readers) - 1
    return said(followed.readers[0]) + (f", and {counted(more, 'more reader')}" if more else "")
