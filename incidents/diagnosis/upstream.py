"""Evidence from data: the row counts of the failing table and of everything above it, at both builds."""

from __future__ import annotations

from collections.abc import Iterator

from catalog.models import Asset
from catalog.selectors import ancestors
from incidents.diagnosis.case import Case, Found, Proven, texts


def look(case: Case) -> Iterator[Found | Proven]:
    """Compare the counts of each table; one that became empty is a cause when it explains what is missing below.

    A table that nobody counted at one of the builds says nothing, and that is said.
    """
    for asset, _ in case.family:
        yield _compared(case, asset)
    empty = [(asset, hops) for asset, hops in case.family[1:] if _emptied(case, asset)]
    roots = [(asset, hops) for asset, hops in empty if _is_root(case, asset)]
    if roots and _explains(case, [asset for asset, _ in roots]):
        yield _cause(case, roots)


def _emptied(case: Case, asset: Asset) -> bool:
    return case.rows_at(asset, case.bad) == 0 and (case.rows_at(asset, case.good) or 0) > 0


def _is_root(case: Case, asset: Asset) -> bool:
    """Whether everything above a table was counted and stayed the same, so that the trouble begins here."""
    for parent, _ in ancestors(asset):
        moved, good = case.moved(parent), case.rows_at(parent, case.good)
        if moved is None or good is None or abs(moved) > case.tolerance(parent, good):
            return False
    return True


def _explains(case: Case, roots: list[Asset]) -> bool:
    """An empty table below an empty one follows; otherwise as many rows must be missing as the empty ones had."""
    asset = case.incident.asset
    good, bad = case.rows_at(asset, case.good), case.rows_at(asset, case.bad)
    if good is None or bad is None or bad >= good:
        return False
    had = sum(case.rows_at(root, case.good) or 0 for root in roots)
    return bad == 0 or abs(good - bad - had) <= case.leftover(asset, good, good - bad)


def _compared(case: Case, asset: Asset) -> Found:
    good, bad = case.value_at(asset, case.good), case.value_at(asset, case.bad)
    if good is None or bad is None:
        which = " and ".join(name for name, value in (("last good", good), ("bad", bad)) if value is None)
        return Found("upstream", f"{asset.name} was not counted at the {which} build.")
    room = case.tolerance(asset, int(good.number))
    same = abs(good.number - bad.number) <= room
    statement = (
        f"{asset.name} has {int(bad.number):,} rows ({bad.obtained}), {int(good.number):,} at the last good build "
        f"({good.obtained}): {'no change' if same else 'it changed'}."
    )
    result = texts(good=int(good.number), bad=int(bad.number), tolerance=room)
    query = bad.query or f"row counts recorded for the builds {case.good} and {case.bad}"
    return Found("upstream", statement, query, result, "against" if same else "for", 40, bad.at)


def _cause(case: Case, roots: list[tuple[Asset, int]]) -> Proven:
    assert case.bad is not None  # noqa: S101 - its counts were compared
    asset, hops = roots[0]
    had = {root.name: case.rows_at(root, case.good) or 0 for root, _ in roots}
    names = " and ".join(f"{name} ({rows:,} rows before)" for name, rows in had.items())
    verb = "is" if len(roots) == 1 else "are"
    statement = f"{names} {verb} empty since build {case.bad.key}; nothing in code changed."
    facts = {
        "asset": asset.name,
        "assets": list(had),
        "rows": "0",
        "good": str(had[asset.name]),
        "since_build": case.bad.key,
    }
    return Proven("data", asset, statement, facts, hops)
