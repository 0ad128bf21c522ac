"""The parts of a trust score: what each weighs, and what it makes of the evidence. Pure functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from statistics import median
from typing import Any, Final

from spellbook.sentences import counted
from spellbook.trust_evidence import Evidence

FAILED_CHECK, OPEN_INCIDENT, INCIDENT_ABOVE = 60, 40, 70
RHYTHM: Final = 4
"""Builds from which on the usual time between two is known."""


@dataclass(frozen=True)
class Kind:
    """What a part is called, how much it weighs of 100, and what it measures."""

    label: str
    weight: int
    measures: str


@dataclass(frozen=True)
class Part:
    """One part of a score; `score` is None where nothing is known, `known` the share of its evidence in percent."""

    key: str
    score: int | None
    known: int
    evidence: str

    @property
    def label(self) -> str:
        return PARTS[self.key].label

    @property
    def weight(self) -> int:
        return PARTS[self.key].weight

    def as_dict(self) -> dict[str, Any]:
        return {
            "part": self.key,
            "label": self.label,
            "weight": self.weight,
            "score": self.score,
            "known": self.known,
            "evidence": self.evidence,
        }


@dataclass(frozen=True)
class Cap:
    """The score is at most `limit` while this is so."""

    limit: int
    reason: str


PARTS: Mapping[str, Kind] = {
    "checks": Kind("Checks", 30, "the share of its checks that passed when they were last run, at most 30 days ago"),
    "values": Kind("Values", 20, "the share of its metrics whose newest value is inside its band"),
    "builds": Kind("Builds", 15, "whether its last build went well, and came when builds of it usually come"),
    "incidents": Kind("Incidents", 15, "whether an incident is open on it (0) or above it (50)"),
    "people": Kind("People", 10, "whether somebody is named as its owner (70) and on call for it (30)"),
    "words": Kind("Documentation", 10, "a definition that its domain approved (50; a description alone 30), and the "
                  "share of its columns that are described (50)"),
}  # fmt: skip


def parts(evidence: Evidence, at: datetime) -> list[Part]:
    """Every part, in the order of PARTS."""
    made: Sequence[Callable[[], tuple[int | None, int, str]]] = (
        lambda: checks(evidence),
        lambda: values(evidence),
        lambda: builds(evidence, at),
        lambda: incidents(evidence),
        lambda: people(evidence),
        lambda: words(evidence),
    )
    return [Part(key, *make()) for key, make in zip(PARTS, made, strict=True)]


def caps(evidence: Evidence) -> list[Cap]:
    """What holds the score down however good the rest is."""
    found = []
    if evidence.incidents:
        found.append(Cap(OPEN_INCIDENT, f"{_and(evidence.incidents)} is open on it"))
    if evidence.above:
        found.append(Cap(INCIDENT_ABOVE, f"{_and(evidence.above)} is open on something that feeds it"))
    failed = evidence.checks.count("failed")
    if failed:
        found.append(Cap(FAILED_CHECK, f"{counted(failed, 'check')} failed"))
    return found


def checks(evidence: Evidence) -> tuple[int | None, int, str]:
    total, passed = len(evidence.checks), evidence.checks.count("passed")
    said = passed + evidence.checks.count("failed")
    measured = _measured(evidence.measured)
    if not total:
        return None, 0, f"No check of it is known{measured}."
    rest = f"; {counted(total - said, 'check')} of {total} said nothing in 30 days" if said < total else ""
    return (
        _share(passed, said),
        _share(said, total) or 0,
        f"{passed} of {counted(said, 'check')} passed{rest}{measured}.",
    )


def values(evidence: Evidence) -> tuple[int | None, int, str]:
    total, held = len(evidence.verdicts), evidence.verdicts.count("held")
    said = held + evidence.verdicts.count("breach")
    if not total:
        return None, 0, "No metric of it is kept."
    rest = f"; {total - said} of {total} could not be judged" if said < total else ""
    return _share(held, said), _share(said, total) or 0, f"{held} of {counted(said, 'metric')} inside the band{rest}."


def builds(evidence: Evidence, at: datetime) -> tuple[int | None, int, str]:
    if not evidence.builds:
        return None, 0, "No build of it is known."
    went, newest = evidence.builds[0]
    told = {True: "The last build went well", False: "The last build did not go well", None: "How it went is unknown"}
    halves = [] if went is None else [100 * went]
    gap = _usual_gap(evidence.builds)
    if gap is None:
        rhythm = f"when it usually comes is not known from {counted(len(evidence.builds), 'build')}"
    else:
        halves.append(_in_time(at - newest, gap))
        late = "in its usual rhythm" if halves[-1] == 100 else "later than usual"
        rhythm = f"it came {_span(at - newest)} ago, usually every {_span(gap)}: {late}"
    return (round(sum(halves) / len(halves)) if halves else None), 50 * len(halves), f"{told[went]}; {rhythm}."


def incidents(evidence: Evidence) -> tuple[int | None, int, str]:
    if evidence.incidents:
        return 0, 100, f"{_and(evidence.incidents)} is open on it."
    if evidence.above:
        return 50, 100, f"{_and(evidence.above)} is open on something that feeds it."
    if any(evidence.checks) or any(evidence.verdicts):
        return 100, 100, "None is open on it or above it."
    return None, 0, "None is open, and nothing looks at it, so that says nothing."


def people(evidence: Evidence) -> tuple[int | None, int, str]:
    owner, on_call = "owner" in evidence.roles, "on_call" in evidence.roles
    told = {
        (True, True): "An owner is named, and somebody is on call.",
        (True, False): "An owner is named; nobody is on call.",
        (False, True): "Somebody is on call; no owner is named.",
        (False, False): "Nobody is named.",
    }
    return 70 * owner + 30 * on_call, 100, told[owner, on_call]


def words(evidence: Evidence) -> tuple[int | None, int, str]:
    meaning = 50 if evidence.defined else 30 if evidence.described else 0
    approved = "An approved definition" if evidence.defined else "A description, no approved definition"
    text = approved if meaning else "Neither definition nor description"
    total, described = len(evidence.columns), sum(evidence.columns)
    if not total:
        return 2 * meaning, 50, f"{text}; its columns are not known."
    return (
        meaning + (_share(described, total) or 0) // 2,
        100,
        f"{text}; {described} of {counted(total, 'column')} described.",
    )


def _measured(number: int) -> str:
    """Of the checks that are judged by a band, and so as values."""
    verb = "counts" if number == 1 else "count"
    return f"; {counted(number, 'check')} of what was measured {verb} under Values" if number else ""


def _share(part: int, whole: int) -> int | None:
    return round(100 * part / whole) if whole else None


def _usual_gap(found: Sequence[tuple[bool | None, datetime]]) -> timedelta | None:
    moments = [moment for _, moment in found]
    gaps = [(later - earlier).total_seconds() for later, earlier in pairwise(moments)]  # newest first
    usual = median(gaps) if len(moments) >= RHYTHM else 0.0
    return timedelta(seconds=usual) if usual > 0 else None


def _in_time(age: timedelta, gap: timedelta) -> int:
    """100 up to one and a half usual gaps, 0 from three on, straight between."""
    return round(min(1.0, max(0.0, (3 - age / gap) / 1.5)) * 100)


def _and(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]} (and {len(names) - 1} more)"


def _span(length: timedelta) -> str:
    minutes = max(0, int(length.total_seconds() // 60))
    if minutes < 120:
        return f"{minutes} min"
    return f"{minutes // 60} h" if minutes < 48 * 60 else f"{minutes // 1440} days"
