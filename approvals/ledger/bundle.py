"""The export of a receipt: everything that an outsider needs to check it offline, as one zip archive.

receipt.dsse.json               the envelope, as signed
receipt.tlog-proof              its place in the ledger, with a signed checkpoint
log.vkey, receipt.vkey          the public keys (compare them with the published ones)
linked/<sha256>.dsse.json       each receipt that this one names, by the digest of its statement
linked/<sha256>.tlog-proof      and its place in the ledger
evidence/<sha256>               evidence files by their content
VERIFY.md                       how to check all this with openssl and a shell
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from approvals.ledger import archive
from approvals.ledger.errors import NotVerified, Part
from approvals.ledger.note import Verifier
from approvals.ledger.recipe import VERIFY_MD
from foundation.errors import BadInput

ENVELOPE = "receipt.dsse.json"
PROOF = "receipt.tlog-proof"
LOG_KEY = "log.vkey"
RECEIPT_KEY = "receipt.vkey"
RECIPE = "VERIFY.md"
_FIXED = {ENVELOPE, PROOF, LOG_KEY, RECEIPT_KEY, RECIPE}
_LINKED = re.compile(r"linked/([0-9a-f]{64})\.(dsse\.json|tlog-proof)")
_EVIDENCE = re.compile(r"evidence/([0-9a-f]{64})")


@dataclass(frozen=True)
class SealedReceipt:
    """One receipt as it leaves: the envelope's bytes and the bytes of its tlog-proof."""

    envelope: bytes
    proof: bytes


@dataclass(frozen=True)
class Bundle:
    """The parts of an export; `linked` by SHA-256 of the statement, `evidence` by SHA-256 of the content (hex)."""

    receipt: SealedReceipt
    log_vkey: str
    receipt_vkey: str
    linked: Mapping[str, SealedReceipt] = field(default_factory=dict)
    evidence: Mapping[str, bytes] = field(default_factory=dict)
    recipe: str = VERIFY_MD


def export(
    receipt: SealedReceipt,
    *,
    log_key: Verifier,
    receipt_key: Verifier,
    linked: Mapping[str, SealedReceipt] | None = None,
    evidence: Iterable[bytes] = (),
) -> bytes:
    """The archive's bytes, the same for the same parts; it is not checked here (`verify.verify_bundle` does)."""
    files = {
        ENVELOPE: receipt.envelope,
        PROOF: receipt.proof,
        LOG_KEY: f"{log_key.vkey}\n".encode(),
        RECEIPT_KEY: f"{receipt_key.vkey}\n".encode(),
        RECIPE: VERIFY_MD.encode(),
    }
    for digest, sealed in (linked or {}).items():
        files[f"linked/{digest}.dsse.json"] = sealed.envelope
        files[f"linked/{digest}.tlog-proof"] = sealed.proof
    for content in evidence:
        files[f"evidence/{hashlib.sha256(content).hexdigest()}"] = content
    try:
        return archive.pack(files)
    except ValueError:
        raise BadInput("This receipt has too many or too large parts for one bundle.") from None


def read(data: bytes) -> Bundle:
    """Take an archive apart; `NotVerified` (archive) for a missing file, an unknown name or changed framing."""
    files = archive.unpack(data)
    unknown = [name for name in files if not (name in _FIXED or _LINKED.fullmatch(name) or _EVIDENCE.fullmatch(name))]
    if unknown or not files.keys() >= _FIXED:
        raise NotVerified(Part.ARCHIVE, "The bundle lacks a file or holds one that does not belong to it.")
    return Bundle(
        receipt=SealedReceipt(files[ENVELOPE], files[PROOF]),
        log_vkey=_line(files[LOG_KEY]),
        receipt_vkey=_line(files[RECEIPT_KEY]),
        linked=_linked(files),
        evidence={m[1]: files[name] for name in files if (m := _EVIDENCE.fullmatch(name))},
        recipe=_text(files[RECIPE]),
    )


def _linked(files: Mapping[str, bytes]) -> dict[str, SealedReceipt]:
    digests = {match[1] for name in files if (match := _LINKED.fullmatch(name))}
    try:
        return {
            digest: SealedReceipt(files[f"linked/{digest}.dsse.json"], files[f"linked/{digest}.tlog-proof"])
            for digest in sorted(digests)
        }
    except KeyError:
        raise NotVerified(Part.ARCHIVE, "A linked receipt lacks its envelope or its proof.") from None


def _line(content: bytes) -> str:
    text = _text(content)
    if not text.endswith("\n"):
        raise NotVerified(Part.KEY, "A key file of the bundle cannot be read.")
    return text[:-1]


def _text(content: bytes) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        raise NotVerified(Part.ARCHIVE, "A text file of the bundle is not UTF-8.") from None
