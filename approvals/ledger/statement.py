"""Receipts as in-toto Statements v1, and the small commitment to a receipt that becomes a leaf of the ledger.

Two lists of a predicate have a meaning here, both of in-toto resource descriptors `{name, digest: {sha256}}`:
`receipts` names other receipts by the digest of their statement's bytes, `evidence` names files by their content's.
A statement links statements, not envelopes, because it is written before the sealer signs the ones that it links.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from approvals.ledger.encoding import strict_json_object
from approvals.ledger.errors import NotVerified, Part
from foundation.canonical import canonical_bytes
from foundation.errors import BadInput

STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
TYPES = frozenset({"step", "plan", "incident", "level", "stop", "grant", "refusal", "checks"})
_PREDICATE_TYPE = re.compile(r"urn:spellbook:receipt:([a-z]+):v1")
_CREATED_AT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")
_SHA256 = re.compile(r"[0-9a-f]{64}")

Descriptor = dict[str, Any]


def predicate_type(receipt_type: str) -> str:
    """The predicate type of a receipt; `BadInput` for a type that does not exist."""
    if receipt_type not in TYPES:
        raise BadInput(f"There is no receipt of type {receipt_type!r}.")
    return f"urn:spellbook:receipt:{receipt_type}:v1"


def resource(name: str, sha256: str) -> Descriptor:
    """A resource descriptor for a subject, a linked receipt or an evidence file; `sha256` is 64 hex digits."""
    if not name or not _SHA256.fullmatch(sha256):
        raise BadInput("A resource needs a name and a SHA-256 of 64 hex digits.")
    return {"name": name, "digest": {"sha256": sha256}}


def commit(name: str, revision: str) -> Descriptor:
    """A resource descriptor for a git commit."""
    if not name or not re.fullmatch(r"[0-9a-f]{40}|[0-9a-f]{64}", revision):
        raise BadInput("A commit is named by its full hash.")
    return {"name": name, "digest": {"gitCommit": revision}}


def statement(receipt_type: str, subjects: Sequence[Mapping[str, Any]], predicate: Mapping[str, Any]) -> bytes:
    """The RFC 8785 bytes of a receipt, ready to be stored and signed as they are.

    `subjects` are descriptors (`resource`, `commit`), at least one; numbers in `predicate` are ints or strings.
    """
    if not subjects or not all(subject.get("name") and subject.get("digest") for subject in subjects):
        raise BadInput("A receipt needs at least one subject with a name and a digest.")
    return canonical_bytes(
        {
            "_type": STATEMENT_TYPE,
            "subject": [dict(subject) for subject in subjects],
            "predicateType": predicate_type(receipt_type),
            "predicate": dict(predicate),
        }
    )


@dataclass(frozen=True)
class Statement:
    """A parsed statement: its receipt type, the whole object, and the digests that it names."""

    type: str
    body: dict[str, Any]
    receipts: tuple[str, ...]
    evidence: tuple[str, ...]


def parse_statement(data: bytes) -> Statement:
    """Read verified statement bytes; `NotVerified` (receipt type or statement) when they are no receipt."""
    try:
        body = strict_json_object(data)
    except ValueError:
        raise NotVerified(Part.STATEMENT, "The signed content is not a JSON object.") from None
    match = _PREDICATE_TYPE.fullmatch(str(body.get("predicateType")))
    if body.get("_type") != STATEMENT_TYPE or match is None or match[1] not in TYPES:
        raise NotVerified(Part.TYPE, "The signed content is not a receipt of a known type.")
    predicate = body.get("predicate")
    if not isinstance(predicate, dict) or not isinstance(body.get("subject"), list) or not body["subject"]:
        raise NotVerified(Part.STATEMENT, "The signed content has no subject or no predicate.")
    return Statement(match[1], body, _digests(predicate, "receipts"), _digests(predicate, "evidence"))


def _digests(predicate: Mapping[str, Any], key: str) -> tuple[str, ...]:
    try:
        found = tuple(item["digest"]["sha256"] for item in predicate.get(key, []))
    except (KeyError, TypeError):
        found = ("",)
    if not all(isinstance(digest, str) and _SHA256.fullmatch(digest) for digest in found):
        raise NotVerified(Part.STATEMENT, f"The receipt's list of {key} cannot be read.")
    return found


def leaf_bytes(receipt_type: str, envelope_sha256: str, created_at: str) -> bytes:
    """The ledger entry for a receipt: RFC 8785 of type, envelope digest and time (as
    `foundation.canonical.timestamp`).
    """
    if not _SHA256.fullmatch(envelope_sha256) or not _CREATED_AT.fullmatch(created_at):
        raise BadInput("A ledger entry needs a SHA-256 and a UTC time with six fraction digits.")
    predicate_type(receipt_type)
    return canonical_bytes({"type": receipt_type, "envelope_sha256": envelope_sha256, "created_at": created_at})
