"""Check an exported receipt, offline, from the bundle and the published keys alone.

Every byte of a bundle is bound: envelopes by signature and leaf, proofs by the signed checkpoint, keys by the trusted
ones, linked receipts and evidence by digest, the recipe by the published texts, the archive by its one form.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from approvals.ledger import dsse, tlog_proof
from approvals.ledger.archive import MAX_BYTES
from approvals.ledger.bundle import Bundle, SealedReceipt, read
from approvals.ledger.encoding import strict_json_object
from approvals.ledger.errors import NotVerified, Part
from approvals.ledger.keys import receipt_key_name
from approvals.ledger.merkle import leaf_hash, verify_inclusion
from approvals.ledger.note import Checkpoint, Verifier, open_checkpoint, parse_vkey
from approvals.ledger.recipe import PUBLISHED
from approvals.ledger.statement import Statement, leaf_bytes, parse_statement
from foundation.canonical import sha256_hex
from foundation.errors import BadInput, NotFound


@dataclass(frozen=True)
class VerifiedReceipt:
    """One receipt that holds: what was signed, and where it lies in the ledger."""

    type: str
    statement: dict[str, Any]
    statement_bytes: bytes
    statement_sha256: str
    envelope_sha256: str
    created_at: str
    index: int
    checkpoint: Checkpoint
    receipts: tuple[str, ...]
    evidence: tuple[str, ...]


@dataclass(frozen=True)
class Verified:
    """A bundle that holds: its receipt, those that it links, and which evidence came with it and which did not."""

    receipt: VerifiedReceipt
    linked: tuple[VerifiedReceipt, ...]
    evidence: tuple[str, ...]
    absent_evidence: tuple[str, ...]


def verify_bundle(source: Path | str | bytes, *, trusted_vkeys: Iterable[str]) -> Verified:
    """Check a bundle (path or bytes) against the published vkeys of its ledger (receipt key and checkpoint key).

    Raises `NotVerified` whose `part` names what broke first, `NotFound` for a path that cannot be read, and
    `BadInput` for a malformed trusted vkey. Evidence that the receipt names but the bundle lacks is reported, since
    it can be erased; a missing linked receipt is refused.
    """
    trusted = [parse_vkey(vkey) for vkey in trusted_vkeys]
    bundle = read(_bytes(source))
    log_key, receipt_key = _role_keys(bundle, trusted)
    receipt = verify_receipt(bundle.receipt, log_key=log_key, receipt_key=receipt_key)
    linked = _verify_linked(bundle, receipt, log_key, receipt_key)
    _refuse_split_view([receipt, *linked.values()])
    named = {digest for verified in (receipt, *linked.values()) for digest in verified.evidence}
    _verify_evidence(bundle, named)
    if bundle.recipe not in PUBLISHED:
        raise NotVerified(Part.RECIPE, "The text of VERIFY.md is not a published one.")
    present = tuple(sorted(bundle.evidence))
    return Verified(receipt, tuple(linked.values()), present, tuple(sorted(named - bundle.evidence.keys())))


def verify_receipt(sealed: SealedReceipt, *, log_key: Verifier, receipt_key: Verifier) -> VerifiedReceipt:
    """Check one envelope and its proof: signature, type, leaf, checkpoint signature, inclusion."""
    payload = dsse.verify(sealed.envelope, [receipt_key])
    statement = parse_statement(payload)
    proof = tlog_proof.parse(sealed.proof)
    envelope_sha256 = sha256_hex(sealed.envelope)
    created_at = _verify_leaf(proof.extra, statement, envelope_sha256)
    checkpoint = open_checkpoint(proof.checkpoint.encode(), [log_key])
    leaf = leaf_hash(proof.extra or b"")
    if not verify_inclusion(leaf, proof.index, checkpoint.size, proof.path, checkpoint.root):
        raise NotVerified(Part.INCLUSION, "The receipt does not lie in the signed ledger at the place that it claims.")
    return VerifiedReceipt(
        type=statement.type,
        statement=statement.body,
        statement_bytes=payload,
        statement_sha256=sha256_hex(payload),
        envelope_sha256=envelope_sha256,
        created_at=created_at,
        index=proof.index,
        checkpoint=checkpoint,
        receipts=statement.receipts,
        evidence=statement.evidence,
    )


def _verify_leaf(extra: bytes | None, statement: Statement, envelope_sha256: str) -> str:
    """The leaf's time, once the leaf is exactly the commitment to this envelope and type."""
    try:
        created_at = strict_json_object(extra or b"")["created_at"]
        expected = leaf_bytes(statement.type, envelope_sha256, str(created_at))
    except (ValueError, KeyError, BadInput):
        expected = None
    if expected is None or expected != extra:
        raise NotVerified(Part.LEAF, "The ledger entry does not commit to this receipt.")
    return str(created_at)


def _role_keys(bundle: Bundle, trusted: list[Verifier]) -> tuple[Verifier, Verifier]:
    by_vkey = {verifier.vkey: verifier for verifier in trusted}
    log_key, receipt_key = by_vkey.get(bundle.log_vkey), by_vkey.get(bundle.receipt_vkey)
    if log_key is None or receipt_key is None:
        raise NotVerified(Part.KEY, "The bundle's keys are not the published ones.")
    if receipt_key.name != receipt_key_name(log_key.name):
        raise NotVerified(Part.KEY, "The bundle's two keys do not belong to one ledger in their proper roles.")
    return log_key, receipt_key


def _verify_linked(
    bundle: Bundle, receipt: VerifiedReceipt, log_key: Verifier, receipt_key: Verifier
) -> dict[str, VerifiedReceipt]:
    """Follow the named digests from the receipt; each must be in the bundle and hold, and nothing else may be there."""
    found: dict[str, VerifiedReceipt] = {}
    waiting = list(receipt.receipts)
    while waiting:
        digest = waiting.pop(0)
        if digest in found:
            continue
        sealed = bundle.linked.get(digest)
        if sealed is None:
            raise NotVerified(Part.LINKED, f"The linked receipt {digest[:12]} is not in the bundle.")
        verified = verify_receipt(sealed, log_key=log_key, receipt_key=receipt_key)
        if verified.statement_sha256 != digest:
            raise NotVerified(Part.LINKED, f"The linked receipt {digest[:12]} is another one than the receipt names.")
        found[digest] = verified
        waiting.extend(verified.receipts)
    if found.keys() != bundle.linked.keys():
        raise NotVerified(Part.LINKED, "The bundle holds a receipt that nothing in it names.")
    return found


def _refuse_split_view(receipts: list[VerifiedReceipt]) -> None:
    """Two heads of one size with different roots are two histories of one ledger."""
    roots: dict[int, bytes] = {}
    for verified in receipts:
        if roots.setdefault(verified.checkpoint.size, verified.checkpoint.root) != verified.checkpoint.root:
            raise NotVerified(Part.CHECKPOINT, "The bundle's checkpoints contradict each other.")


def _verify_evidence(bundle: Bundle, named: set[str]) -> None:
    for digest, content in bundle.evidence.items():
        if sha256_hex(content) != digest:
            raise NotVerified(Part.EVIDENCE, f"The evidence file {digest[:12]} was changed.")
        if digest not in named:
            raise NotVerified(Part.EVIDENCE, f"The evidence file {digest[:12]} is not named by any receipt.")


def _bytes(source: Path | str | bytes) -> bytes:
    if isinstance(source, bytes):
        return source
    try:
        with open(source, "rb") as file:
            return file.read(MAX_BYTES + 1)
    except OSError:
        raise NotFound("The bundle cannot be read: there is no such file, or no right to read it.") from None
