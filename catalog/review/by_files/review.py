"""The review of a change of files that no manifest describes: each file, the assets that it makes, and who reads them.

What a change of such a file does to rows is not known, which is said. Nothing is safe because nothing was found: a file
is safe only where a pattern says that it makes no table.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import chain
from typing import Final

from catalog.diff.row_set_types import SAME_ROWS, UNKNOWN
from catalog.review.by_files.case import (
    UNCHANGED,
    FileCase,
    FileChange,
    case_of,
    no_longer_made,
    now_made,
    reasons,
)
from catalog.review.by_files.reach import Reach
from catalog.review.case import ADDED, MODIFIED, REMOVED, RENAMED
from catalog.review.estate.names import joined
from catalog.review.summing_up import first_reasons, gravest_first, require_zone, summed_up
from catalog.review.types import LOOK, SAFE, Change, Knowledge, Policy, Review, worst
from catalog.sources.file_map import FileRule

__all__ = ["FileChange", "assets_of", "review_files"]

KIND: Final = "file"
_NO_RULES: Final = Policy()
_ACTIONS: Final = {"added": ADDED, "copied": ADDED, "removed": REMOVED, "renamed": RENAMED}
_INCOMPLETE: Final = "More files are changed than the code host lists; those were not looked at."
_HARMLESS: Final = "Every changed file is declared to make no table."
_NOTHING: Final = "No file is changed."


def review_files(
    changed: Sequence[FileChange],
    file_map: Sequence[FileRule],
    knowledge: Knowledge,
    policy: Policy = _NO_RULES,
    *,
    at: datetime,
    compared: str = "",
    complete: bool = True,
) -> Review:
    """Review changed files by the assets that `file_map` says they make; `at` is now, with a time zone.

    A change of the kind `file` for each, its `unique_id` "file:" and the path. Dangerous: a file goes that makes an
    asset with readers. Safe: every file is declared to make no table. All else is to be looked at. `complete` False:
    the code host lists only some of the files. BadInput for a moment without a time zone.
    """
    require_zone(at)
    reach, known = Reach(knowledge, policy, at), bool(knowledge.sources)
    cases = [case_of(one, file_map, reach) for one in changed if one.status != UNCHANGED]
    changes = gravest_first(_change(one, known, at) for one in cases)
    strangers = [one.change.path for one in cases if not one.known]
    required = tuple(dict.fromkeys(chain.from_iterable(one.required for one in cases)))
    verdict = worst([*(one.verdict for one in changes), SAFE if complete else LOOK])
    notes = [*_notes(strangers, complete), *knowledge.problems, *reach.notes]
    return summed_up(
        changes,
        knowledge,
        verdict=verdict,
        reasons=_summary(changes, strangers, verdict),
        required=required,
        notes=notes,
        compared=compared,
        at=at,
    )


def assets_of(change: FileChange, file_map: Sequence[FileRule]) -> tuple[str, ...]:
    """The names of the assets that a file makes, or made before it went."""
    return tuple(dict.fromkeys((*now_made(change, file_map).assets, *no_longer_made(change, file_map))))


def _change(case: FileCase, readers_known: bool, at: datetime) -> Change:
    why, one, followed = reasons(case, readers_known, at), case.change, case.followed
    return Change(
        unique_id=f"{KIND}:{one.path}",
        name=one.path,
        resource_type=KIND,
        action=_ACTIONS.get(one.status, MODIFIED),
        verdict=why[0][0],
        reasons=tuple(sentence for _, sentence in why),
        path=one.path,
        was=f"{KIND}:{one.previous_path}" if one.status == RENAMED and one.previous_path else "",
        kinds=(KIND,),
        direction=SAME_ROWS if why[0][0] == SAFE else UNKNOWN,
        reached=followed.counts,
        nearest=followed.nearest,
        readers=followed.readers,
        people=followed.people,
    )


def _summary(changes: Sequence[Change], strangers: Sequence[str], verdict: str) -> Iterator[str]:
    """The gravest reason of each of the gravest files; many files that no pattern knows are one reason. Rules, which
    are told of beside these, change no verdict: their files are to be looked at anyway."""
    if verdict == SAFE:
        yield _HARMLESS if changes else _NOTHING
        return
    unknown = set(strangers)
    gravest = [one for one in changes if one.verdict == verdict and one.name not in unknown]
    yield from first_reasons(gravest, verdict, 1, "file")
    if strangers and not gravest:
        yield _unknown(strangers)
    if not gravest and not strangers:
        yield _INCOMPLETE


def _notes(strangers: Sequence[str], complete: bool) -> Iterator[str]:
    if strangers:
        yield _unknown(strangers)
    if not complete:
        yield _INCOMPLETE


def _unknown(strangers: Sequence[str]) -> str:
    files = "1 changed file belongs" if len(strangers) == 1 else f"{len(strangers):,} changed files belong"
    return f"{files} to no known asset, so that nothing is known of what the change does: {joined(strangers)}."
