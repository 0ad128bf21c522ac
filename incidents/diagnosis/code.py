"""Evidence from code: what changed between the two builds in the failing table and above it, proved by counting."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from catalog.diff.manifests import ManifestDiff, Modified, diff
from catalog.diff.row_set_types import SAME_ROWS
from catalog.models import Asset
from catalog.selectors import dbt_node
from incidents.diagnosis import filters, joins
from incidents.diagnosis.case import Case, Found, NotMeasured, Proven
from incidents.diagnosis.commits import commit_of
from incidents.diagnosis.proof import Change, Proof, Prove
from incidents.diagnosis.replay import replay

PROOFS: Mapping[str, Prove] = {
    "filter_added": filters.prove,
    "join_added": joins.prove,
    "join_key_changed": joins.prove,
    "join_type_changed": joins.prove,
}
HARMLESS = frozenset({"description", "fqn", "owner", "url", "access", "freshness", "version"})
"""Kinds of change of a node that cannot change its rows."""


@dataclass(frozen=True)
class Changed:
    """A table of the family whose code changed: how far above, what the comparison says, the commit if it is known."""

    asset: Asset
    hops: int
    modified: Modified
    commit: Mapping[str, str]

    @property
    def may_change_rows(self) -> bool:
        """Whether the change can be the reason for other rows; what was not understood can.

        As many rows may be other ones: another order under a limit or in a window picks them, a function folds them.
        """
        if self.modified.row_set:
            plain = ("filter_", "join_", "column_")
            return any(
                change.direction != SAME_ROWS or not change.kind.startswith(plain) for change in self.modified.row_set
            )
        return not set(self.modified.changes) <= HARMLESS


def look(case: Case) -> Iterator[Found | Proven]:
    """Yield what the comparison of the two manifests shows, nearest changed table first.

    A proof above a nearer change that is not explained proves nothing: that change may be the reason as well.
    """
    if case.base is None or case.head is None:
        yield Found("code", _not_compared(case))
        return
    compared = diff(case.base, case.head)
    near = _changed(case, compared)
    if not any(one.may_change_rows for one in near):
        yield _untouched(case, compared)
    unexplained = False
    for one in near:
        proven = None
        for found in _candidate(case, one):
            if not isinstance(found, Proven):
                yield found
            elif not unexplained and _same_way(case, one.asset):
                proven = found
                yield found
        unexplained = unexplained or (one.may_change_rows and proven is None)


def _not_compared(case: Case) -> str:
    if case.bad is None:
        return "The code cannot be compared: the wrong number belongs to no build."
    if case.good is None:
        return f"The code cannot be compared: no good build with artifacts is known before {case.bad.key}."
    return f"The code cannot be compared: the build {case.bad.key} left no manifest."


def _changed(case: Case, compared: ManifestDiff) -> list[Changed]:
    changed = {one.unique_id: one for one in compared.modified}
    changed |= {unique_id: Modified(unique_id, ("added",)) for unique_id in compared.added}
    near = []
    for asset, hops in case.family:
        one = changed.get(_local(asset))
        if one is not None:
            near.append(Changed(asset, hops, one, _commit(case, one.unique_id)))
    return near


def _untouched(case: Case, compared: ManifestDiff) -> Found:
    """Nothing changed, which speaks against the code only when all of the family could be compared."""
    assert case.head is not None  # noqa: S101 - look() tested it
    assert case.good is not None  # noqa: S101
    elsewhere = [asset.name for asset, _ in case.family if _local(asset) not in case.head.nodes]
    above = len(case.family) - 1
    statement = f"Nothing in code changed in {case.incident.asset.name} or in the {above} tables above it."
    if elsewhere:
        statement += f" Not compared, since another project builds them: {', '.join(elsewhere[:5])}."
    comparison = f"the manifests of the builds {case.good.key} and {case.bad.key if case.bad else ''}"
    result = {"compared": str(above + 1 - len(elsewhere)), "notes": list(compared.notes)}
    return Found("code", statement, comparison, result, "neutral" if elsewhere else "against", 60)


def _candidate(case: Case, one: Changed) -> Iterator[Found | Proven]:
    kinds = sorted({change.kind for change in one.modified.row_set}) or list(one.modified.changes)
    words = ", ".join("more that is not understood" if kind == "unknown" else kind.replace("_", " ") for kind in kinds)
    by = f" in commit {one.commit['commit'][:10]}" if one.commit else ""
    result = {"unique_id": one.modified.unique_id, "changes": list(one.modified.changes)} | dict(one.commit)
    weight = 50 if one.may_change_rows else 10
    yield Found("code", f"The code of {one.asset.name} changed{by}: {words}.", result=result, weight=weight)
    before, after = (_compiled(manifest, one.modified.unique_id) for manifest in (case.base, case.head))
    again = replay(case, one.asset, before, after) if one.may_change_rows else None
    if again is not None:
        yield again
    for row_set in one.modified.row_set:
        proof, seen = _proof(case, Change(one.asset, one.modified.unique_id, before, after, row_set))
        yield from seen
        if proof is not None and proof.holds and (again is None or again.speaks != "against"):
            yield _proven(case, one, proof, row_set.kind, row_set.predicate, row_set.direction)


def _proof(case: Case, change: Change) -> tuple[Proof | None, tuple[Found, ...]]:
    prove = PROOFS.get(change.row_set.kind)
    try:
        proof = prove(case, change) if prove is not None else None
    except NotMeasured as error:
        said = f"What the change of {change.asset.name} does could not be measured: {error}."
        return None, (Found("proof", said, weight=55),)
    return proof, proof.found if proof is not None else ()


def _proven(case: Case, one: Changed, proof: Proof, kind: str, predicate: str, direction: str) -> Proven:
    facts = {
        "model": one.asset.name, "unique_id": one.modified.unique_id, "change": kind, "predicate": predicate,
        "dialect": case.dialect, "direction": direction, **one.commit, **proof.facts,
    }  # fmt: skip
    return Proven("code", one.asset, f"{one.asset.name}: {proof.said}{_by(one.commit)}.", facts, one.hops)


def _by(commit: Mapping[str, str]) -> str:
    if not commit:
        return "; which commit brought it is not known"
    merged = f", merged as “{commit['merge_subject']}”" if "merge_subject" in commit else ""
    others = f", the newest of {commit['commits']} to this file" if commit["commits"] != "1" else ""
    return f"; it came with commit {commit['commit'][:10]} “{commit['subject']}”{merged}{others}"


def _same_way(case: Case, asset: Asset) -> bool:
    """Whether the failing table gained or lost rows as this one did, which it must if this one is the reason."""
    mine, theirs = case.moved(case.incident.asset), case.moved(asset)
    return asset.pk == case.incident.asset_id or (mine is not None and theirs is not None and mine * theirs > 0)


def _compiled(manifest: object, unique_id: str) -> str | None:
    node = getattr(manifest, "nodes", {}).get(unique_id)
    return node.compiled_code if node is not None else None


def _commit(case: Case, unique_id: str) -> dict[str, str]:
    assert case.head is not None  # noqa: S101 - look() tested it
    node = case.head.nodes.get(unique_id)
    if node is None or case.good is None or case.bad is None:
        return {}
    return commit_of(case.good, case.bad, node.path)


def _local(asset: Asset) -> str:
    node = dbt_node(asset)
    return node.local_id if node else ""
