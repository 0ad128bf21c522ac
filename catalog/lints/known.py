"""What the facts say of a column in a condition: traced down through CTEs to the relation that holds it."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from catalog.diff.joins import join_kind
from catalog.diff.resolve import visible_ctes
from catalog.diff.selects import sources_of
from catalog.lints.query import Query, subtotals, table_of
from catalog.lints.types import ColumnFact, Facts

MAX_STEPS = 100


@dataclass(frozen=True, slots=True)
class Held:
    """Where a column comes from. `relation` is "" where that cannot be told.

    `unmatched` is the relation whose outer join leaves the column NULL for rows without a match, "" for none.
    `never_null` is true where the query itself rules NULL out on the way.
    """

    relation: str = ""
    column: str = ""
    unmatched: str = ""
    never_null: bool = False


@dataclass(frozen=True, slots=True)
class Nullness:
    """What is known of NULLs in a column: yes, no, measured_none or unknown, and the sentence that says so."""

    verdict: str
    sentence: str


def held(query: Query, column: exp.Column, select: exp.Select | None = None) -> Held:
    """Follow `column` of `select` (the one around it) down to its relation."""
    reader = select or column.find_ancestor(exp.Select)
    name, table = column.name, table_of(column, reader)
    unmatched = ""
    for _ in range(MAX_STEPS):
        sources = [one for one in sources_of(reader) if one.alias_or_name.lower() == table.lower()] if reader else []
        if reader is None or not table or len(sources) != 1:
            return Held(unmatched=unmatched)
        source = sources[0]
        unmatched = unmatched or (table if source_may_be_unmatched(reader, source) else "")
        below = behind(query, source, reader)
        if below is None:
            relation = _relation(query, source)
            return Held(relation, name if relation else "", unmatched)
        if not isinstance(below, exp.Select):
            return Held(unmatched=unmatched)
        passed = _passed(query, below, name)
        if passed is None or isinstance(passed, Held):
            return Held(never_null=bool(passed and passed.never_null and not unmatched), unmatched=unmatched)
        rejects = query.never_true(query.always_asked(below), frozenset({query.name(passed)}))
        if rejects and not unmatched:
            return Held(never_null=True)
        reader, table, name = below, table_of(passed, below), passed.name
    return Held(unmatched=unmatched)


def nullness(query: Query, column: exp.Column, facts: Facts) -> Nullness:
    """What is known of NULLs in `column`, with the source of each fact."""
    place, said = held(query, column), query.sql(column)
    if place.never_null:
        return Nullness("no", f"the query itself rules out NULL in {said}")
    if place.unmatched:
        return Nullness(
            "unknown",
            f"{said} is NULL for each row without a match in {place.unmatched}; not known whether there are any",
        )
    if not place.relation:
        return Nullness("unknown", f"not known whether {said} holds NULL: where it comes from cannot be told")
    return of_fact(facts.column(place.relation, place.column), f"{unquoted(place.relation)}.{place.column}")


def type_of(query: Query, column: exp.Column, facts: Facts) -> str:
    """The type of `column` as the facts tell it, in lower case; "" where they do not."""
    place = held(query, column)
    return facts.column(place.relation, place.column).type.lower() if place.relation else ""


def source_may_be_unmatched(select: exp.Select, source: exp.Expr) -> bool:
    """Whether an outer join of `select` leaves the columns of `source` NULL for rows without a match."""
    joins = select.args.get("joins") or []
    place = next((number for number, join in enumerate(joins) if join.this is source), -1)
    own = join_kind(joins[place]) if place >= 0 else ""
    later = [join_kind(join) for join in joins[place + 1 :]]
    return own in ("left", "full") or any(kind in ("right", "full") for kind in later)


def behind(query: Query, source: exp.Expr, reader: exp.Select) -> exp.Expr | None:
    """The query that `source` stands for: a derived table, or the CTE it names; None for a relation.

    Where its columns get other names by a list, that list: what is behind a name is not told then.
    """
    if isinstance(source, exp.Subquery | exp.Table) and source.alias_column_names:
        return source.args["alias"]  # type: ignore[no-any-return]
    if isinstance(source, exp.Subquery):
        return source.this if isinstance(source.this, exp.Expr) else None
    if not isinstance(source, exp.Table) or source.db:
        return None
    matches = [cte for cte in visible_ctes(query.selects, reader) if cte.alias.lower() == source.name.lower()]
    renamed = bool(matches) and bool(matches[-1].args["alias"].columns)
    found = (matches[-1].args["alias"] if renamed else matches[-1].this) if matches else None
    return found if isinstance(found, exp.Expr) else None


def _relation(query: Query, source: exp.Expr) -> str:
    if not isinstance(source, exp.Table) or source.args.get("pivots"):
        return ""
    named = source.copy()
    for key in [key for key in named.args if key not in ("this", "db", "catalog")]:
        named.set(key, None)
    return query.sql(named)


def _passed(query: Query, select: exp.Select, name: str) -> exp.Column | Held | None:
    """The column that `select` gives out as `name`; a Held where it computes it; None where that cannot be told."""
    if subtotals(select):
        return None
    items = [item for item in select.expressions if item.alias_or_name.lower() == name.lower() and not item.is_star]
    if len(items) == 1:
        inner = items[0].unalias()
        return inner if isinstance(inner, exp.Column) else Held(never_null=_never_null(query, inner))
    stars = [item for item in select.expressions if item.is_star]
    if items or len(stars) != 1 or _rewrites(stars[0]):
        return None
    sources = sources_of(select)
    table = stars[0].table if isinstance(stars[0], exp.Column) else ""
    if not table and len(sources) != 1:
        return None
    found = exp.column(exp.to_identifier(name), table=table or sources[0].alias_or_name)
    found.parent = select
    return found


def _never_null(query: Query, item: exp.Expr) -> bool:
    names = frozenset(query.name(column) for column in item.find_all(exp.Column))
    return "N" not in query.logic(names).of(item) and "N" not in query.logic().of(item)


def _rewrites(star: exp.Expr) -> bool:
    inner = star.this if isinstance(star, exp.Column) else star
    return any(inner.args.get(name) for name in ("replace", "rename"))


def unquoted(relation: str) -> str:
    """The name of a relation as a sentence says it."""
    return relation.translate(str.maketrans("", "", '"`'))


def of_fact(fact: ColumnFact, said: str) -> Nullness:
    """What one fact says of NULLs in the column that is called `said`."""
    when = f" when measured at {fact.measured_at}" if fact.measured_at else " when measured (not known when)"
    if fact.nulls:
        of_rows = f" of {fact.rows:,} rows" if fact.rows is not None else " rows"
        return Nullness("yes", f"{said} was NULL in {fact.nulls:,}{of_rows}{when}")
    if fact.nullable is False:
        return Nullness("no", f"the catalog says that {said} cannot be NULL")
    if fact.tested:
        return Nullness("no", f"a not_null test stands on {said}")
    if fact.nulls == 0:
        return Nullness("measured_none", f"{said} held no NULL{when}; nothing keeps it so")
    return Nullness("unknown", f"not known whether {said} holds NULL: no not_null test, no catalog flag, no count")
