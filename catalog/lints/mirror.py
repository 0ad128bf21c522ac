"""The rules of a sync that mirrors a table into another tool, deletions included.

Source: what a vendor of such a sync publishes, "Warehouse Connectors" and "BigQuery Warehouse Connector". Its Mirror
reads tables, no views; identical rows collapse into one; most schema changes beyond new nullable columns are advised
against; inserts, updates and deletes are billed, and a table that is dropped and made again counts every row.
Not known here: whether other tools that mirror differ.
"""

from __future__ import annotations

from collections.abc import Iterator

from catalog.lints import fan_out
from catalog.lints.keys import Uniqueness, of_facts
from catalog.lints.outputs import outputs
from catalog.lints.query import read
from catalog.lints.types import (
    CERTAIN,
    DANGEROUS,
    INFO,
    LOOK,
    POSSIBLE,
    ColumnState,
    Facts,
    Finding,
    ModelState,
    Place,
    Reader,
    bare,
)

VIEW, IDENTICAL, SCHEMA, RECREATED = "mirror-view", "mirror-identical-rows", "mirror-schema", "mirror-recreated"
_NO_TABLE = ("view", "ephemeral", "materialized_view")


def view(before: ModelState | None, after: ModelState, facts: Facts, readers: tuple[Reader, ...]) -> Iterator[Finding]:
    """A model under a Mirror sync that becomes a view, materialized view or ephemeral: Mirror reads tables alone."""
    for sync in _mirrors(readers):
        if after.materialized in _NO_TABLE and not (before is not None and before.materialized in _NO_TABLE):
            kind = after.materialized.replace("_", " ")
            sentence = f"{after.name} is built as {kind}, no table; the Mirror sync {sync} reads tables alone."
            yield Finding(VIEW, DANGEROUS, Place(None, after.materialized), sentence, (_source(sync),), None, CERTAIN)


def identical_rows(
    before: ModelState | None, after: ModelState, facts: Facts, readers: tuple[Reader, ...]
) -> Iterator[Finding]:
    """A change after which rows of a mirrored model may be identical, and so become one in the tool.

    Found for a new model and where a DISTINCT went, a `union all` came or a join may multiply rows. Certain where keys
    with several rows are counted; not found where a unique test stands on any columns of the model. Not known: whether
    the other columns tell the rows apart.
    """
    causes = list(_causes(before, after, facts))
    known = _any_key(after, facts)
    if not causes or (known is not None and known.verdict == "yes"):
        return
    certain = known is not None and known.verdict == "no"
    evidence = known.sentence if known is not None else f"no unique test is known on {after.relation or after.name}"
    for sync in _mirrors(readers):
        sentence = (
            f"Identical rows of {after.name} collapse into one in the Mirror sync {sync}; {causes[0]}, and it is not "
            "known whether rows stay distinct."
        )
        yield Finding(IDENTICAL, LOOK, Place(), sentence, (evidence,), None, CERTAIN if certain else POSSIBLE)


def schema(
    before: ModelState | None, after: ModelState, facts: Facts, readers: tuple[Reader, ...]
) -> Iterator[Finding]:
    """Any change of the columns of a mirrored model but a new nullable one.

    Removed and retyped columns are certain; of a new column it may not be known whether it is nullable. Nothing is
    found where the columns of either side are not known.
    """
    old, new = outputs(before) if before is not None else None, outputs(after)
    if old is None or new is None:
        return
    for sync in _mirrors(readers):
        for name in {**old, **new}:
            change = _schema_change(old.get(name), new.get(name))
            if change:
                severity, words, certainty = change
                column = (new.get(name) or old[name]).name
                sentence = f"The column {column} of {after.name} {words}, under the Mirror sync {sync}."
                evidence = ("Mirror advises against schema changes beyond adding nullable columns",)
                yield Finding(SCHEMA, severity, Place(None, column), sentence, evidence, None, certainty)


def recreated(
    before: ModelState | None, after: ModelState, facts: Facts, readers: tuple[Reader, ...]
) -> Iterator[Finding]:
    """A mirrored table that will be dropped and made again, or moves: every row is billed.

    Found where the model becomes a `table` (made anew at each run), where full_refresh comes, and where its relation
    gets another name. Not known: whether the warehouse's own way to replace a table counts as dropping it.
    """
    if before is None:
        return
    causes = [
        (before.materialized and before.materialized != "table" and after.materialized == "table",
         f"becomes a table, which each run makes anew (it was {before.materialized})", POSSIBLE),
        (after.full_refresh and not before.full_refresh, "is built with full_refresh, dropped and made again", CERTAIN),
        (before.relation and after.relation and bare(before.relation) != bare(after.relation),
         f"moves from {before.relation} to {after.relation}", CERTAIN),
    ]  # fmt: skip
    for sync in _mirrors(readers):
        for found, words, certainty in causes:
            if found:
                sentence = f"{after.name} {words}: the Mirror sync {sync} counts and bills every row."
                evidence = (_source(sync), "not known how many rows the table has")
                yield Finding(RECREATED, DANGEROUS, Place(), sentence, evidence, None, certainty)


def _mirrors(readers: tuple[Reader, ...]) -> list[str]:
    return [reader.name for reader in readers if reader.mirrors]


def _source(sync: str) -> str:
    return f"{sync} is declared as a Mirror sync"


def _causes(before: ModelState | None, after: ModelState, facts: Facts) -> Iterator[str]:
    if before is None:
        yield "the model is new"
        return
    old, new = read(before), read(after)
    if old is None or new is None:
        return
    pairs = [(old.selects.by_path.get(path), select) for path, select in new.selects.by_path.items()]
    if any(one is not None and one.args.get("distinct") and not select.args.get("distinct") for one, select in pairs):
        yield "a DISTINCT was removed"
    were = [operator for operators in old.selects.unions.values() for operator in operators]
    are = [operator for operators in new.selects.unions.values() for operator in operators]
    if are.count("Union all") > were.count("Union all"):
        yield "a UNION ALL was added"
    if any(True for _ in fan_out.check(before, after, facts, ())):
        yield "a join may multiply rows"


def _any_key(model: ModelState, facts: Facts) -> Uniqueness | None:
    relation = model.relation or model.name
    found = [of_facts(relation, frozenset(map(bare, fact.columns)), facts) for fact in facts.keys(relation)]
    order = {"no": 0, "yes": 1, "measured_yes": 2, "unknown": 3}
    return min(found, key=lambda one: order[one.verdict], default=None)


def _schema_change(old: ColumnState | None, new: ColumnState | None) -> tuple[str, str, str] | None:
    if new is None:
        return DANGEROUS, "is removed", CERTAIN
    if old is None:
        if new.nullable is None:
            return INFO, "is new; not known whether it is nullable", POSSIBLE
        return None if new.nullable else (LOOK, "is new and not nullable", CERTAIN)
    if old.type and new.type and old.type.lower() != new.type.lower():
        return DANGEROUS, f"changes its type from {old.type} to {new.type}", CERTAIN
    if old.nullable is not None and new.nullable is not None and old.nullable != new.nullable:
        return LOOK, f"becomes {'nullable' if new.nullable else 'not nullable'}", CERTAIN
    return None
