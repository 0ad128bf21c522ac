"""Fixed keys and small sealed receipts, shared by the ledger's tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from approvals.ledger import dsse, tlog_proof
from approvals.ledger.bundle import SealedReceipt
from approvals.ledger.keys import Keys, receipt_key_name
from approvals.ledger.merkle import Tree, leaf_hash
from approvals.ledger.note import Checkpoint, Signer, sign_checkpoint
from approvals.ledger.statement import leaf_bytes, parse_statement
from foundation.canonical import sha256_hex

ORIGIN = "ledger.example/fixture"
CREATED_AT = "2026-01-02T03:04:05.000006Z"
KEYS = Keys(Signer(receipt_key_name(ORIGIN), bytes(range(32))), Signer(ORIGIN, bytes(range(32, 64))))


@dataclass(frozen=True)
class Leaf:
    statement: bytes
    envelope: bytes
    leaf: bytes


def sealed_leaf(statement: bytes, created_at: str = CREATED_AT) -> Leaf:
    envelope = dsse.sign(statement, KEYS.receipt)
    leaf = leaf_bytes(parse_statement(statement).type, sha256_hex(envelope), created_at)
    return Leaf(statement, envelope, leaf)


def ledger(statements: Sequence[bytes], padding: int = 0) -> list[SealedReceipt]:
    """The receipts of a ledger that holds these statements in order, after `padding` foreign leaves."""
    tree = Tree(leaf_hash(b"foreign %d" % n) for n in range(padding))
    leaves = [sealed_leaf(statement) for statement in statements]
    places = [tree.append(leaf_hash(leaf.leaf)) for leaf in leaves]
    note = sign_checkpoint(Checkpoint(ORIGIN, tree.size, tree.root()), KEYS.checkpoint)
    return [
        SealedReceipt(leaf.envelope, tlog_proof.render(place, tree.inclusion(place), note, leaf.leaf))
        for leaf, place in zip(leaves, places, strict=True)
    ]
