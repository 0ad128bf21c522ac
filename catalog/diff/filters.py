"""Conditions that were added, removed or changed: WHERE, HAVING and QUALIFY."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from sqlglot import exp

from catalog.diff.effect import ALL, LOST, NOTHING, Effect
from catalog.diff.found import Found, columns_of
from catalog.diff.row_set_types import CAN_ONLY_ADD, CAN_ONLY_DROP, SAME_ROWS, UNKNOWN, RowSetChange
from catalog.diff.same import key
from catalog.diff.selects import conjuncts, sources_of, where_of
from catalog.diff.shape import as_written, fixed_rank, partition_of, with_aliases_in_full
from catalog.diff.stages import Stage
from catalog.diff.truth import follows, implies

_WORDS = {"added": "a condition was added", "removed": "a condition was removed", "changed": "a condition was changed"}
_EFFECT = {(True, True): SAME_ROWS, (True, False): CAN_ONLY_ADD, (False, True): CAN_ONLY_DROP, (False, False): UNKNOWN}
_RANKS = (exp.Rank, exp.DenseRank)


def filter_changes(path: str, old: exp.Select, new: exp.Select, dialect: str) -> Iterator[Found]:
    """The changes of WHERE and HAVING; each removed or added condition alone, several of both as one change."""
    place = f"in {path}" if path else "in the last select"
    yield from _changes("filter", (old, where_of(old)), (new, where_of(new)), dialect, place, Stage.GROUP)
    having = conditions_of(old, "having"), conditions_of(new, "having")
    place = f"on the groups {place}"
    yield from _changes("filter", (old, having[0]), (new, having[1]), dialect, place, Stage.QUALIFY)


def qualify_changes(path: str, old: exp.Select, new: exp.Select, dialect: str) -> Iterator[Found]:
    """The changes of QUALIFY; where only the order of a row_number() changed, window_order_changed."""
    place = f"on windows {'in ' + path if path else 'in the last select'}"
    before, after = conditions_of(old, "qualify"), conditions_of(new, "qualify")
    if len(before) == len(after) == 1 and (found := _ranked(before[0], after[0], new, dialect)) is not None:
        yield found
        return
    if len(before) == len(after) == 1 and _rank_instead(before[0], after[0], dialect):
        turned = fixed_rank(before[0]) is None
        change = _change("qualify_changed", new, after, dialect, "rows of equal rank are counted another way")
        effect = Effect(CAN_ONLY_DROP if turned else CAN_ONLY_ADD)
        yield Found(_with_before(change, before, dialect), effect, Stage.LIST)
        return
    for found in _changes("qualify", (old, before), (new, after), dialect, place, Stage.LIST):
        kind = found.change.kind if not (before and after) else "qualify_changed"
        yield replace(found, change=replace(found.change, kind=kind))


def conditions_of(select: exp.Select, clause: str) -> list[exp.Expr]:
    """The conjuncts of HAVING or QUALIFY, names of the select list put in full."""
    node = select.args.get(clause)
    return conjuncts(with_aliases_in_full(node.this, select)) if node is not None else []


def _changes(
    what: str, before: tuple[exp.Select, list[exp.Expr]], after: tuple[exp.Select, list[exp.Expr]],
    dialect: str, place: str, stage: Stage,
) -> Iterator[Found]:  # fmt: skip
    (old, olds), (new, news) = before, after
    marked = any(column.args.get("join_mark") for part in (*olds, *news) for column in part.find_all(exp.Column))
    added, removed = missing(news, olds, dialect), missing(olds, news, dialect)
    if added and removed:
        effect = LOST if marked else Effect(_EFFECT[_compared(removed, added, olds, news, dialect)])
        change = _change(f"{what}_changed", new, added, dialect, f"{_WORDS['changed']} {place}")
        yield Found(_with_before(change, removed, dialect), effect, stage)
        return
    for part in added:
        effect = LOST if marked else NOTHING if _follows(part, news, dialect) else Effect(CAN_ONLY_DROP)
        yield Found(_change(f"{what}_added", new, [part], dialect, f"{_WORDS['added']} {place}"), effect, stage)
    for part in removed:
        effect = LOST if marked else NOTHING if _follows(part, olds, dialect) else Effect(CAN_ONLY_ADD)
        yield Found(_change(f"{what}_removed", old, [part], dialect, f"{_WORDS['removed']} {place}"), effect, stage)


def _compared(
    removed: list[exp.Expr], added: list[exp.Expr], olds: list[exp.Expr], news: list[exp.Expr], dialect: str
) -> tuple[bool, bool]:
    """(no row that was kept goes, no row comes): by the changed conditions alone, else by all."""
    found = implies(removed, added, dialect)
    return found if any(found) else implies(olds, news, dialect)


def _follows(part: exp.Expr, parts: list[exp.Expr], dialect: str) -> bool:
    """Whether `part` says nothing that the others do not say."""
    others = [other for other in parts if other is not part]
    return follows(part, others, dialect)


def _ranked(before: exp.Expr, after: exp.Expr, select: exp.Select, dialect: str) -> Found | None:
    """A change of `row_number() over (...) = n`, judged by how many rows each partition keeps."""
    old, new = fixed_rank(before), fixed_rank(after)
    if old is None or new is None or key(before, dialect) == key(after, dialect):
        return None
    partitions = [{key(part, dialect) for part in partition_of(window)} for window in (old[0], new[0])]
    same_ranks = old[2:] == new[2:]
    if partitions[0] == partitions[1] and same_ranks:
        change = _change("window_order_changed", select, [after], dialect, "another row of each partition is kept")
        order = new[0].args.get("order")
        columns = columns_of([order] if order is not None else [], select)
        return Found(
            replace(_with_before(change, [before], dialect), columns=columns),
            Effect(SAME_ROWS, _all(select)),
            Stage.LIST,
        )
    effect = UNKNOWN
    counted = same_ranks and (new[2] == 1 or not new[3])
    if counted and partitions[0] < partitions[1]:
        effect = CAN_ONLY_ADD
    elif counted and partitions[1] < partitions[0]:
        effect = CAN_ONLY_DROP
    elif partitions[0] == partitions[1]:
        effect = _EFFECT[implies([_as_bound(old)], [_as_bound(new)], dialect)]
    change = _change("qualify_changed", select, [after], dialect, "a condition on windows was changed")
    return Found(_with_before(change, [before], dialect), Effect(effect, _all(select)), Stage.LIST)


def _rank_instead(before: exp.Expr, after: exp.Expr, dialect: str) -> bool:
    """Whether `row_number() over (...) = 1` became `rank() over (...) = 1`, or the other way round."""
    numbered, ranked = (before, after) if fixed_rank(before) else (after, before)
    rank = fixed_rank(numbered)
    window = ranked.find(exp.Window)
    if rank is None or rank[2:] != (1, True) or window is None or not isinstance(window.this, _RANKS):
        return False
    twin = ranked.copy()
    twin.find(exp.Window).this.replace(rank[0].this.copy())  # type: ignore[union-attr]
    return key(twin, dialect) == key(numbered, dialect)


def _as_bound(ranked: tuple[exp.Window, exp.Expr, int, bool]) -> exp.Expr:
    kind = exp.EQ if ranked[3] else exp.LTE
    return kind(this=exp.column("n"), expression=exp.Literal.number(ranked[2]))


def _all(select: exp.Select) -> frozenset[str]:
    return frozenset(f"{source.alias_or_name.lower()}.{ALL}" for source in sources_of(select))


def _change(kind: str, select: exp.Select, parts: list[exp.Expr], dialect: str, note: str) -> RowSetChange:
    return RowSetChange(
        kind=kind,
        direction=UNKNOWN,
        predicate=as_written(both(parts)).sql(dialect=dialect or None),
        columns=columns_of(parts, select),
        note=note,
    )


def _with_before(change: RowSetChange, parts: list[exp.Expr], dialect: str) -> RowSetChange:
    return replace(change, before=as_written(both(parts)).sql(dialect=dialect or None))


def both(parts: list[exp.Expr]) -> exp.Expr:
    """`parts` as one condition; true where there is none."""
    return exp.and_(*parts) if parts else exp.true()


def missing(parts: list[exp.Expr], others: list[exp.Expr], dialect: str) -> list[exp.Expr]:
    """Those of `parts` that `others` lacks, counted as often as they stand there."""
    left = Counter(key(part, dialect) for part in others)
    lacking = []
    for part in parts:
        found = key(part, dialect)
        left[found] -= 1
        if left[found] < 0:
            lacking.append(part)
    return lacking
