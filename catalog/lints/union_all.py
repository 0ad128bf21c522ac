"""`union` where `union all` was: rows that are alike in every column become one."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from catalog.lints.query import read
from catalog.lints.types import CERTAIN, LOOK, Facts, Finding, ModelState, Reader

RULE = "union-drops-duplicates"


def check(before: ModelState | None, after: ModelState, facts: Facts, readers: tuple[Reader, ...]) -> Iterator[Finding]:
    """Set operations that were `union all` at the same place and are `union` now.

    Certain that duplicates go; not known whether there are any. A `union` of a new part or model is not found: nothing
    tells that the other one was meant.
    """
    old, new = read(before) if before is not None else None, read(after)
    if old is None or new is None:
        return
    for path, operators in new.selects.unions.items():
        were = old.selects.unions.get(path, ())
        changed = [pair for pair in zip(were, operators, strict=False) if pair == ("Union all", "Union distinct")]
        if changed:
            place = new.place(_union_at(new.selects.tree, path), "union")
            sentence = (
                f"UNION ALL became UNION {'in ' + path if path else 'at the end'}: equal rows are merged into one."
            )
            yield Finding(
                RULE, LOOK, place, sentence, ("not known whether there are equal rows",), "union all", CERTAIN
            )


def _union_at(tree: exp.Expr, path: str) -> exp.Expr:
    """The first distinct union inside the part of that name; the whole tree where it cannot be told."""
    name = path.rpartition("/")[2]
    inside = next((cte.this for cte in tree.find_all(exp.CTE, exp.Subquery) if cte.alias.lower() == name), tree)
    found = next((union for union in inside.find_all(exp.Union) if union.args.get("distinct")), None)
    return found.expression if found is not None else inside
