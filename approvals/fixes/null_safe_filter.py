"""A filter that dropped rows because a column is NULL there: written so that NULL means what was meant.

Three edits: the predicate of the model; a default for the flag where staging first reads it; and a not_null test that
would have caught it. Each is made only where its place is found exactly once; the filter is the one that must be.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import sqlglot
from sqlglot import exp

from approvals.fixes.base import Case, Claimed, FixDraft
from approvals.fixes.properties import add_not_null
from catalog.diff.locate import coalesce_column, locate, replace
from catalog.diff.null_safe import null_safe_form
from catalog.models import Asset
from catalog.selectors import asset_of_node
from catalog.sources.manifest import Node

CLASS = "change:null-safe-filter"
UNDO = "Revert the merge of this change, then build the same tables again."


@dataclass
class Edits:
    """The files as they were and as they become, the models that change, and what is claimed of them."""

    case: Case
    before: dict[str, str] = field(default_factory=dict)
    after: dict[str, str] = field(default_factory=dict)
    changed: list[str] = field(default_factory=list)
    claimed: list[Claimed] = field(default_factory=list)

    def text(self, path: str) -> str | None:
        """A file as it is by now."""
        return self.after.get(path) or self.case.code.read(path)

    def write(self, path: str, old: str, new: str) -> None:
        self.before.setdefault(path, old)
        self.after[path] = new


def propose(case: Case) -> FixDraft | None:
    """The draft, or None when the cause is another one or the predicate is not found exactly once in the code."""
    facts = case.cause.facts
    if facts.get("change") != "filter_added" or not case.number("removed_null"):
        return None
    predicate, dialect = str(facts["predicate"]), str(facts["dialect"])
    safe, claim, edits = null_safe_form(predicate, dialect), _rows(case, predicate), Edits(case)
    if safe is None or claim is None or not _rewrite(edits, predicate, safe, dialect):
        return None
    edits.claimed.append(claim)
    if _defaults_flag(safe, dialect):
        for found in facts.get("nulls", []):
            _default(edits, found, dialect)
    title = f"Write the filter null-safely: {safe}"
    return FixDraft(CLASS, title, edits.before, edits.after, UNDO, tuple(edits.changed), tuple(edits.claimed))


def _rows(case: Case, predicate: str) -> Claimed | None:
    """Good count minus the rows for which the filter is false, as measured; from the rows read now if they differ."""
    good, intended = case.number("good"), case.number("removed_false")
    if good is None or intended is None:
        return None
    total = case.number("total", "good") or 0
    read = f"the {good:,} of the last good build" if total == good else f"the {total:,} that it reads by now"
    sentence = (
        f"{case.asset.name} has {total - intended:,} rows: {read} without the {intended:,} for which ({predicate}) is "
        "false, which stay out as intended"
    )
    return Claimed("row_count", case.asset, {"equals": str(total - intended)}, sentence)


def _rewrite(edits: Edits, predicate: str, safe: str, dialect: str) -> bool:
    node = edits.case.node
    path = edits.case.code.project_path(node.path) if node and node.path else ""
    text = edits.text(path) if path else None
    span = locate(text, predicate, dialect) if text else None
    if node is None or text is None or span is None:
        return False
    edits.write(path, text, replace(text, span, safe))
    edits.changed.append(node.unique_id)
    return True


def _defaults_flag(safe: str, dialect: str) -> bool:
    """Whether the safe form reads NULL as false; for any other value no default is known."""
    tree = sqlglot.condition(safe, dialect=dialect or None)
    return isinstance(tree, exp.EQ) and isinstance(tree.this, exp.Coalesce)


def _default(edits: Edits, found: dict[str, str], dialect: str) -> None:
    """Give the flag its default where the staging model reads it, and test that it has no NULL any more."""
    case, column = edits.case, str(found["column"])
    node = case.head.nodes.get(str(found.get("unique_id")))
    if node is None or node.kind != "model" or not node.path or str(found["nulls"]) == "0":
        return
    path = case.code.project_path(node.path)
    text, asset = edits.text(path), asset_of_node(node.unique_id, case.head.project)
    rewritten = coalesce_column(text, column, "false", dialect) if text else None
    if text is None or rewritten is None or asset is None:
        return
    edits.write(path, text, rewritten)
    edits.changed += [node.unique_id] if node.unique_id not in edits.changed else []
    edits.claimed.append(_no_nulls(asset, column))
    _test(edits, node, column)


def _no_nulls(asset: Asset, column: str) -> Claimed:
    return Claimed("no_nulls", asset, {"column": column}, f"{asset.name}.{column} holds no NULL")


def _test(edits: Edits, node: Node, column: str) -> None:
    if not node.patch_path:  # dbt writes it as "package://path"
        return
    path = edits.case.code.project_path(node.patch_path.split("://", 1)[-1])
    text = edits.text(path)
    tested = add_not_null(text, node.name, column) if text else None
    if text is not None and tested is not None:
        edits.write(path, text, tested)
