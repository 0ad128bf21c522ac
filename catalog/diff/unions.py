"""Branches of a UNION that came or went, and other operators between them."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from catalog.diff.effect import CAN_COLLAPSE, LOST, Effect
from catalog.diff.found import Found
from catalog.diff.row_set_types import CAN_MULTIPLY, CAN_ONLY_ADD, CAN_ONLY_DROP, UNKNOWN, RowSetChange
from catalog.diff.selects import Selects
from catalog.diff.stages import Stage

_KINDS = {("Union all", "Union distinct"): CAN_COLLAPSE, ("Union distinct", "Union all"): CAN_MULTIPLY}


def union_changes(path: str, before: Selects, after: Selects, dialect: str) -> Iterator[Found]:
    """The changes of the set operation at `path`, which is one in either query."""
    old, new = before.unions.get(path, ()), after.unions.get(path, ())
    come = [branch for place, branch in after.places.get(path, ()) if place not in _all(before, path)]
    gone = [branch for place, branch in before.places.get(path, ()) if place not in _all(after, path)]
    for branch in come:
        yield _branch("union_branch_added", branch, _branch_effect(set(old), set(new), CAN_ONLY_ADD), dialect)
    for branch in gone:
        yield _branch("union_branch_removed", branch, _branch_effect(set(new), set(old), CAN_ONLY_DROP), dialect)
    if not old or not new or old == new or (set(old) == set(new) and len(set(new)) == 1):
        return
    whole = len(set(old)) == len(set(new)) == 1
    direction = _KINDS.get((old[0], new[0]), UNKNOWN) if whole else UNKNOWN
    change = RowSetChange(
        kind="union_kind_changed",
        direction=UNKNOWN,
        predicate=_words(new),
        before=_words(old),
        note=f"the branches were joined by {_words(old)} and are by {_words(new)}",
    )
    yield Found(change, Effect(direction) if direction != UNKNOWN else LOST, Stage.DONE)


def _all(query: Selects, path: str) -> set[str]:
    """The paths of the branches at `path`; a query that is no set operation is its one branch."""
    return {place for place, _ in query.places.get(path, [(path, None)])}


def _branch_effect(fewer: set[str], more: set[str], direction: str) -> Effect:
    """More branches of a plain UNION can only add rows; where there was none before, only UNION ALL keeps all."""
    if (
        len(more) == 1
        and (fewer == more or (not fewer and more == {"Union all"}))
        and more <= {"Union all", "Union distinct"}
    ):
        return Effect(direction)
    return LOST


def _branch(kind: str, branch: exp.Expr, effect: Effect, dialect: str) -> Found:
    tables = dict.fromkeys(_bare(table).sql(dialect=dialect or None) for table in branch.find_all(exp.Table))
    came = "a branch came to the union" if kind.endswith("added") else "a branch of the union is gone"
    change = RowSetChange(kind=kind, direction=UNKNOWN, relation=", ".join(tables), note=came)
    return Found(change, effect, Stage.DONE)


def _bare(table: exp.Table) -> exp.Table:
    copy = table.copy()
    copy.set("alias", None)
    return copy


def _words(operators: tuple[str, ...]) -> str:
    return ", ".join(dict.fromkeys(operator.lower() for operator in operators))
