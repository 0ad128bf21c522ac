"""From fewer rows in one SELECT to fewer rows in the whole query: allowed only where every step between is monotone."""

from __future__ import annotations

from sqlglot import exp

from catalog.diff.joins import join_kind
from catalog.diff.row_set_types import CAN_MULTIPLY, CAN_ONLY_ADD, CAN_ONLY_DROP, SAME_ROWS, UNKNOWN
from catalog.diff.selects import Selects, sources_of

_MULTIPLIES_ROWS = (
    exp.Explode,
    exp.Posexplode,
    exp.Unnest,
    exp.Inline,
    exp.UDTF,
    exp.GenerateSeries,
    exp.ExplodingGenerateSeries,
)


def of_fewer_rows(query: Selects, path: str) -> str:
    """What it does to the rows of `query` when the SELECT at `path` reads fewer rows (a filter was added)."""
    select = query.by_path[path]
    if query.recursive or _not_monotone_inside(select):
        return UNKNOWN
    if _is_one_row(select):
        return SAME_ROWS if path == "" and not any(select.find_all(*_MULTIPLIES_ROWS)) else UNKNOWN
    return CAN_ONLY_DROP if _monotone_above(query, path, counted=_depends_on_count(select)) else UNKNOWN


def of_join(local: str, query: Selects, path: str) -> str:
    """What a change of a join with the local effect `local` does to the rows of `query`."""
    if local == UNKNOWN:
        return UNKNOWN
    if local == CAN_MULTIPLY:
        select = query.by_path[path]
        plain = not (
            _counts_rows(select)
            or _not_monotone_inside(select)
            or select.args.get("distinct")
            or select.args.get("limit")
        )
        return CAN_MULTIPLY if plain and path == "" and not query.unions else UNKNOWN
    if _outer_joins(query.by_path[path]) > {"left"}:
        return UNKNOWN  # a later right or full join gives back, as unmatched, rows that an earlier one drops
    fewer = of_fewer_rows(query, path)
    return fewer if local == CAN_ONLY_DROP else reverse(fewer)


def reverse(effect: str) -> str:
    """The direction of the opposite change."""
    return {CAN_ONLY_DROP: CAN_ONLY_ADD, CAN_ONLY_ADD: CAN_ONLY_DROP}.get(effect, effect)


def one_row_out_for_each_in(old: exp.Select, new: exp.Select) -> bool:
    """Whether another select list or order leaves the rows alone: nothing in either folds or multiplies them."""
    return not any(
        any(select.args.get(name) for name in ("group", "distinct", "limit", "qualify"))
        or any(select.find_all(*_MULTIPLIES_ROWS, exp.AggFunc, exp.Anonymous, exp.AnonymousAggFunc))
        for select in (old, new)
    )  # fmt: skip


def read_only_by(query: Selects, path: str, readers: set[str]) -> bool:
    """Whether the part at `path` is read, and by nothing but parts in `readers`."""
    uses = list(_uses(query, path)) if path else []
    return bool(uses) and all(use is not None and use[0] in readers for use in uses)


def _not_monotone_inside(select: exp.Select) -> bool:
    """Clauses under which fewer rows read may mean more rows written."""
    laterals = select.args.get("laterals") or select.args.get("pivots")
    sampled = any(isinstance(source, exp.Table) and source.args.get("sample") for source in sources_of(select))
    odd = (
        select.args.get("having") or select.args.get("qualify") or select.args.get("match") or select.args.get("sample")
    )
    return bool(odd or laterals or sampled or select.args.get("offset") or select.args.get("connect"))


def _counts_rows_by_group(select: exp.Select) -> bool:
    return bool(select.args.get("group"))


def _counts_rows(select: exp.Select) -> bool:
    """Whether values of the select list depend on how many rows there are: aggregates and window functions."""
    listed = [item for item in select.expressions if isinstance(item, exp.Expr)]
    depends = any(item.find(exp.AggFunc, exp.Window, exp.AnonymousAggFunc, exp.Anonymous) for item in listed)
    return _counts_rows_by_group(select) or depends


def _is_one_row(select: exp.Select) -> bool:
    """An aggregate without GROUP BY: one row, whatever it reads."""
    if _counts_rows_by_group(select):
        return False
    return any(_folds(found, select) for item in select.expressions for found in item.find_all(exp.AggFunc))


def _folds(aggregate: exp.Expr, select: exp.Select) -> bool:
    """Whether `aggregate` folds the rows of `select` itself: no window function, and not inside a subquery."""
    parent = aggregate.parent
    while parent is not None and parent is not select:
        if isinstance(parent, exp.Window | exp.Query):
            return False
        parent = parent.parent
    return True


def _outer_joins(select: exp.Select) -> set[str]:
    kinds = {join_kind(join) for join in select.args.get("joins") or ()}
    return {"left"} | (kinds & {"right", "full"})


def _monotone_above(query: Selects, path: str, *, counted: bool) -> bool:
    """Whether every use of the SELECT at `path`, up to the last one, keeps "fewer rows in, fewer rows out".

    `counted` says that its values depend on the number of rows, so that a condition above may turn the sense round.
    """
    branch_of = path.rpartition("[")[0] if path.endswith("]") else None
    if branch_of is not None:
        if any(not operator.startswith(("Union", "Intersect")) for operator in query.unions.get(branch_of, ("?",))):
            return False
        return _monotone_above(query, branch_of, counted=counted)
    if path == "":
        return True
    uses = list(_uses(query, path))
    if not uses or None in uses:
        return False
    return all(_monotone_use(query, use, counted) for use in uses if use is not None)


def _monotone_use(query: Selects, use: tuple[str, exp.Expr], counted: bool) -> bool:
    path, source = use
    select = query.by_path[path]
    if _not_monotone_inside(select) or _is_one_row(select):
        return False
    if isinstance(source.parent, exp.Join) and join_kind(source.parent) not in ("inner", "cross"):
        return False
    if any(
        join_kind(join) not in ("inner", "left", "cross", "semi", "anti") for join in select.args.get("joins") or ()
    ):
        return False
    conditioned = select.args.get("where") or select.args.get("joins") or select.args.get("limit")
    if counted and conditioned:
        return False
    return _monotone_above(query, path, counted=counted or _depends_on_count(select))


def _depends_on_count(select: exp.Select) -> bool:
    """Whether fewer rows read can bring other rows out: values that count rows, a limit, a choice of one row each."""
    distinct = select.args.get("distinct")
    return _counts_rows(select) or bool(select.args.get("limit")) or bool(distinct and distinct.args.get("on"))


def _uses(query: Selects, path: str) -> list[tuple[str, exp.Expr] | None]:
    """(path, source) of each place that reads the query at `path`; None for a place inside an expression."""
    outer, _, name = path.rpartition("/")
    derived = query.by_path.get(outer)
    if derived is not None:
        for source in sources_of(derived):
            if isinstance(source, exp.Subquery) and source.alias.lower() == name:
                return [(outer, source)]
    found: list[tuple[str, exp.Expr] | None] = []
    for table in query.tree.find_all(exp.Table):
        if table.name.lower() == name.lower() and not table.db:
            reader = table.find_ancestor(exp.Select)
            place = query.path_of(reader)
            direct = reader is not None and place is not None and any(source is table for source in sources_of(reader))
            found.append((place, table) if direct and place is not None else None)
    return found
