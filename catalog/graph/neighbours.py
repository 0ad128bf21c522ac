"""One direction of a graph as compressed sparse rows, and the walk over it.

The arrays are those of SciPy's csr_array (int32). Its breadth-first search over them is the fastest that there is
without code of our own to compile: 3 million edges in some 30 ms.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order

Nodes: TypeAlias = NDArray[np.int32]
FEW_LEVELS = 1000


@dataclass(frozen=True)
class Neighbours:
    """The neighbours of node i are `indices[starts[i]:starts[i + 1]]`, ascending and each once."""

    starts: Nodes
    indices: Nodes

    @classmethod
    def of(cls, matrix: Any) -> Neighbours:
        """From a SciPy matrix in compressed rows (or columns, for the other direction), of which it keeps no values."""
        return cls(matrix.indptr.astype(np.int32, copy=False), matrix.indices.astype(np.int32, copy=False))

    @property
    def nbytes(self) -> int:
        return self.starts.nbytes + self.indices.nbytes

    @cached_property
    def matrix(self) -> Any:
        """The same as SciPy takes it; all values are one and the same number in memory."""
        count = self.starts.size - 1
        ones = np.broadcast_to(np.float64(1), self.indices.size)
        return csr_array((ones, self.indices, self.starts), shape=(count, count), copy=False)

    def of_node(self, node: int) -> Nodes:
        return self.indices[self.starts[node] : self.starts[node + 1]]

    def of_all(self, nodes: Nodes) -> tuple[Nodes, NDArray[np.int64]]:
        """The neighbours of all `nodes` in one array, with repetitions, and how many each of them has."""
        begin = self.starts[nodes].astype(np.int64)
        counts = self.starts[nodes + np.int32(1)] - begin
        shifts = np.repeat(begin - (np.cumsum(counts) - counts), counts)
        return self.indices[shifts + np.arange(shifts.size)], counts

    def levels(self, start: int) -> tuple[Nodes, list[int]]:
        """Everything reached from `start`, itself first, nearest first; and where each distance begins.

        The nodes at distance d are `nodes[begins[d]:begins[d + 1]]`; the last number is the count of all.
        """
        nodes, before = breadth_first_order(self.matrix, start, directed=True, return_predecessors=True)
        place = np.empty(self.starts.size - 1, dtype=np.int32)
        place[nodes] = np.arange(nodes.size, dtype=np.int32)
        return nodes, _begins(nodes, before, place)


def _begins(nodes: Nodes, before: Nodes, place: Nodes) -> list[int]:
    """Whatever was found from a place before the end of one distance belongs to the next at most.

    Nodes are found in the order of those that they were found from: that place ascends, and can be searched.
    """
    begins, count = [0, 1], int(nodes.size)
    while begins[-1] < count and len(begins) < FEW_LEVELS:
        begins.append(bisect_left(range(count), begins[-1], begins[-1], key=lambda at: place[before[nodes[at]]]))
    if begins[-1] < count:  # a graph as deep as this asks once for every place instead
        found_from = place[before[nodes[1:]]]
        ends = (1 + np.cumsum(np.bincount(found_from, minlength=count))).tolist()
        while begins[-1] < count:
            begins.append(ends[begins[-1] - 1])
    return begins
