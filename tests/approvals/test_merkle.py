"""The tree against the published Certificate Transparency vectors and against every tampering that we can think of."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from approvals.ledger.merkle import Tree, leaf_hash, node_hash, root, verify_consistency, verify_inclusion

LEAVES = [
    leaf_hash(bytes.fromhex(data))
    for data in (
        "", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f",
    )
]  # fmt: skip
ROOTS = [
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]


@pytest.mark.parametrize("size", range(9))
def test_the_root_of_the_first_leaves_is_the_published_one(size: int) -> None:
    assert root(LEAVES[:size]).hex() == ROOTS[size]
    assert Tree(LEAVES).root(size).hex() == ROOTS[size]


@pytest.mark.parametrize(
    ("index", "size", "starts"),
    [
        (0, 8, "96a296d2 5f083f0a 6b47aaf2"),
        (5, 8, "bc1a0643 ca854ea1 d37ee418"),
        (2, 3, "fac54203"),
        (1, 5, "6e340b9c 5f083f0a bc1a0643"),
    ],
)
def test_an_audit_path_is_the_published_one(index: int, size: int, starts: str) -> None:
    assert [step.hex()[:8] for step in Tree(LEAVES).inclusion(index, size)] == starts.split()


@pytest.mark.parametrize(
    ("first", "second", "starts"),
    [
        (1, 8, "96a296d2 5f083f0a 6b47aaf2"),
        (6, 8, "0ebc5d34 ca854ea1 d37ee418"),
        (2, 5, "5f083f0a bc1a0643"),
    ],
)
def test_a_consistency_proof_is_the_published_one(first: int, second: int, starts: str) -> None:
    assert [step.hex()[:8] for step in Tree(LEAVES).consistency(first, second)] == starts.split()


def test_every_leaf_of_every_size_is_proved_and_at_no_other_place() -> None:
    tree = Tree(leaf_hash(bytes([n])) for n in range(33))
    for size in range(1, 34):
        for index in range(size):
            path, leaf = tree.inclusion(index, size), leaf_hash(bytes([index]))
            assert verify_inclusion(leaf, index, size, path, tree.root(size))
            assert not any(
                verify_inclusion(leaf, other, size, path, tree.root(size)) for other in range(size) if other != index
            )


def test_every_size_is_a_prefix_of_every_later_one() -> None:
    tree = Tree(leaf_hash(bytes([n])) for n in range(33))
    for second in range(1, 34):
        for first in range(1, second + 1):
            assert verify_consistency(
                first, second, tree.root(first), tree.root(second), tree.consistency(first, second)
            )


def plain_root(leaves: list[bytes]) -> bytes:
    """RFC 6962 2.1 word for word, without any cache."""
    if not leaves:
        return hashlib.sha256(b"").digest()
    if len(leaves) == 1:
        return leaves[0]
    split = 1
    while split * 2 < len(leaves):
        split *= 2
    return node_hash(plain_root(leaves[:split]), plain_root(leaves[split:]))


@given(st.lists(st.binary(max_size=3), max_size=70))
@settings(max_examples=60, deadline=None)
def test_the_cached_tree_agrees_with_the_definition(data: list[bytes]) -> None:
    leaves = [leaf_hash(item) for item in data]
    assert root(leaves) == plain_root(leaves)


@given(st.integers(2, 60), st.data())
@settings(max_examples=150, deadline=None)
def test_a_changed_inclusion_proof_is_refused(size: int, data: st.DataObject) -> None:
    tree = Tree(leaf_hash(bytes([n])) for n in range(size))
    index = data.draw(st.integers(0, size - 1))
    path = tree.inclusion(index)
    leaf = leaf_hash(bytes([index]))
    which = data.draw(st.integers(0, len(path) - 1))
    bit = data.draw(st.integers(0, 255))
    flipped = bytearray(path[which])
    flipped[bit // 8] ^= 1 << bit % 8
    hostile = [
        [*path[:which], bytes(flipped), *path[which + 1 :]],
        [*path[:which], *path[which + 1 :]],
        [*path, path[which]],
        [path[which], *path],
        [*path[:which], path[which][:31], *path[which + 1 :]],
        [*path[:which], b"", *path[which + 1 :]],
        [],
    ]
    assert not any(verify_inclusion(leaf, index, size, changed, tree.root()) for changed in hostile)
    assert not verify_inclusion(leaf, index, size, path, tree.root(size - 1))
    assert not verify_inclusion(leaf, -1, size, path, tree.root())
    assert not verify_inclusion(leaf, size, size, path, tree.root())
    assert not verify_inclusion(leaf[:12], index, size, path, tree.root())


@given(st.integers(2, 60), st.data())
@settings(max_examples=150, deadline=None)
def test_a_changed_consistency_proof_is_refused(second: int, data: st.DataObject) -> None:
    tree = Tree(leaf_hash(bytes([n])) for n in range(second))
    first = data.draw(st.integers(1, second - 1))
    old, new, path = tree.root(first), tree.root(), tree.consistency(first)
    which = data.draw(st.integers(0, len(path) - 1))
    hostile = [
        [*path[:which], bytes(32), *path[which + 1 :]],
        [*path[:which], *path[which + 1 :]],
        [*path, path[which]],
        [*path[:which], path[which] + b"x", *path[which + 1 :]],
        [],
    ]
    assert not any(verify_consistency(first, second, old, new, changed) for changed in hostile)
    assert not verify_consistency(first, second, new, old, path)
    assert not verify_consistency(0, second, old, new, path)
    assert not verify_consistency(first, second, leaf_hash(b"forked"), new, path)


def test_equal_sizes_need_equal_roots_and_no_path() -> None:
    assert verify_consistency(3, 3, bytes(32), bytes(32), [])
    assert not verify_consistency(3, 3, bytes(32), bytes(32), [bytes(32)])
    assert not verify_consistency(3, 3, bytes(32), b"\x01" * 32, [])
    assert not verify_consistency(0, 0, bytes(32), bytes(32), [])


def test_asking_for_what_the_tree_does_not_hold_is_an_error() -> None:
    tree = Tree(LEAVES)
    for ask in (
        lambda: tree.root(9),
        lambda: tree.inclusion(8),
        lambda: tree.inclusion(0, 0),
        lambda: tree.consistency(0),
        lambda: tree.consistency(9),
        lambda: tree.append(b"short"),
    ):
        with pytest.raises(ValueError, match=r"tree|leaf"):
            ask()
