"""The whole ledger recomputed from its rows: every envelope, leaf, root and signature."""

from __future__ import annotations

from dataclasses import dataclass

from approvals.ledger import dsse
from approvals.ledger.errors import NotVerified, Part
from approvals.ledger.merkle import Tree, leaf_hash
from approvals.ledger.note import Verifier, open_checkpoint, parse_vkey
from approvals.ledger.statement import leaf_bytes
from approvals.models import Checkpoint, Leaf, LedgerKey, Receipt
from foundation.canonical import sha256_hex, timestamp


@dataclass(frozen=True)
class Checked:
    """A ledger that holds: how many leaves and checkpoints, the present root (hex), and how many receipts wait."""

    leaves: int
    checkpoints: int
    unsealed: int
    root: str


def check() -> Checked:
    """Recompute everything. NotVerified names the first part that broke and where."""
    receipt_keys, log_keys = _keys("receipt"), _keys("checkpoint")
    tree = Tree()
    for leaf in Leaf.objects.select_related("receipt").order_by("index").iterator():
        _check_leaf(leaf, tree.size, receipt_keys)
        tree.append(bytes.fromhex(leaf.leaf_hash))
    heads = list(Checkpoint.objects.order_by("size"))
    for head in heads:
        _check_head(head, tree, log_keys)
    unsealed = Receipt.objects.filter(envelope__isnull=True).count()
    _check_coverage(tree.size, unsealed)
    return Checked(tree.size, len(heads), unsealed, tree.root().hex())


def _keys(role: str) -> list[Verifier]:
    return [parse_vkey(key.vkey) for key in LedgerKey.objects.filter(role=role)]


def _check_leaf(leaf: Leaf, expected: int, keys: list[Verifier]) -> None:
    receipt = leaf.receipt
    if leaf.index != expected:
        raise NotVerified(Part.LEAF, f"The ledger has a gap: leaf {expected} is missing.")
    if receipt.envelope is None:
        raise NotVerified(Part.ENVELOPE, f"Leaf {leaf.index} has no envelope.")
    envelope, statement = bytes(receipt.envelope), bytes(receipt.statement)
    if dsse.verify(envelope, keys) != statement or sha256_hex(statement) != receipt.statement_sha256:
        raise NotVerified(Part.STATEMENT, f"The receipt of leaf {leaf.index} is not the one that was signed.")
    data = leaf_bytes(receipt.type, sha256_hex(envelope), timestamp(receipt.created_at))
    if bytes(leaf.data) != data or leaf_hash(data).hex() != leaf.leaf_hash:
        raise NotVerified(Part.LEAF, f"Leaf {leaf.index} does not commit to its receipt.")


def _check_head(head: Checkpoint, tree: Tree, keys: list[Verifier]) -> None:
    found = open_checkpoint(head.note.encode(), keys)
    if head.size > tree.size or (found.size, found.root.hex()) != (head.size, head.root):
        raise NotVerified(Part.CHECKPOINT, f"The checkpoint of size {head.size} is not the one that was signed.")
    if tree.root(head.size) != found.root:
        raise NotVerified(Part.CHECKPOINT, f"The ledger's leaves contradict its checkpoint of size {head.size}.")


def _check_coverage(leaves: int, unsealed: int) -> None:
    if Receipt.objects.count() != leaves + unsealed:
        raise NotVerified(Part.LEAF, "A sealed receipt has no leaf in the ledger.")
