"""Which steps a vote approves, and which all votes approve together; pure functions on positions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from foundation.errors import BadInput, Conflict

After = Mapping[int, Sequence[int]]


def chosen(after: After, steps: Sequence[int] | None) -> list[int]:
    """The positions that an approval names (None = all of them), sorted.

    `after` gives for each position of the plan the positions that it depends on. BadInput when a position is unknown,
    none is named, or a named step depends on one that is not named.
    """
    if steps is None:
        return sorted(after)
    named = set(steps)
    if not named:
        raise BadInput("An approval names at least one step; to approve none, reject the plan.")
    unknown = sorted(named - after.keys())
    if unknown:
        raise BadInput(f"The plan has no step {_list(unknown)}.")
    for position in sorted(named):
        missing = sorted(set(after[position]) - named)
        if missing:
            raise BadInput(f"Step {position} depends on step {_list(missing)}, which is not approved.")
    return sorted(named)


def together(votes: Iterable[Sequence[int]]) -> list[int]:
    """The positions that every counted vote approves (I1). Conflict when they have none in common."""
    sets = [set(vote) for vote in votes]
    common = sorted(set.intersection(*sets)) if sets else []
    if not common:
        raise Conflict("No step would be approved by everybody; agree on the steps or reject the plan.")
    return common


def _list(positions: Sequence[int]) -> str:
    return ", ".join(map(str, positions))
