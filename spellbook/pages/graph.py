"""The affected subgraph as a drawing, layered from left to right (NetworkX); its list is the equivalent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import networkx as nx

MOST_DRAWN = 300
MOST_SIBLINGS = 12
NODE_WIDTH, NODE_HEIGHT, GAP_X, GAP_Y, EDGE = 196, 40, 56, 14, 12
LABEL = 25


@dataclass(frozen=True)
class Node:
    """A box at (x, y). `asset_id` is None for "+n more", which stands for the rest of a layer."""

    asset_id: int | None
    x: int
    y: int
    label: str
    full: str
    kind: str
    role: str


@dataclass(frozen=True)
class Drawing:
    """Boxes and paths in one coordinate system of `width` x `height` units."""

    nodes: list[Node]
    edges: list[str]
    width: int
    height: int
    node_width: int = NODE_WIDTH
    node_height: int = NODE_HEIGHT


@dataclass(frozen=True)
class Label:
    """What a node is called, what it is, and its role: origin, table or reader."""

    name: str
    kind: str
    role: str


def draw(source: int, labels: Mapping[int, Label], edges: Sequence[Sequence[int]]) -> Drawing | None:
    """The drawing of everything that `source` reaches; None above MOST_DRAWN nodes, where only the list helps."""
    if len(labels) > MOST_DRAWN:
        return None
    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_nodes_from(labels)
    graph.add_edges_from((a, b) for a, b in edges if a in labels and b in labels and a != b)
    layers = _ordered(graph, _layers(graph, source))
    return _place(graph, layers, labels)


def _layers(graph: nx.DiGraph[int], source: int) -> list[list[int]]:
    """Longest way from the source, in the graph whose cycles are drawn together into one node."""
    whole = nx.condensation(graph)
    depth: dict[int, int] = {}
    for one in nx.topological_sort(whole):
        depth[one] = max((depth[before] + 1 for before in whole.predecessors(one)), default=0)
    found: dict[int, list[int]] = {}
    for node in graph.nodes:
        found.setdefault(depth[whole.graph["mapping"][node]], []).append(node)
    return [sorted(found[level], key=lambda node: (node != source, node)) for level in sorted(found)]


def _ordered(graph: nx.DiGraph[int], layers: list[list[int]]) -> list[list[int]]:
    """Two sweeps that put each node near the middle of its neighbours (the barycentre method of Sugiyama)."""
    place = {node: index for layer in layers for index, node in enumerate(layer)}
    for near in (graph.predecessors, graph.successors):
        for layer in layers if near == graph.predecessors else reversed(layers):
            middle = {
                node: sum(place[one] for one in near(node)) / max(1, len(list(near(node))))
                if list(near(node))
                else place[node]
                for node in layer
            }
            layer.sort(key=lambda node: (middle[node], place[node]))
            place.update({node: index for index, node in enumerate(layer)})
    return layers


def _place(graph: nx.DiGraph[int], layers: list[list[int]], labels: Mapping[int, Label]) -> Drawing:
    shown = [
        layer if len(layer) <= MOST_SIBLINGS else _readers_first(layer, labels)[: MOST_SIBLINGS - 1] for layer in layers
    ]
    rows = [len(kept) + (len(kept) < len(layer)) for kept, layer in zip(shown, layers, strict=True)]
    height = max(rows) * (NODE_HEIGHT + GAP_Y) - GAP_Y + 2 * EDGE
    nodes: list[Node] = []
    at: dict[int, tuple[int, int]] = {}
    for column, (kept, layer) in enumerate(zip(shown, layers, strict=True)):
        x = EDGE + column * (NODE_WIDTH + GAP_X)
        top = (height - (rows[column] * (NODE_HEIGHT + GAP_Y) - GAP_Y)) // 2
        for row, pk in enumerate(kept):
            at[pk] = (x, top + row * (NODE_HEIGHT + GAP_Y))
            nodes.append(_node(pk, at[pk], labels[pk]))
        if len(kept) < len(layer):
            y = top + len(kept) * (NODE_HEIGHT + GAP_Y)
            more = f"+{len(layer) - len(kept)} more"
            nodes.append(Node(None, x, y, more, more, "", "more"))
    paths = [_path(at[a], at[b]) for a, b in sorted(graph.edges) if a in at and b in at]
    return Drawing(nodes, paths, EDGE * 2 + len(layers) * (NODE_WIDTH + GAP_X) - GAP_X, height)


def _readers_first(layer: list[int], labels: Mapping[int, Label]) -> list[int]:
    return sorted(layer, key=lambda pk: labels[pk].role != "reader")


def _node(pk: int, at: tuple[int, int], label: Label) -> Node:
    short = label.name if len(label.name) <= LABEL else f"{label.name[: LABEL - 1]}…"
    return Node(pk, *at, short, label.name, label.kind, label.role)


def _path(start: tuple[int, int], end: tuple[int, int]) -> str:
    x1, y1 = start[0] + NODE_WIDTH, start[1] + NODE_HEIGHT // 2
    x2, y2 = end[0], end[1] + NODE_HEIGHT // 2
    bend = (x2 - x1) // 2 if x2 > x1 else GAP_X
    return f"M{x1} {y1}C{x1 + bend} {y1} {x2 - bend} {y2} {x2} {y2}"
