"""The difference of two manifests: what a team changed between two builds, without the noise of the environment."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from catalog.diff.code_pair import CodePair
from catalog.diff.compare import node_changes, test_changes
from catalog.diff.macros import ChangedMacros
from catalog.diff.row_set import RowSetChange
from catalog.sources.manifest_edges import all_edges
from catalog.sources.manifest_types import Manifest, Node, TestNode
from catalog.sources.naming import dialect_of


@dataclass(frozen=True, slots=True)
class Modified:
    """A node that both manifests have and that is not the same: the kinds of change, and what they do to its rows."""

    unique_id: str
    changes: tuple[str, ...]
    row_set: tuple[RowSetChange, ...] = ()


@dataclass(frozen=True, slots=True)
class Renamed:
    """A node that has the content of one that is gone; both ids also stand in `added` and `removed`."""

    before: str
    after: str


@dataclass(frozen=True, slots=True)
class ManifestDiff:
    """What changed from base to head, every list sorted by unique id.

    `downstream` is what dbt calls `state:modified+`: the modified and added nodes and all that depends on them in
    head, tests included. `macros` are changed macros (they are no nodes of the graph). `notes` are sentences on what
    could not be told.
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

    The unchanged is decided as dbt decides `state:modified`, with these additions: removed and renamed nodes, and the
    change `compiled` (the same text compiled to other SQL, through a variable for instance).
    """
    return _Diff(base, head).result()


class _Diff:
    def __init__(self, base: Manifest, head: Manifest) -> None:
        self.base, self.head = base, head
        self.before = {**base.nodes, **base.others}
        self.after = {**head.nodes, **head.others}
        self.tests_before = {test.unique_id: test for test in base.tests}
        self.tests_after = {test.unique_id: test for test in head.tests}
        self.dialect = dialect_of(head.adapter or base.adapter)
        self.macros = ChangedMacros(base.macros, head.macros) if base.macros and head.macros else None
        self.moved = _moved_places(base, head)
        self.notes = list(self._notes())

    def result(self) -> ManifestDiff:
        known_before = _described(self.before) | self.tests_before.keys()
        known_after = _described(self.after) | self.tests_after.keys()
        added, removed = sorted(known_after - known_before), sorted(known_before - known_after)
        modified = tuple(self._modified(sorted(known_before & known_after)))
        roots = [item.unique_id for item in modified]
        return ManifestDiff(
            modified=modified,
            added=tuple(added),
            removed=tuple(removed),
            renamed=tuple(
                _renamed(
                    [self.before[key] for key in removed if key in self.before],
                    [self.after[key] for key in added if key in self.after],
                )
            ),
            downstream=tuple(_reachable(self.head, [*roots, *added])),
            macros=(*self.macros.modified, *self.macros.added, *self.macros.removed) if self.macros else (),
            notes=tuple(self.notes),
        )

    def _modified(self, common: Iterable[str]) -> Iterable[Modified]:
        for key in common:
            if key in self.tests_after and key in self.tests_before:
                changes = test_changes(self.tests_before[key], self.tests_after[key])
                changes += self._macro_change(self.tests_after[key])
                rows: tuple[RowSetChange, ...] = ()
            elif key in self.before and key in self.after:
                changes, rows = self._node(self.before[key], self.after[key])
            else:
                continue
            if changes:
                yield Modified(key, tuple(changes), rows)

    def _node(self, before: Node, after: Node) -> tuple[list[str], tuple[RowSetChange, ...]]:
        place = (before.database, before.schema), (after.database, after.schema)
        changes = node_changes(before, after, place in self.moved) + self._macro_change(after)
        if after.resource_type not in ("model", "snapshot"):
            return changes, ()
        pair = CodePair(before, after, self.before, self.after, self.dialect)
        if "body" in changes or "macro" in changes:
            return changes, tuple(pair.row_set())
        if not changes and pair.compiled_differently():
            return ["compiled"], tuple(pair.row_set())
        return changes, ()

    def _macro_change(self, node: Node | TestNode) -> list[str]:
        return ["macro"] if self.macros and self.macros.touch(node.macros) else []

    def _notes(self) -> Iterable[str]:
        if self.base.project and self.head.project and self.base.project != self.head.project:
            yield f"the manifests are of two projects, {self.base.project} and {self.head.project}"
        if bool(self.base.macros) != bool(self.head.macros):
            yield "one manifest holds no macros, so changed macros could not be told"
        if self.moved:
            yield "the builds wrote to different places; sources that moved with them are not called changed"
        unrendered = [
            node
            for node in self.head.nodes.values()
            if node.resource_type == "model" and node.unrendered_config is None
        ]
        if unrendered:
            yield "one writer leaves out the configuration as written, so only part of the configuration was compared"


def _described(nodes: Mapping[str, Node]) -> set[str]:
    return {key for key, node in nodes.items() if not node.external}


def _moved_places(
    base: Manifest, head: Manifest
) -> set[tuple[tuple[str | None, str | None], tuple[str | None, str | None]]]:
    """Where the target moved: pairs of (database, schema) of models whose written configuration is the same."""
    moved = set()
    for key in base.nodes.keys() & head.nodes.keys():
        before, after = base.nodes[key], head.nodes[key]
        places = (before.database, before.schema), (after.database, after.schema)
        written = [
            (node.unrendered_config or {}).get(name) for node in (before, after) for name in ("database", "schema")
        ]
        if before.resource_type in ("model", "seed") and places[0] != places[1] and written[:2] == written[2:]:
            moved.add(places)
    return moved


def _renamed(removed: list[Node], added: list[Node]) -> Iterable[Renamed]:
    """Pairs with equal content, or whose ids differ in case only; content that several share proves nothing."""
    for same in (lambda node: (node.resource_type, node.unique_id.lower()), _content):
        gone, come = _single(removed, same), _single(added, same)
        for key in sorted(gone.keys() & come.keys(), key=str):
            yield Renamed(gone[key].unique_id, come[key].unique_id)
            removed = [node for node in removed if node is not gone[key]]
            added = [node for node in added if node is not come[key]]


def _content(node: Node) -> tuple[str, ...] | None:
    text = node.raw_code.strip() or (node.checksum if node.resource_type == "seed" else "")
    return (node.resource_type, text) if text else None


def _single(nodes: list[Node], key: Callable[[Node], tuple[str, ...] | None]) -> dict[tuple[str, ...], Node]:
    groups: dict[tuple[str, ...], list[Node]] = {}
    for node in nodes:
        found = key(node)
        if found is not None:
            groups.setdefault(found, []).append(node)
    return {found: members[0] for found, members in groups.items() if len(members) == 1}


def _reachable(manifest: Manifest, roots: list[str]) -> list[str]:
    children: dict[str, list[str]] = {}
    for parent, child in all_edges(manifest):
        children.setdefault(parent, []).append(child)
    seen, waiting = set(roots), list(roots)
    while waiting:
        below = [child for child in children.get(waiting.pop(), ()) if child not in seen]
        seen.update(below)
        waiting.extend(below)
    return sorted(seen)
