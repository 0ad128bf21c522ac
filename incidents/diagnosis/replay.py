"""Both versions of a model over the same data now: whether the change of code alone explains the change of rows."""

from __future__ import annotations

from sqlglot import exp, parse_one
from sqlglot.errors import SqlglotError

from catalog.models import Asset
from incidents.diagnosis.case import Case, Found, NotMeasured, texts


def replay(case: Case, asset: Asset, before: str | None, after: str | None) -> Found | None:
    """Count the rows of the old and the new compiled query over today's tables, next to what was counted at the builds.

    It speaks for the code when both fit, against it when one does not, and is neutral when it could not be told; None
    when the table was not counted at both builds.
    """
    good, bad = case.rows_at(asset, case.good), case.rows_at(asset, case.bad)
    if good is None or bad is None:
        return None
    queries = [_count(code, case.dialect) for code in (before, after) if code]
    if len(queries) < 2 or None in queries:
        return Found("replay", f"{asset.name} has no compiled SQL on both sides to count with.")
    try:
        old, new = (case.ask(query) for query in queries if query)
    except NotMeasured as error:
        return Found("replay", f"Old and new code of {asset.name} could not be counted: {error}.")
    room = case.leftover(asset, good, bad - good)
    holds = abs(old["n"] - good) <= room and abs(new["n"] - bad) <= room
    statement = (
        f"Over the same tables the old code of {asset.name} gives {old['n']:,} rows and the new code {new['n']:,}; "
        f"{good:,} were counted at the last good build and {bad:,} at this one."
    )
    result = texts(old=old["n"], new=new["n"], good=good, bad=bad, tolerance=room)
    both = ";\n\n".join(filter(None, queries))
    return Found("replay", statement, both, result, "for" if holds else "against", 80, new.at)


def _count(code: str, dialect: str) -> str | None:
    try:
        query = parse_one(code, dialect=dialect or None)
    except (SqlglotError, RecursionError):
        return None
    if not isinstance(query, exp.Query):
        return None
    count = exp.alias_(exp.Count(this=exp.Star()), "n")
    return exp.select(count).from_(query.subquery("counted")).sql(dialect=dialect or None, pretty=True)
