"""The affected subgraph as a drawing, layered from left to right (NetworkX); its list is the equivalent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import networkx as nx

MOST_DRAWN = 300
MOST_SIBLINGS = 12
NODE_WIDTH, GAP_X, GAP_Y, EDGE = 216, 56, 14, 12
LINE, MOST_LINES = 27, 3  # letters of a line, and lines, for which a box has room
FIRST, NEXT = 26, 15  # the height of a box without its name, and of each line of that
MARKS = " ._-/:"


@dataclass(frozen=True)
class Node:
    """A box at (x, y). `asset_id` is None for "+n more", which stands for the rest of a layer. `lines` are its name."""

    asset_id: int | None
    x: int
    y: int
    lines: list[str]
    full: str
    kind: str
    role: str
    text_y: int


@dataclass(frozen=True)
class Drawing:
    """Boxes and paths in one coordinate system of `width` x `height` units."""

    nodes: list[Node]
    edges: list[str]
    width: int
    height: int
    node_height: int
    node_width: int = NODE_WIDTH


@dataclass(frozen=True)
class Label:
    """What a node is called, what it is, its role (origin, table, reader, suggested reader), and its name in full."""

    name: str
    kind: str
    role: str
    full: str = ""


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
    box = FIRST + NEXT * max(len(lines_of(label.name)) for label in labels.values())
    height = max(rows) * (box + GAP_Y) - GAP_Y + 2 * EDGE
    nodes: list[Node] = []
    at: dict[int, tuple[int, int]] = {}
    for column, (kept, layer) in enumerate(zip(shown, layers, strict=True)):
        x = EDGE + column * (NODE_WIDTH + GAP_X)
        top = (height - (rows[column] * (box + GAP_Y) - GAP_Y)) // 2
        for row, pk in enumerate(kept):
            at[pk] = (x, top + row * (box + GAP_Y))
            nodes.append(_node(pk, at[pk], labels[pk], box))
        if len(kept) < len(layer):
            y = top + len(kept) * (box + GAP_Y)
            more = f"+{len(layer) - len(kept)} more"
            nodes.append(Node(None, x, y, [more], more, "", "more", _text_y([more], box)))
    paths = [_path(at[a], at[b], box) for a, b in sorted(graph.edges) if a in at and b in at]
    return Drawing(nodes, paths, EDGE * 2 + len(layers) * (NODE_WIDTH + GAP_X) - GAP_X, height, box)


def _readers_first(layer: list[int], labels: Mapping[int, Label]) -> list[int]:
    return sorted(layer, key=lambda pk: "reader" not in labels[pk].role)


def _node(pk: int, at: tuple[int, int], label: Label, box: int) -> Node:
    lines = lines_of(label.name)
    return Node(pk, *at, lines, label.full or label.name, label.kind, label.role, _text_y(lines, box))


def _text_y(lines: Sequence[str], box: int) -> int:
    """Where the text of a box begins, one line above its first, so that name and kind stand in the middle."""
    return (box - NEXT * (len(lines) + 1)) // 2 - 3


def lines_of(name: str) -> list[str]:
    """The name on lines that a box has room for, broken behind blanks and marks; the middle of too long a one is cut.

    >>> lines_of("marts.daily_orders_by_customer")
    ['marts.daily_orders_by_', 'customer']
    """
    rest, lines = name, list[str]()
    if len(name) > LINE * MOST_LINES:
        rest = f"{name[: LINE - 1]}…{name[LINE - LINE * MOST_LINES :]}"
    while len(rest) > LINE:
        least = len(rest) - LINE * (MOST_LINES - 1 - len(lines))  # what follows has to fit on the lines that are left
        ends = [place for place in range(max(1, least), LINE + 1) if rest[place - 1] in MARKS]
        cut = max(ends, default=LINE)
        lines.append(rest[:cut].rstrip())
        rest = rest[cut:]
    return [*lines, rest]


def _path(start: tuple[int, int], end: tuple[int, int], box: int) -> str:
    x1, y1 = start[0] + NODE_WIDTH, start[1] + box // 2
    x2, y2 = end[0], end[1] + box // 2
    bend = (x2 - x1) // 2 if x2 > x1 else GAP_X
    return f"M{x1} {y1}C{x1 + bend} {y1} {x2 - bend} {y2} {x2} {y2}"
