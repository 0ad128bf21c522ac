"""The difference of two manifests: what a team changed between two builds, without the noise of the environment."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from catalog.diff.code_pair import Classifier, CodePair
from catalog.diff.compare import node_changes, test_changes
from catalog.diff.macros import ChangedMacros
from catalog.diff.notes import later_notes, notes
from catalog.diff.renames import Renamed, renamed
from catalog.diff.row_set import RowSetChange
from catalog.diff.written import as_read, terms
from catalog.sources.manifest_edges import all_edges
from catalog.sources.manifest_types import Macro, Manifest, Node, TestNode
from catalog.sources.naming import dialect_of
from foundation.errors import BadInput

__all__ = ["BEYOND_DBT", "ManifestDiff", "Modified", "Renamed", "diff"]

BEYOND_DBT = frozenset({"compiled", "formula"})
"""Kinds of change that dbt's `state:modified` does not know."""


@dataclass(frozen=True, slots=True)
class Modified:
    """An entry that both manifests have and that is not the same: the kinds of change, and what they do to its rows."""

    unique_id: str
    changes: tuple[str, ...]
    row_set: tuple[RowSetChange, ...] = ()


@dataclass(frozen=True, slots=True)
class ManifestDiff:
    """What changed from base to head, every list sorted by unique id.

    Macros and groups stand in the lists as well, under the ids `macro.package.name` and `group.package.name`; dbt's
    selector lists neither. `downstream` is what dbt calls `state:modified+`: the modified and added nodes and all that
    depends on them in head, tests included. `macros` are all changed macros. `notes` are sentences on what could not
    be told.
    """

    modified: tuple[Modified, ...]
    added: tuple[str, ...]
    removed: tuple[str, ...]
    renamed: tuple[Renamed, ...]
    downstream: tuple[str, ...]
    macros: tuple[str, ...] = ()
    notes: tuple[str, ...] = field(default=())


def diff(base: Manifest, head: Manifest) -> ManifestDiff:
    """What changed from `base` to `head`; no side is looked up anywhere else.

    The unchanged is decided as dbt decides `state:modified`, with these additions: removed and renamed entries, changed
    macros and owners of groups, and the kinds of `BEYOND_DBT`: `compiled` (the same text became other SQL, through a
    variable for instance) and `formula` (of a metric). BadInput when a field is nested hundreds of levels deep.
    """
    try:
        return _Diff(base, head).result()
    except RecursionError:
        raise BadInput("the manifests hold a field that is nested too deep to be compared") from None


class _Diff:
    def __init__(self, base: Manifest, head: Manifest) -> None:
        self.base, self.head = base, head
        self.before, self.after = _entries(base), _entries(head)
        self.all_before, self.all_after = {**base.nodes, **base.others}, {**head.nodes, **head.others}
        self.terms = terms(base, head)
        self.macros = ChangedMacros(base, head)
        self.classifier = Classifier(dialect_of(head.adapter or base.adapter))

    def result(self) -> ManifestDiff:
        added, removed = sorted(self.after.keys() - self.before.keys()), sorted(self.before.keys() - self.after.keys())
        modified = list(self._modified())
        groups = _groups(self.base, self.head)
        changed = [*(one.unique_id for one in modified), *added]
        everything = [
            *modified,
            *(Modified(key, ("body",)) for key in self.macros.modified),
            *(Modified(key, ("owner",)) for key in groups.modified),
        ]
        return ManifestDiff(
            modified=tuple(sorted(everything, key=lambda one: one.unique_id)),
            added=tuple(sorted([*added, *self.macros.added, *groups.added])),
            removed=tuple(sorted([*removed, *self.macros.removed, *groups.removed])),
            renamed=tuple(self._renamed(removed, added)),
            downstream=tuple(_reachable(self.head, changed)),
            macros=tuple(self.macros.all),
            notes=tuple(self._notes(modified, removed, len(changed))),
        )

    def _modified(self) -> Iterator[Modified]:
        for key in sorted(self.before.keys() & self.after.keys()):
            before, after = self.before[key], self.after[key]
            rows: tuple[RowSetChange, ...] = ()
            if isinstance(before, TestNode) and isinstance(after, TestNode):
                changes = () if as_read(before, after) else test_changes(before, after, self.terms)
                changes += self._macro_change(after)
            elif isinstance(before, Node) and isinstance(after, Node):
                changes, rows = self._node(before, after)
            else:
                continue
            if changes:
                yield Modified(key, changes, rows)

    def _node(self, before: Node, after: Node) -> tuple[tuple[str, ...], tuple[RowSetChange, ...]]:
        changes = () if as_read(before, after) else node_changes(before, after, self.terms)
        changes += self._macro_change(after)
        if (not changes and before.raw == after.raw) or after.resource_type not in ("model", "snapshot"):
            return changes, ()
        pair = CodePair(before, after, self.all_before, self.all_after)
        if "body" in changes or "macro" in changes:
            return changes, self.classifier.row_set(pair)
        if not changes and self.classifier.compiled_differently(pair):
            return ("compiled",), self.classifier.row_set(pair)
        return changes, ()

    def _macro_change(self, entry: Node | TestNode) -> tuple[str, ...]:
        return ("macro",) if self.macros.touched and self.macros.touch(entry.macros) else ()

    def _renamed(self, removed: list[str], added: list[str]) -> list[Renamed]:
        gone: list[Node | TestNode | Macro] = [self.before[key] for key in removed]
        come: list[Node | TestNode | Macro] = [self.after[key] for key in added]
        gone += [self.base.macros[key] for key in self.macros.removed]
        come += [self.head.macros[key] for key in self.macros.added]
        return sorted(renamed(gone, come), key=lambda one: one.before)

    def _notes(self, modified: list[Modified], removed: list[str], changed: int) -> Iterator[str]:
        yield from notes(self.base, self.head, self.terms, self.macros)
        compiled = [one.unique_id for one in modified if "compiled" in one.changes]
        yield from later_notes(self.head, removed, changed, compiled, bool(self.terms.moved))
        yield from self.classifier.notes()


def _entries(manifest: Manifest) -> dict[str, Node | TestNode]:
    """What the file describes, by unique id: nodes, metrics and the like, tests."""
    nodes = {key: node for key, node in manifest.nodes.items() if not node.external}
    return {**nodes, **manifest.others, **{test.unique_id: test for test in manifest.tests}}


@dataclass(frozen=True, slots=True)
class _Groups:
    modified: list[str]
    added: list[str]
    removed: list[str]


def _groups(base: Manifest, head: Manifest) -> _Groups:
    """Groups whose owner is another, or that came or went; the id is that of a group of the project itself."""
    before, after = base.group_owners, head.group_owners

    def ids(names: Iterable[str]) -> list[str]:
        return [f"group.{head.project}.{name}" for name in names]

    return _Groups(
        ids(name for name in before.keys() & after.keys() if before[name] != after[name]),
        ids(after.keys() - before.keys()),
        ids(before.keys() - after.keys()),
    )


def _reachable(manifest: Manifest, roots: list[str]) -> list[str]:
    if not roots:
        return []
    children: dict[str, list[str]] = {}
    for parent, child in all_edges(manifest):
        children.setdefault(parent, []).append(child)
    seen, waiting = set(roots), list(roots)
    while waiting:
        below = [child for child in children.get(waiting.pop(), ()) if child not in seen]
        seen.update(below)
        waiting.extend(below)
    return sorted(seen)
