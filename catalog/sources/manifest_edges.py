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
    for node in manifest.nodes.values():
        for parent in through.assets(node.depends_on):
            found.add((parent, node.unique_id))
            found |= {(above, node.unique_id) for above in through.above_ephemeral(parent)}
    return {(parent, child) for parent, child in found if parent != child}


def all_edges(manifest: Manifest) -> set[tuple[str, str]]:
    """Every dependency in the file, tests and metrics included, as dbt's own graph has them."""
    nodes = (*manifest.nodes.values(), *manifest.others.values())
    pairs = {(parent, node.unique_id) for node in nodes for parent in node.depends_on}
    return pairs | {(parent, test.unique_id) for test in manifest.tests for parent in test.depends_on}


class _Through:
    """Looks through nodes behind which no table stands; a cycle in a damaged file ends the look, not the program."""

    def __init__(self, nodes: Mapping[str, Node], others: Mapping[str, Node]) -> None:
        self.nodes, self.others = nodes, others

    def assets(self, parents: tuple[str, ...]) -> Iterator[str]:
        """`parents`, with those that are no asset replaced by the assets above them."""
        yield from self._walk(parents, self.others, enter_assets=False)

    def above_ephemeral(self, parent: str) -> Iterator[str]:
        """The assets above `parent` when it is ephemeral: through further ephemeral ones down to real tables."""
        if self._is_ephemeral(parent):
            yield from self._walk(self.nodes[parent].depends_on, self.others, enter_assets=True)

    def _walk(self, parents: tuple[str, ...], others: Mapping[str, Node], *, enter_assets: bool) -> Iterator[str]:
        waiting, seen = list(parents), set()
        while waiting:
            current = waiting.pop()
            if current in seen:
                continue
            seen.add(current)
            if current in others:
                waiting.extend(others[current].depends_on)
            elif enter_assets and self._is_ephemeral(current):
                waiting.extend(self.nodes[current].depends_on)
            elif current in self.nodes:
                yield current

    def _is_ephemeral(self, unique_id: str) -> bool:
        return unique_id in self.nodes and self.nodes[unique_id].materialized == "ephemeral"
