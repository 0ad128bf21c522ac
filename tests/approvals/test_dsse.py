"""Envelopes and statements: the published encoding, a cross-checked signature, a second verifier, and refusals."""

from __future__ import annotations

import base64
import json

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from hypothesis import given
from hypothesis import strategies as st
from securesystemslib.dsse import Envelope
from securesystemslib.signer._key import SSlibKey

from approvals.ledger import dsse
from approvals.ledger.errors import NotVerified, Part
from approvals.ledger.note import Signer
from approvals.ledger.statement import commit, leaf_bytes, parse_statement, resource, statement
from foundation.errors import BadInput

SIGNER = Signer("example.org/fixture", bytes(range(32)))
BODY = b'{"_type":"https://in-toto.io/Statement/v1"}'
SHA = "ab" * 32


def test_the_encoding_is_the_published_one() -> None:
    assert dsse.pae("http://example.com/HelloWorld", b"hello world") == (
        b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"
    )
    assert dsse.pae("ü", "ü€".encode()) == "DSSEv1 2 ü 5 ü€".encode()


def test_the_signature_is_the_cross_checked_one() -> None:
    envelope = json.loads(dsse.sign(BODY, SIGNER))
    assert envelope["signatures"][0]["sig"] == (
        "Fo6jOXP9gw1yxFFqcxT3OROGg9MHJ9G2Ps2yCG4lrdJS8Yli9xdH78rzsGRdX7vN0BvZnteNGPg9F79CG51UDQ=="
    )
    assert dsse.verify(dsse.sign(BODY, SIGNER), [SIGNER.verifier]) == BODY


@given(st.binary(max_size=200))
def test_a_second_verifier_agrees(payload: bytes) -> None:
    fields = json.loads(dsse.sign(payload, SIGNER))
    keyid = fields["signatures"][0]["keyid"]
    public = Ed25519PublicKey.from_public_bytes(SIGNER.verifier.public_key)
    key = SSlibKey.from_crypto(public, keyid=keyid)
    assert Envelope.from_dict(fields).verify([key], 1) == {keyid: key}
    assert dsse.verify(dsse.sign(payload, SIGNER), [SIGNER.verifier]) == payload


def test_an_envelope_of_the_second_signer_verifies_here_with_either_alphabet() -> None:
    payload = b"\xfb\xff\xfe" * 5
    signature = SIGNER.sign(dsse.pae(dsse.IN_TOTO, payload))
    for encode in (base64.standard_b64encode, base64.urlsafe_b64encode):
        envelope = {
            "payload": encode(payload).decode(),
            "payloadType": dsse.IN_TOTO,
            "signatures": [{"sig": encode(signature).decode()}],
        }
        assert dsse.verify(json.dumps(envelope).encode(), [SIGNER.verifier]) == payload


def test_a_wrong_key_or_changed_payload_breaks_the_signature_before_the_type_is_looked_at() -> None:
    other = Signer("example.org/fixture", bytes(32))
    for envelope in (dsse.sign(BODY, other), dsse.sign(BODY, other, "text/plain")):
        with pytest.raises(NotVerified) as refused:
            dsse.verify(envelope, [SIGNER.verifier])
        assert refused.value.part is Part.SIGNATURE


def test_a_wrong_type_is_refused_after_the_signature() -> None:
    with pytest.raises(NotVerified) as refused:
        dsse.verify(dsse.sign(BODY, SIGNER, "text/plain"), [SIGNER.verifier])
    assert refused.value.part is Part.TYPE


def test_the_key_id_is_only_a_hint() -> None:
    fields = json.loads(dsse.sign(BODY, SIGNER))
    fields["signatures"][0]["keyid"] = "somebody else"
    assert dsse.verify(json.dumps(fields).encode(), [SIGNER.verifier]) == BODY


@pytest.mark.parametrize(
    "data",
    [b"", b"[]", b"{}", b"\xff", b'{"payload":"QQ==","payloadType":"a","signatures":{}}', b"[" * 100_000,
     b'{"payload":"QQ==","payloadType":1,"signatures":[]}', b'{"payload":"QR==","payloadType":"a","signatures":[]}',
     b'{"payload":"Q Q==","payloadType":"a","signatures":[]}', b'{"payload":"-+==","payloadType":"a","signatures":[]}',
     b'{"payload":"QQ==","payload":"QQ==","payloadType":"a","signatures":[]}'],
)  # fmt: skip
def test_what_is_no_envelope_is_refused(data: bytes) -> None:
    with pytest.raises(NotVerified) as refused:
        dsse.verify(data, [SIGNER.verifier])
    assert refused.value.part in (Part.ENVELOPE, Part.SIGNATURE)


def test_no_signature_is_no_proof() -> None:
    with pytest.raises(NotVerified) as refused:
        dsse.verify(b'{"payload":"QQ==","payloadType":"a","signatures":[]}', [SIGNER.verifier])
    assert refused.value.part is Part.SIGNATURE


def test_a_statement_is_canonical_and_reads_back() -> None:
    body = statement(
        "incident",
        [resource("incident/7", SHA), commit("repository", "c" * 40)],
        {"rows": "10950000", "receipts": [resource("plan/3", SHA)], "evidence": [resource("manifest", "cd" * 32)]},
    )
    assert body.startswith(b'{"_type":"https://in-toto.io/Statement/v1","predicate":{"evidence":[')
    parsed = parse_statement(body)
    assert (parsed.type, parsed.receipts, parsed.evidence) == ("incident", (SHA,), ("cd" * 32,))
    assert parsed.body["predicateType"] == "urn:spellbook:receipt:incident:v1"


def test_a_bad_statement_is_never_written() -> None:
    for kind, subjects, predicate in (
        ("party", [resource("a", SHA)], {}),
        ("plan", [], {}),
        ("plan", [{"name": "a"}], {}),
        ("plan", [resource("a", SHA)], {"ratio": 0.5}),
    ):
        with pytest.raises(BadInput):
            statement(kind, subjects, predicate)
    for name, sha256 in (("a", "AB" * 32), ("", SHA)):
        with pytest.raises(BadInput):
            resource(name, sha256)
    with pytest.raises(BadInput):
        commit("a", "main")


@pytest.mark.parametrize(
    ("data", "part"),
    [
        (b"nonsense", Part.STATEMENT),
        (b'{"_type":"https://in-toto.io/Statement/v1"}', Part.TYPE),
        (b'{"_type":"x","predicateType":"urn:spellbook:receipt:plan:v1"}', Part.TYPE),
        (b'{"_type":"https://in-toto.io/Statement/v1","predicateType":"urn:spellbook:receipt:party:v1"}', Part.TYPE),
        (
            b'{"_type":"https://in-toto.io/Statement/v1","predicateType":"urn:spellbook:receipt:plan:v1"}',
            Part.STATEMENT,
        ),
        (
            b'{"_type":"https://in-toto.io/Statement/v1","predicateType":"urn:spellbook:receipt:plan:v1",'
            b'"subject":[{}],"predicate":{"receipts":["x"]}}',
            Part.STATEMENT,
        ),
    ],
)
def test_signed_content_that_is_no_receipt_is_refused(data: bytes, part: Part) -> None:
    with pytest.raises(NotVerified) as refused:
        parse_statement(data)
    assert refused.value.part is part


def test_the_leaf_is_small_and_canonical() -> None:
    assert leaf_bytes("step", SHA, "2026-01-02T03:04:05.000006Z") == (
        b'{"created_at":"2026-01-02T03:04:05.000006Z","envelope_sha256":"' + SHA.encode() + b'","type":"step"}'
    )
    for args in (("step", SHA, "2026-01-02"), ("step", "x", "2026-01-02T03:04:05.000006Z"),
                 ("x", SHA, "2026-01-02T03:04:05.000006Z")):  # fmt: skip
        with pytest.raises(BadInput):
            leaf_bytes(*args)
