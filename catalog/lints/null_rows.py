"""Conditions that read as "all but these" and silently drop the rows with NULL as well.

`not x`, `x <> 'a'`, `x not in (...)`, `x = false` and the like are NULL where x is, and a row stays only where the
condition is TRUE. Each is crossed with what is known of its columns. Not looked at: conditions inside CASE or FILTER,
and ON of left joins (they drop matches, no rows). `x is false` says what it
wants and is not found.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sqlglot import exp
from sqlglot.errors import SqlglotError

from catalog.diff.null_safe import exclusions, null_safe_form
from catalog.diff.row_set_types import RowSetChange
from catalog.diff.same import key
from catalog.diff.selects import conjuncts
from catalog.lints.known import Nullness, nullness
from catalog.lints.outer_join import turned_inner
from catalog.lints.query import Query, brought, read, short, subtotals
from catalog.lints.three_valued import sets_of_nulls
from catalog.lints.types import CERTAIN, DANGEROUS, INFO, LOOK, POSSIBLE, Facts, Finding, ModelState, Reader

RULE = "null-rows-dropped"
_SUBTOTALS = Nullness("unknown", "the rows of subtotals hold NULL in what they are not grouped by")


def check(before: ModelState | None, after: ModelState, facts: Facts, readers: tuple[Reader, ...]) -> Iterator[Finding]:
    """Conditions that came or changed and that lose rows to NULL.

    Dangerous and certain where NULLs were measured in the column; possible where nothing is known; for information
    where none were measured; not found where a not_null test or the catalog rules NULL out. The null-safe form is
    offered for a plain column compared with constants, nowhere else.
    """
    yield from brought(before, after, lambda query: _of_query(query, facts))


def of_changes(model: ModelState, changes: Iterable[RowSetChange], facts: Facts) -> Iterator[Finding]:
    """The findings in the conditions of `changes` alone: added and changed filters, and joins, of `model`'s SQL.

    A removed condition drops nothing and is passed over. Each is sought at its scope in the query.
    """
    query = read(model)
    for change in changes if query is not None else ():
        select = query.selects.by_path.get(change.scope) if query is not None else None
        if query is None or select is None or not change.predicate or change.kind.endswith("_removed"):
            continue
        try:
            wanted = {
                key(part, query.dialect) for part in conjuncts(exp.condition(change.predicate, dialect=query.dialect))
            }
        except (SqlglotError, ValueError, RecursionError):  # names of USING, or SQL that only its writer reads
            continue
        parts = [part for part in query.filters(select) if key(part, query.dialect) in wanted]
        yield from _of_parts(query, select, parts, facts)


def _of_query(query: Query, facts: Facts) -> Iterator[Finding]:
    for _, select in query.all:
        yield from _of_parts(query, select, query.filters(select), facts)


def _of_parts(query: Query, select: exp.Select, parts: list[exp.Expr], facts: Facts) -> Iterator[Finding]:
    trusted = query.trusting(lambda column: nullness(query, column, facts).verdict == "no")
    elsewhere = {id(part) for part, _ in turned_inner(query, select)}
    for part in parts:
        if id(part) not in elsewhere and exclusions(part) and not _feeds_in(query, select, part):
            yield from _of_part(trusted, select, part, facts)


def _of_part(query: Query, select: exp.Select, part: exp.Expr, facts: Facts) -> Iterator[Finding]:
    own = _columns(query, part)
    nulls = {name: _SUBTOTALS if subtotals(select) else nullness(query, column, facts) for name, column in own.items()}
    sets = [some for some in _losing(query, select, part) if all(nulls[name].verdict != "no" for name in some)]
    if not sets:
        return
    blamed = sorted({name for some in sets for name in some}, key=list(own).index)
    told = [nulls[name] for name in blamed] + (_of_inside(query, part, facts) if frozenset() in sets else [])
    always = [some for some in sets if len(some) == 1 and "T" not in query.logic(some).of(part)]
    certain = any(nulls[name].verdict == "yes" for some in always for name in some)
    unclear = {"yes", "unknown"} & {one.verdict for one in told}
    text = query.sql(part)
    yield Finding(
        RULE,
        DANGEROUS if certain else LOOK if unclear else INFO,
        query.place(part),
        _sentence(text, [query.sql(own[name]) for name in blamed], certain, bool(_given_by_subqueries(part))),
        tuple(dict.fromkeys(one.sentence for one in told)),
        null_safe_form(text, query.dialect),
        CERTAIN if certain else POSSIBLE,
    )


def _sentence(text: str, columns: list[str], certain: bool, in_subquery: bool) -> str:
    where = f"where {' or '.join(columns)} is NULL" if columns else "for some rows"
    sentence = f"({short(text)}) {'is' if certain else 'may be'} NULL, not TRUE, {where}, and drops such rows silently."
    return sentence + (" One NULL in what the subquery gives drops every row." if in_subquery else "")


def _losing(query: Query, select: exp.Select, part: exp.Expr) -> Iterator[frozenset[str]]:
    """The smallest sets of columns whose NULLs may make `part` NULL; the empty one where it may be so without any.

    A set does not count where another condition of the SELECT, that drops nothing silently itself, is never TRUE for
    it: the row is gone by that one.
    """
    asked = [] if subtotals(select) else query.always_asked(select)
    others = [other for other in asked if other is not part]
    own, excluding = list(_columns(query, part)), exclusions(part)
    found: list[frozenset[str]] = []
    for some in sets_of_nulls(own):
        logic = query.logic(some)
        lost = "N" in logic.of(part) and any("N" in logic.of(one) for one in excluding)
        small = any(less and less <= some for less in found)
        if not lost or small:
            continue
        about = [one for one in others if not query.names(one).keys().isdisjoint(some)]
        open_about = [one for one in about if not exclusions(one) or "N" not in logic.of(one)]
        if not query.never_true(open_about, some, own):
            found.append(some)
            yield some


def _columns(query: Query, part: exp.Expr) -> dict[str, exp.Column]:
    """The columns of `part` outside of its subqueries, by name."""
    around = part.find_ancestor(exp.Select)
    found = [column for column in part.find_all(exp.Column) if column.find_ancestor(exp.Select) is around]
    return {query.name(column): column for column in found}


def _given_by_subqueries(part: exp.Expr) -> list[exp.Column]:
    """The columns that subqueries of IN, ALL and ANY give out."""
    queries = [one.args.get("query") for one in part.find_all(exp.In)]
    queries += [one.this for one in part.find_all(exp.All, exp.Any)]
    selects = [one.unnest() if isinstance(one, exp.Subquery) else one for one in queries if one is not None]
    items = [item.unalias() for one in selects if isinstance(one, exp.Select) for item in one.expressions]
    return [item for item in items if isinstance(item, exp.Column) and not item.is_star]


def _feeds_in(query: Query, select: exp.Select, part: exp.Expr) -> bool:
    """Whether `part` can only drop NULLs from a list in which IN looks, where no value ever equals them."""
    within = select.parent
    is_list = isinstance(within, exp.In) or (isinstance(within, exp.Subquery) and isinstance(within.parent, exp.In))
    given = [item.unalias() for item in select.expressions]
    return is_list and {query.name(one) for one in given if isinstance(one, exp.Column)} >= _columns(query, part).keys()


def _of_inside(query: Query, part: exp.Expr, facts: Facts) -> list[Nullness]:
    """What is known of the subqueries in `part`, or, where there are none, that its functions are not."""
    given = [nullness(query, column, facts) for column in _given_by_subqueries(part)]
    text = query.sql(part)
    return [one for one in given if one.verdict != "no"] or [
        Nullness("unknown", f"not known whether ({short(text)}) is NULL for values that are not NULL themselves")
    ]
