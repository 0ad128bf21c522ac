"""A change of code that multiplied or dropped rows, with no better form known: the model goes back to what it was."""

from __future__ import annotations

from approvals.fixes.base import Case, Claimed, FixDraft

CLASS = "change:revert"
UNDO = "Merge the reverted change again, then build the same tables again."


def propose(case: Case) -> FixDraft | None:
    """The model's file as the last good build had it; None when the file has moved on since the bad build."""
    node = case.node
    if node is None or not node.path:
        return None
    path = case.code.project_path(node.path)
    text, restored, claim = case.code.read(path), _restored(case, path), _rows(case)
    if text is None or restored is None or claim is None or text.strip() != node.raw_code.strip():
        return None
    if restored.strip() == text.strip():
        return None
    commit = str(case.cause.facts.get("commit", ""))[:10]
    since = f"before {commit}" if commit else "at the last good build"
    title = f"Take {node.name} back to what it was {since}"
    return FixDraft(CLASS, title, {path: text}, {path: restored}, UNDO, (node.unique_id,), (claim,))


def _restored(case: Case, path: str) -> str | None:
    """The model's old text: git's own bytes where the good build names its commit, else what its manifest holds."""
    node = case.node
    old = case.base.nodes.get(node.unique_id) if node else None
    if old is None or not old.raw_code:
        return None
    good = case.incident.last_good_build
    exact = case.code.read(path, good.commit) if good and good.commit else None
    return exact if exact and exact.strip() == old.raw_code.strip() else old.raw_code.rstrip("\n") + "\n"


def _rows(case: Case) -> Claimed | None:
    """What the old code gives: its rows over the tables of now where the proof counted them, else the good count."""
    rows, good = case.number("rows_without", "total", "good"), case.number("good")
    if rows is None:
        return None
    as_before = ", as at the last good build" if rows == good else " over the tables as they are by now"
    sentence = f"{case.asset.name} has {rows:,} rows with the code of the last good build{as_before}"
    return Claimed("row_count", case.asset, {"equals": str(rows)}, sentence)
