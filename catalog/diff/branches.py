"""Which branch of one set operation is which of another, and the names that a query gives its columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp

from catalog.diff.same import folded, key

MOST_STEPS = 50
"""So many queries are followed to tell the names behind `select *`."""
_UNIONS = frozenset({"Union all", "Union distinct"})


def flat(query: exp.SetOperation) -> tuple[list[exp.Expr], list[str], list[exp.SetOperation]]:
    """A chain of set operations: branches from left to right, the operators between them, its nodes from outside."""
    branches: list[exp.Expr] = []
    operators: list[str] = []
    nodes: list[exp.SetOperation] = []
    current: exp.Expr = query
    while isinstance(current, exp.SetOperation) and (current is query or not current.args.get("with_")):
        branches.append(current.expression)
        operators.append(type(current).__name__ + (" distinct" if current.args.get("distinct") else " all"))
        nodes.append(current)
        current = current.this
    branches.append(current)
    return branches[::-1], operators[::-1], nodes


def paired(
    branches: Sequence[exp.Expr], operators: Sequence[str], others: Sequence[exp.Expr], their_operators: Sequence[str]
) -> dict[int, int]:
    """Which of `branches` is which of `others`, by place; a query that is no set operation is one branch.

    Only the branches of a plain UNION may change places, and only where the first ones, which name the columns of the
    whole, name them alike.
    """
    plain = all(len(set(each)) <= 1 and set(each) <= _UNIONS for each in (operators, their_operators))
    if plain and _named_alike(branches[0], others[0]):
        return _matched(branches, others)
    return {place: place for place in range(min(len(branches), len(others)))}


def output_names(query: exp.Expr | None, steps: int = MOST_STEPS) -> list[str] | None:
    """The names of the columns that `query` gives, by the dialect's rules on case; None where they are not told."""
    if steps == 0 or query is None:
        return None
    if isinstance(query, exp.SetOperation):
        return None if query.args.get("by_name") else output_names(query.this, steps - 1)
    if isinstance(query, exp.Subquery):
        return output_names(query.this, steps - 1)
    if not isinstance(query, exp.Select):
        return None
    names: list[str] = []
    for item in query.expressions:
        found = _behind_star(query, item, steps - 1) if item.is_star else _name(item)
        if found is None:
            return None
        names += found
    return names


def _name(item: exp.Expr) -> list[str] | None:
    name = item.args.get("alias") if isinstance(item, exp.Alias) else item.this
    return [folded(name)] if isinstance(item, exp.Alias | exp.Column) and isinstance(name, exp.Identifier) else None


def _behind_star(select: exp.Select, item: exp.Expr, steps: int) -> list[str] | None:
    """The names for a bare `*` of a SELECT that reads one CTE or derived table, and nothing else."""
    from_ = select.args.get("from_")
    bare = isinstance(item, exp.Star) and not any(item.args.values())
    if from_ is None or not bare or any(select.args.get(name) for name in ("joins", "laterals", "pivots")):
        return None
    source = from_.this
    if any(source.args.get(name) for name in ("pivots", "joins", "laterals")) or source.alias_column_names:
        return None
    if isinstance(source, exp.Subquery):
        return output_names(source.this, steps)
    ctes = list(_ctes_named(source)) if isinstance(source, exp.Table) and not source.db else []
    if not ctes:
        return None
    columns = ctes[0].args["alias"].columns
    return [folded(column) for column in columns] if columns else output_names(ctes[0].this, steps)


def _ctes_named(table: exp.Table) -> Iterator[exp.CTE]:
    """The CTEs that `table` may mean, the nearest first."""
    inside: exp.Expr = table
    above = {id(table)}
    while inside.parent is not None:
        inside = inside.parent
        above.add(id(inside))
        with_ = inside.args.get("with_")
        for cte in with_.expressions if with_ is not None else ():
            if id(cte) not in above and cte.alias.lower() == table.name.lower():
                yield cte


def _named_alike(first: exp.Expr, other: exp.Expr) -> bool:
    names = output_names(first)
    return (names is not None and names == output_names(other)) or key(first, "") == key(other, "")


def _matched(branches: Sequence[exp.Expr], others: Sequence[exp.Expr]) -> dict[int, int]:
    """Equal ones first, then those that read the same, then by place."""
    pairs: dict[int, int] = {}
    for like in (_text, _tables):
        for place, branch in enumerate(branches):
            if place in pairs:
                continue
            mine = like(branch)
            free = [number for number in range(len(others)) if number not in pairs.values()]
            found = next((number for number in free if like(others[number]) == mine), None)
            if found is not None:
                pairs[place] = found
    left = [place for place in range(len(branches)) if place not in pairs]
    free = [number for number in range(len(others)) if number not in pairs.values()]
    if len(branches) == len(others) or (1 in (len(branches), len(others)) and not pairs):
        pairs |= dict(zip(left, free, strict=False))
    return pairs


def _text(branch: exp.Expr) -> str:
    return key(branch, "")


def _tables(branch: exp.Expr) -> str:
    return " ".join(table.sql().lower() for table in branch.find_all(exp.Table))
