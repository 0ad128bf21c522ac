"""Receipts: a statement's bytes are written in the transaction they tell of; the sealer signs them later (D15)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.conf import settings

from approvals.ledger import bundle, tlog_proof
from approvals.ledger.merkle import Tree
from approvals.ledger.note import Verifier, parse_vkey
from approvals.ledger.statement import Descriptor, parse_statement, resource, statement
from approvals.models import Checkpoint, Leaf, LedgerKey, Plan, Receipt
from approvals.services.sealing import seal_due
from foundation.canonical import digest, sha256_hex
from foundation.errors import Conflict, NotFound

__all__ = ["descriptors", "export", "of_values", "plan_subjects", "published_keys", "seal_due", "write"]


def write(
    type: str,
    subject: str,
    predicate: Mapping[str, Any],
    subjects: Sequence[Descriptor],
    *,
    created_at: datetime,
) -> Receipt:
    """Write the bytes of one receipt inside the caller's transaction; it is sealed by a later sweep.

    `subject` names what was ended, once per type ("plan/<uuid>"); `subjects` are in-toto descriptors; the predicate
    gets the installation's `environment`. The same receipt again returns the row; another one is a Conflict.
    """
    document = {**predicate, "environment": settings.SPELLBOOK_ENVIRONMENT}
    data = statement(type, subjects, document)
    known = Receipt.objects.filter(type=type, subject=subject).first()
    if known is not None:
        if bytes(known.statement) != data:
            raise Conflict(f"There is already another {type} receipt of {subject}.")
        return known
    return Receipt.objects.create(
        type=type, subject=subject, statement=data, statement_sha256=sha256_hex(data), created_at=created_at
    )


def plan_subjects(plan: Plan) -> list[Descriptor]:
    """The subject of whatever was done for a plan: the plan's revision under its digest."""
    return [resource(f"plan/{plan.pk}@r{plan.revision}", plan.plan_digest)]


def of_values(name: str, values: Mapping[str, Any]) -> Descriptor:
    """A subject that has no bytes of its own: its name under the digest of its values."""
    return resource(name, digest(values))


def descriptors(receipts: Iterable[Receipt]) -> list[Descriptor]:
    """Links to other receipts, for a predicate's list `receipts`: each under the digest of its statement."""
    return [resource(f"{one.type}:{one.subject}", one.statement_sha256) for one in receipts]


def published_keys() -> tuple[Verifier, Verifier]:
    """The newest receipt key and checkpoint key that the sealer has published. NotFound before the first seal."""
    found = {role: LedgerKey.objects.filter(role=role).first() for role in ("receipt", "checkpoint")}
    receipt, checkpoint = found["receipt"], found["checkpoint"]
    if receipt is None or checkpoint is None:
        raise NotFound("No receipt was sealed yet, so no key is published.")
    return parse_vkey(receipt.vkey), parse_vkey(checkpoint.vkey)


def export(receipt: Receipt) -> bytes:
    """The offline bundle of a sealed receipt with every receipt that it links, as a zip archive.

    Conflict when it, or one that it links, is not yet sealed into a checkpoint.
    """
    receipt_key, log_key = published_keys()
    newest = Checkpoint.objects.first()
    if newest is None:
        raise Conflict("This receipt is not sealed yet.")
    tree = Tree(bytes.fromhex(leaf) for leaf in _leaf_hashes(newest.size))
    linked = {one.statement_sha256: _sealed(one, newest, tree) for one in _closure(receipt)}
    return bundle.export(_sealed(receipt, newest, tree), log_key=log_key, receipt_key=receipt_key, linked=linked)


def _leaf_hashes(size: int) -> list[str]:
    return list(Leaf.objects.filter(index__lt=size).order_by("index").values_list("leaf_hash", flat=True))


def _closure(receipt: Receipt) -> list[Receipt]:
    found: dict[str, Receipt] = {}
    waiting = list(parse_statement(bytes(receipt.statement)).receipts)
    while waiting:
        wanted = waiting.pop()
        if wanted in found:
            continue
        row = Receipt.objects.filter(statement_sha256=wanted).first()
        if row is None:
            raise NotFound(f"The receipt {wanted[:12]}, which this one names, is not in this ledger.")
        found[wanted] = row
        waiting += parse_statement(bytes(row.statement)).receipts
    return list(found.values())


def _sealed(receipt: Receipt, checkpoint: Checkpoint, tree: Tree) -> bundle.SealedReceipt:
    leaf = Leaf.objects.filter(receipt=receipt, index__lt=checkpoint.size).first()
    if leaf is None or receipt.envelope is None:
        raise Conflict(f"The {receipt.type} receipt {receipt.subject} is not sealed into a checkpoint yet.")
    path = tree.inclusion(leaf.index, checkpoint.size)
    proof = tlog_proof.render(leaf.index, path, checkpoint.note, bytes(leaf.data))
    return bundle.SealedReceipt(bytes(receipt.envelope), proof)
