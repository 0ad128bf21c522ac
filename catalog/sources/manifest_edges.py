"""What feeds what in a manifest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from catalog.sources.manifest_types import Manifest, Node


def edges(manifest: Manifest) -> set[tuple[str, str]]:
    """The pairs (from, to) of unique ids among the assets of `manifest`.

    An ephemeral model keeps its own edges, since it is shown, and its parents are also joined to its children, since
    no table stands between them. Metrics, semantic models and the like are not assets: lineage passes through them.
    """
    through = _Through(manifest.nodes, manifest.others)
    found = set()
    for child, node in manifest.nodes.items():
        for parent in node.depends_on:
            if parent in through.plain:
                found.add((parent, child))
            else:
                found.update((above, child) for above in through.above(parent))
    return {(parent, child) for parent, child in found if parent != child}


def all_edges(manifest: Manifest) -> set[tuple[str, str]]:
    """Every dependency in the file, tests and metrics included, as dbt's own graph has them."""
    nodes = (*manifest.nodes.values(), *manifest.others.values())
    pairs = {(parent, node.unique_id) for node in nodes for parent in node.depends_on}
    return pairs | {(parent, test.unique_id) for test in manifest.tests for parent in test.depends_on}


class _Through:
    """Looks through nodes behind which no table stands; a cycle in a damaged file ends the look, not the program.

    `plain` are the nodes that need no look: those with a table.
    """

    def __init__(self, nodes: Mapping[str, Node], others: Mapping[str, Node]) -> None:
        self.nodes, self.others = nodes, others
        self.ephemeral = {key for key, node in nodes.items() if node.materialized == "ephemeral"}
        self.plain = nodes.keys() - self.ephemeral

    def above(self, parent: str) -> Iterator[str]:
        """The assets that feed whatever reads `parent`: what is no asset is replaced by the assets above it, and an
        ephemeral model is joined by those above it, down to real tables."""
        for asset in self._walk((parent,), enter_assets=False):
            yield asset
            if asset in self.ephemeral:
                yield from self._walk(self.nodes[asset].depends_on, enter_assets=True)

    def _walk(self, parents: tuple[str, ...], *, enter_assets: bool) -> Iterator[str]:
        waiting, seen = list(parents), set()
        while waiting:
            current = waiting.pop()
            if current in seen:
                continue
            seen.add(current)
            if current in self.others:
                waiting.extend(self.others[current].depends_on)
            elif enter_assets and current in self.ephemeral:
                waiting.extend(self.nodes[current].depends_on)
            elif current in self.nodes:
                yield current
