"""DSSE v1 envelopes (https://github.com/secure-systems-lab/dsse) with Ed25519.

The signature covers the pre-authentication encoding (PAE) of the payload's type and bytes. Envelopes are kept and
passed on as the bytes that were signed and logged; nothing here ever writes an envelope anew from its parts.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from approvals.ledger.encoding import b64, either_b64decode, strict_json_object
from approvals.ledger.errors import NotVerified, Part
from approvals.ledger.note import Signer, Verifier
from foundation.canonical import canonical_bytes

IN_TOTO = "application/vnd.in-toto+json"


def pae(payload_type: str, payload: bytes) -> bytes:
    """`DSSEv1 SP len(type) SP type SP len(body) SP body`, lengths in bytes as ASCII decimals."""
    encoded = payload_type.encode("utf-8")
    return b"DSSEv1 %d %s %d %s" % (len(encoded), encoded, len(payload), payload)


def sign(payload: bytes, signer: Signer, payload_type: str = IN_TOTO) -> bytes:
    """The envelope over `payload` as RFC 8785 bytes, the same for the same payload and key."""
    signature = signer.sign(pae(payload_type, payload))
    return canonical_bytes(
        {
            "payload": b64(payload),
            "payloadType": payload_type,
            "signatures": [{"keyid": signer.verifier.key_id.hex(), "sig": b64(signature)}],
        }
    )


def verify(envelope: bytes, verifiers: Collection[Verifier], payload_type: str = IN_TOTO) -> bytes:
    """The verified payload; use these bytes and never parse the envelope again.

    One good signature of a trusted key is enough; `keyid` is an unauthenticated hint and not looked at. The payload's
    type is compared only after the signature. Raises `NotVerified` naming envelope, envelope signature or receipt
    type.
    """
    found_type, payload, signatures = _parse(envelope)
    message = pae(found_type, payload)
    if not any(verifier.verifies(message, signature) for signature in signatures for verifier in verifiers):
        raise NotVerified(Part.SIGNATURE, "The envelope's signature does not fit its content and the trusted keys.")
    if found_type != payload_type:
        raise NotVerified(Part.TYPE, "The envelope holds something other than an in-toto statement.")
    return payload


def _parse(envelope: bytes) -> tuple[str, bytes, list[bytes]]:
    try:
        fields = strict_json_object(envelope)
        payload_type = fields["payloadType"]
        if not isinstance(payload_type, str):
            raise TypeError
        signatures = [_decoded(item["sig"]) for item in fields["signatures"]]
        return payload_type, _decoded(fields["payload"]), signatures
    except (KeyError, TypeError, ValueError):
        raise NotVerified(Part.ENVELOPE, "The receipt is not a DSSE envelope.") from None


def _decoded(value: Any) -> bytes:
    if not isinstance(value, str):
        raise TypeError
    return either_b64decode(value)
