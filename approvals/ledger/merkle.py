"""RFC 6962 Merkle trees over SHA-256: roots, audit paths, consistency proofs, and their verification.

Building follows RFC 6962 section 2.1; verification follows RFC 9162 sections 2.1.3.2 and 2.1.4.2 with two guards more:
every hash is 32 bytes long, and the older tree of a consistency proof holds at least one leaf.
All hashes are 32 raw bytes; leaves are *leaf hashes* (`leaf_hash(data)`), never the data itself.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

HASH_SIZE = 32
EMPTY_ROOT = hashlib.sha256(b"").digest()


def leaf_hash(data: bytes) -> bytes:
    """SHA-256(0x00 || data)."""
    return hashlib.sha256(b"\x00" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """SHA-256(0x01 || left || right)."""
    return hashlib.sha256(b"\x01" + left + right).digest()


class Tree:
    """An append-only tree that can prove anything about any of its earlier sizes.

    Appending costs O(1) hashes on average, a root or a path O(log n): `_levels[k][i]` is the root of the perfect
    subtree over leaves `i * 2**k` to `(i + 1) * 2**k - 1`.

    >>> Tree([leaf_hash(b"")]).root().hex()[:8]
    '6e340b9c'
    """

    def __init__(self, leaves: Iterable[bytes] = ()) -> None:
        self._levels: list[list[bytes]] = [[]]
        for leaf in leaves:
            self.append(leaf)

    @property
    def size(self) -> int:
        """Number of leaves."""
        return len(self._levels[0])

    def append(self, leaf: bytes) -> int:
        """Add a leaf hash at the end and return its zero-based index."""
        if len(leaf) != HASH_SIZE:
            raise ValueError("a leaf hash is 32 bytes long")
        index = self.size
        self._levels[0].append(leaf)
        level = 0
        while len(self._levels[level]) % 2 == 0:
            pair = self._levels[level][-2:]
            level += 1
            if level == len(self._levels):
                self._levels.append([])
            self._levels[level].append(node_hash(*pair))
        return index

    def root(self, size: int | None = None) -> bytes:
        """The root over the first `size` leaves (all of them by default)."""
        size = self._checked(size)
        return self._range(0, size) if size else EMPTY_ROOT

    def inclusion(self, index: int, size: int | None = None) -> list[bytes]:
        """The audit path of leaf `index` in the tree of `size` leaves, from the leaf's sibling upwards."""
        size = self._checked(size)
        if not 0 <= index < size:
            raise ValueError("no such leaf in a tree of this size")
        return self._path(index, 0, size)

    def consistency(self, first: int, second: int | None = None) -> list[bytes]:
        """The proof that the tree of `first` leaves is a prefix of the tree of `second` leaves."""
        second = self._checked(second)
        if not 1 <= first <= second:
            raise ValueError("the older tree holds at least one leaf and at most as many as the newer")
        return self._subproof(first, 0, second, True)

    def _checked(self, size: int | None) -> int:
        size = self.size if size is None else size
        if not 0 <= size <= self.size:
            raise ValueError("the tree does not hold so many leaves")
        return size

    def _range(self, low: int, high: int) -> bytes:
        count = high - low
        if count & (count - 1) == 0:
            level = count.bit_length() - 1
            return self._levels[level][low >> level]
        middle = low + _split(count)
        return node_hash(self._range(low, middle), self._range(middle, high))

    def _path(self, index: int, low: int, high: int) -> list[bytes]:
        if high - low == 1:
            return []
        middle = low + _split(high - low)
        if index < middle:
            return [*self._path(index, low, middle), self._range(middle, high)]
        return [*self._path(index, middle, high), self._range(low, middle)]

    def _subproof(self, first: int, low: int, high: int, known: bool) -> list[bytes]:
        if low + first == high:
            return [] if known else [self._range(low, high)]
        split = _split(high - low)
        middle = low + split
        if first <= split:
            return [*self._subproof(first, low, middle, known), self._range(middle, high)]
        return [*self._subproof(first - split, middle, high, False), self._range(low, middle)]


def _split(count: int) -> int:
    """The largest power of two below `count` (which is at least 2)."""
    return 1 << (count - 1).bit_length() - 1


def root(leaves: Sequence[bytes]) -> bytes:
    """The RFC 6962 root over a list of leaf hashes."""
    return Tree(leaves).root()


def verify_inclusion(leaf: bytes, index: int, size: int, path: Sequence[bytes], tree_root: bytes) -> bool:
    """Whether `leaf` is leaf number `index` of the tree of `size` leaves with root `tree_root` (RFC 9162 2.1.3.2)."""
    if not _all_hashes([leaf, tree_root, *path]) or not 0 <= index < size:
        return False
    fn, sn, result = index, size - 1, leaf
    for sibling in path:
        if sn == 0:
            return False
        if fn & 1 or fn == sn:
            result = node_hash(sibling, result)
            fn, sn = _to_next_right(fn, sn)
        else:
            result = node_hash(result, sibling)
        fn, sn = fn >> 1, sn >> 1
    return sn == 0 and result == tree_root


def verify_consistency(first: int, second: int, first_root: bytes, second_root: bytes, path: Sequence[bytes]) -> bool:
    """Whether the tree (`first`, `first_root`) is a prefix of (`second`, `second_root`) (RFC 9162 2.1.4.2)."""
    if not _all_hashes([first_root, second_root, *path]) or not 1 <= first <= second:
        return False
    if first == second:
        return not path and first_root == second_root
    proof = [first_root, *path] if first & (first - 1) == 0 else list(path)
    if not path or not proof:
        return False
    fn, sn = first - 1, second - 1
    while fn & 1:
        fn, sn = fn >> 1, sn >> 1
    old = new = proof[0]
    for step in proof[1:]:
        if sn == 0:
            return False
        if fn & 1 or fn == sn:
            old, new = node_hash(step, old), node_hash(step, new)
            fn, sn = _to_next_right(fn, sn)
        else:
            new = node_hash(new, step)
        fn, sn = fn >> 1, sn >> 1
    return sn == 0 and old == first_root and new == second_root


def _to_next_right(fn: int, sn: int) -> tuple[int, int]:
    """Climb past the levels at which the node has no right sibling."""
    while fn and not fn & 1:
        fn, sn = fn >> 1, sn >> 1
    return fn, sn


def _all_hashes(values: Iterable[bytes]) -> bool:
    return all(len(value) == HASH_SIZE for value in values)
