"""Whether the keys of a join single out one row of what is joined: by the form of the query, or by the facts."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from catalog.diff.joins import join_kind
from catalog.diff.selects import conjuncts, sources_of
from catalog.diff.shape import whole_number
from catalog.lints.known import behind
from catalog.lints.query import Query, subtotals
from catalog.lints.types import Facts, bare

MAX_STEPS = 50


@dataclass(frozen=True, slots=True)
class Uniqueness:
    """yes, no, measured_yes or unknown, and the sentence that says whence it is known."""

    verdict: str
    sentence: str


def uniqueness(query: Query, source: exp.Expr, reader: exp.Select, keys: tuple[str, ...], facts: Facts) -> Uniqueness:
    """What is known of `keys` of `source` (a table, CTE or derived table that `reader` joins) as a unique key."""
    wanted = frozenset(bare(key) for key in keys)
    said = f"({', '.join(keys)}) of {source.alias_or_name}"
    for _ in range(MAX_STEPS):
        below = behind(query, source, reader)
        if below is None:
            return _of_relation(query, source, wanted, facts)
        if not isinstance(below, exp.Select):
            break
        if _one_row_per(query, below, wanted):
            return Uniqueness("yes", f"the query itself gives one row for each {said}")
        passed = _passed_on(below, wanted)
        if passed is None:
            break
        (source, wanted), reader = passed, below
    return Uniqueness("unknown", f"not known whether {said} is unique: it is computed in the query")


def _of_relation(query: Query, source: exp.Expr, wanted: frozenset[str], facts: Facts) -> Uniqueness:
    if not isinstance(source, exp.Table):
        return Uniqueness("unknown", f"not known how many rows {source.alias_or_name or 'the joined part'} gives")
    bare_table = source.copy()
    bare_table.set("alias", None)
    relation = query.sql(bare_table)
    return of_facts(relation, wanted, facts)


def of_facts(relation: str, wanted: frozenset[str], facts: Facts) -> Uniqueness:
    """What the facts say of the columns `wanted` (bare names) of `relation` as a unique key."""
    named = f"({', '.join(sorted(wanted))}) of {relation}"
    known = [(frozenset(bare(column) for column in fact.columns), fact) for fact in facts.keys(relation)]
    for columns, fact in known:
        if fact.duplicates and columns >= wanted:
            when = f" when measured at {fact.measured_at}" if fact.measured_at else " when measured (not known when)"
            return Uniqueness("no", f"{fact.duplicates:,} values of {named} stood in several rows{when}")
    for columns, fact in known:
        if fact.tested and columns and columns <= wanted:
            return Uniqueness("yes", f"a unique test stands on ({', '.join(fact.columns)}) of {relation}")
    if any(fact.duplicates == 0 and columns and columns <= wanted for columns, fact in known):
        return Uniqueness("measured_yes", f"{named} had no duplicates when measured; nothing keeps it so")
    return Uniqueness("unknown", f"not known whether {named} is unique: no unique test, no count")


def _one_row_per(query: Query, select: exp.Select, wanted: frozenset[str]) -> bool:
    """Whether `select` gives at most one row for each value of the columns that it gives out as `wanted`."""
    if any(item.find(exp.Explode, exp.Unnest) for item in select.expressions):
        return False
    outputs = {query.sql(item.unalias()): bare(item.alias_or_name) for item in select.expressions}
    group, limit = select.args.get("group"), select.args.get("limit")
    if limit is not None and query.sql(limit).split()[-1:] == ["1"]:
        return True
    if select.args.get("distinct") and not select.args["distinct"].args.get("on"):
        return set(outputs.values()) <= wanted and not any(item.is_star for item in select.expressions)
    if group is not None:
        plain = bool(group.expressions) and not subtotals(select)
        return plain and {_output(query, one, select, outputs) for one in group.expressions} <= wanted
    first = _first_per(query, select)
    if first is not None:
        return {outputs.get(one, _bare_column(one, select)) for one in first} <= wanted
    return bool(select.expressions) and all(
        item.find(exp.AggFunc) and not item.find(exp.Window) for item in select.expressions
    )


def _output(query: Query, item: exp.Expr, select: exp.Select, outputs: dict[str, str]) -> str:
    """The name under which a grouped expression is given out; "" where it is not."""
    place = whole_number(item)
    if place is not None:
        return bare(select.expressions[place - 1].alias_or_name) if 0 < place <= len(select.expressions) else ""
    found = outputs.get(query.sql(item), "")
    named = bare(item.name) if isinstance(item, exp.Column) and not item.table else ""
    return found or (named if named in outputs.values() else "")


def _first_per(query: Query, select: exp.Select) -> list[str] | None:
    """What `qualify row_number() over (partition by ...) = 1` partitions by, in SQL; None where that is not asked."""
    qualify = select.args.get("qualify")
    for part in conjuncts(qualify.this) if qualify is not None else []:
        window = part.this if isinstance(part, exp.EQ) else None
        if isinstance(window, exp.Window) and isinstance(window.this, exp.RowNumber) and part.expression.name == "1":
            return [query.sql(one) for one in window.args.get("partition_by") or ()]
    return None


def _bare_column(text: str, select: exp.Select) -> str:
    """The name of a column that a single `*` passes on."""
    star = any(item.is_star for item in select.expressions)
    return bare(text.rpartition(".")[2]) if star else ""


def _passed_on(select: exp.Select, wanted: frozenset[str]) -> tuple[exp.Expr, frozenset[str]] | None:
    """The only source of `select` and the names that `wanted` has there; None where rows may come several times."""
    sources = sources_of(select)
    joins = [join for join in select.args.get("joins") or () if join_kind(join) not in ("semi", "anti")]
    if len(sources) - len(select.args.get("joins") or ()) != 1 or joins or select.args.get("laterals"):
        return None
    if select.args.get("group") or any(item.find(exp.Explode, exp.Unnest) for item in select.expressions):
        return None
    given = {bare(item.alias_or_name): item.unalias() for item in select.expressions if not item.is_star}
    star = any(item.is_star for item in select.expressions)
    below = []
    for name in wanted:
        item = given.get(name)
        if (item is None and not star) or (item is not None and not isinstance(item, exp.Column)):
            return None
        below.append(bare(item.name) if item is not None else name)
    return sources[0], frozenset(below)
