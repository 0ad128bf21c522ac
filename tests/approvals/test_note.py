"""Signed notes, verifier keys, checkpoints and tlog-proofs against published and cross-checked examples."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from approvals.ledger import keys, tlog_proof
from approvals.ledger.errors import HeadRefused, NotVerified, Part
from approvals.ledger.head_file import Head, HeadFile
from approvals.ledger.merkle import Tree, leaf_hash
from approvals.ledger.note import (
    Checkpoint,
    Signer,
    Verifier,
    open_checkpoint,
    open_note,
    parse_checkpoint,
    parse_vkey,
    sign_checkpoint,
    sign_note,
)
from foundation.errors import BadInput, Unavailable
from tests.approvals.test_merkle import LEAVES

# This text was opened by Go's golang.org/x/mod/sumdb/note with the vkey below.
FIXTURE_NOTE = """example.org/fixture
8
XcnaeacGWamtVZy3Ad7ZoqudgjqtL0lgz+Nw7/RgQyg=

— example.org/fixture qLz24zyGV3ZYjf49DwKTYP8c7Db8XxdI2wl1SeOxKzMiPPzEPl7LMWZHmjajAdlSjsOH2Xn0swT7Tz091PRPzrzjyQs=
"""
FIXTURE_VKEY = "example.org/fixture+a8bcf6e3+AQOhB7/zzhC+HXDdGOdLwJln5NYwm6UNXx3chmQSVTG4"
SPEC_VKEY = "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k"
SIGNER = Signer("example.org/fixture", bytes(range(32)))


def test_the_fixture_opens_and_is_what_we_would_sign_ourselves() -> None:
    checkpoint = open_checkpoint(FIXTURE_NOTE.encode(), [parse_vkey(FIXTURE_VKEY)])
    assert checkpoint == Checkpoint("example.org/fixture", 8, Tree(LEAVES).root())
    assert sign_checkpoint(checkpoint, SIGNER) == FIXTURE_NOTE
    assert SIGNER.verifier.vkey == FIXTURE_VKEY


def test_a_vkey_whose_base64_holds_a_plus_is_split_at_the_first_two_only() -> None:
    assert parse_vkey(SPEC_VKEY).vkey == SPEC_VKEY
    key = Verifier("example.org/plus", b"\xfb\xef" * 16)
    assert "+" in key.vkey.split("+", 2)[2]
    assert parse_vkey(key.vkey) == key


@pytest.mark.parametrize(
    "text",
    ["", "name", "name+00000000+AQOh", SPEC_VKEY.replace("530d", "530e"), SPEC_VKEY.replace("foo", "fop"),
     SPEC_VKEY.replace("+Aeky", "+Beky"), "a b" + SPEC_VKEY, SPEC_VKEY + "=", "+530d903a+AekyeRrm"],
)  # fmt: skip
def test_a_malformed_vkey_is_one_clear_error(text: str) -> None:
    with pytest.raises(BadInput):
        parse_vkey(text)


def test_every_single_bit_of_the_fixture_matters() -> None:
    data, verifiers = FIXTURE_NOTE.encode(), [parse_vkey(FIXTURE_VKEY)]
    for place in range(len(data)):
        for bit in range(8):
            changed = bytearray(data)
            changed[place] ^= 1 << bit
            with pytest.raises(NotVerified):
                open_checkpoint(bytes(changed), verifiers)


def test_signatures_of_unknown_keys_are_ignored_and_a_bad_one_of_a_known_key_refuses_the_note() -> None:
    witness = Signer("witness.example", bytes(32))
    both = sign_checkpoint(parse_checkpoint(FIXTURE_NOTE.partition("\n\n")[0] + "\n"), SIGNER, witness)
    assert open_checkpoint(both.encode(), [SIGNER.verifier]).size == 8
    forged = FIXTURE_NOTE + sign_note("other\n", witness).split("\n\n")[1]
    assert open_checkpoint(forged.encode(), [SIGNER.verifier]).size == 8
    with pytest.raises(NotVerified) as refused:
        open_checkpoint(forged.encode(), [SIGNER.verifier, witness.verifier])
    assert refused.value.part is Part.CHECKPOINT_SIGNATURE


def test_a_witness_alone_does_not_make_a_checkpoint() -> None:
    witness = Signer("witness.example", bytes(32))
    note = sign_note(Checkpoint("example.org/fixture", 8, bytes(32)).text(), witness)
    with pytest.raises(NotVerified, match="own log"):
        open_checkpoint(note.encode(), [SIGNER.verifier, witness.verifier])
    with pytest.raises(BadInput):
        sign_checkpoint(Checkpoint("example.org/fixture", 8, bytes(32)), witness)


def test_a_note_may_hold_empty_lines_and_other_scripts() -> None:
    text = "ein Text\n\nmit Lücke — und Strich\n"
    assert open_note(sign_note(text, SIGNER).encode(), [SIGNER.verifier])[0] == text


@pytest.mark.parametrize(
    "data",
    [b"", b"\n\n", b"text\n", b"text\n\n", b"text\n\n\xe2\x80\x94 name\n", b"text\n\n\xff\n",
     b"te\rxt\n\n\xe2\x80\x94 n QUFBQUE=\n",
     b"text\n\n\xe2\x80\x94 n QUFBQUE\n", b"text\n\n" + b"\xe2\x80\x94 n QUFBQUE=\n" * 101, b"x" * 1_000_001],
)  # fmt: skip
def test_a_malformed_note_is_refused(data: bytes) -> None:
    with pytest.raises(NotVerified):
        open_note(data, [SIGNER.verifier])


@pytest.mark.parametrize(
    "text",
    ["o\n8\n", "o\n08\nAAAA\n", "o\n-1\nAAAA\n", "\n8\nAAAA\n", "o\n8\nAAAA\n", "o\n8\nAAAA",
     "o\n8\n" + base64.b64encode(bytes(32)).decode() + "\nextension\n"],
)  # fmt: skip
def test_a_malformed_checkpoint_is_refused(text: str) -> None:
    with pytest.raises(NotVerified) as refused:
        parse_checkpoint(text)
    assert refused.value.part is Part.CHECKPOINT


def test_a_proof_reads_back_as_it_was_written() -> None:
    path = Tree(LEAVES).inclusion(5)
    for extra in (b"leaf", b"", None):
        proof = tlog_proof.parse(tlog_proof.render(5, path, FIXTURE_NOTE, extra))
        assert proof == tlog_proof.TlogProof(5, tuple(path), FIXTURE_NOTE, extra)
    assert tlog_proof.render(0, [], "checkpoint\n") == b"c2sp.org/tlog-proof@v1\nindex 0\n\ncheckpoint\n"


@pytest.mark.parametrize(
    "data",
    [b"", b"c2sp.org/tlog-proof@v1\n", b"c2sp.org/tlog-proof@v2\nindex 0\n\nx\n", b"c2sp.org/tlog-proof@v1\n\nx\n",
     b"c2sp.org/tlog-proof@v1\nindex 00\n\nx\n", b"c2sp.org/tlog-proof@v1\nindex x\n\nx\n",
     b"c2sp.org/tlog-proof@v1\nextra !!\nindex 0\n\nx\n", b"c2sp.org/tlog-proof@v1\nindex 0\nQUFB\n\nx\n", b"\xff"],
)  # fmt: skip
def test_a_malformed_proof_is_refused(data: bytes) -> None:
    with pytest.raises(NotVerified) as refused:
        tlog_proof.parse(data)
    assert refused.value.part is Part.PROOF


def test_keys_are_made_private_once_and_loaded(tmp_path: Path) -> None:
    keys.create(tmp_path / "keys")
    first = keys.load(tmp_path / "keys", "ledger.example")
    keys.create(tmp_path / "keys")
    assert keys.load(tmp_path / "keys", "ledger.example") == first
    assert [key.name for key in first.verifiers] == ["ledger.example/receipts", "ledger.example"]
    assert [parse_vkey(vkey) for vkey in first.vkeys] == list(first.verifiers)
    assert sorted(path.name for path in (tmp_path / "keys").iterdir()) == ["checkpoint.key", "receipt.key"]
    assert all(path.stat().st_mode & 0o077 == 0 for path in (tmp_path / "keys").iterdir())
    assert first.receipt.seed.hex() not in repr(first)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o602])
def test_a_key_file_that_others_can_touch_is_refused(tmp_path: Path, mode: int) -> None:
    keys.create(tmp_path)
    (tmp_path / "receipt.key").chmod(mode)
    with pytest.raises(BadInput, match="0600"):
        keys.load(tmp_path, "ledger.example")


def test_missing_malformed_or_equal_keys_are_refused_without_showing_them(tmp_path: Path) -> None:
    with pytest.raises(Unavailable):
        keys.load(tmp_path, "ledger.example")
    keys.create(tmp_path)
    seed = (tmp_path / "receipt.key").read_text()
    (tmp_path / "checkpoint.key").write_text(seed)
    with pytest.raises(BadInput, match="same"):
        keys.load(tmp_path, "ledger.example")
    (tmp_path / "checkpoint.key").write_text(seed[:40])
    with pytest.raises(BadInput, match="64 hex") as refused:
        keys.load(tmp_path, "ledger.example")
    assert seed[:16] not in str(refused.value)
    with pytest.raises(BadInput, match="origin"):
        keys.load(tmp_path, "with blank")


def leaves(count: int, salt: bytes = b"") -> Tree:
    return Tree(leaf_hash(salt + bytes([n])) for n in range(count))


@pytest.fixture
def head_file(tmp_path: Path) -> HeadFile:
    return HeadFile(tmp_path / "outside" / "head.json", SIGNER)


def test_heads_grow_and_the_last_one_is_remembered(head_file: HeadFile) -> None:
    assert head_file.read() is None
    for size in (1, 2, 2, 7):
        head = head_file.advance(leaves(size), stored_size=0 if size == 1 else 1)
        assert head_file.read() == head
        assert open_checkpoint(head.note.encode(), [SIGNER.verifier]).root == leaves(size).root()


def test_signing_again_after_a_crash_gives_the_same_bytes(head_file: HeadFile) -> None:
    assert head_file.advance(leaves(3), stored_size=0) == head_file.advance(leaves(3), stored_size=0)


def test_a_restored_database_is_not_signed_below_its_last_head(head_file: HeadFile) -> None:
    head_file.advance(leaves(5), stored_size=0)
    with pytest.raises(HeadRefused, match="older"):
        head_file.advance(leaves(4), stored_size=4)
    with pytest.raises(HeadRefused, match="older"):
        head_file.advance(leaves(6), stored_size=7)


def test_another_history_of_the_same_or_a_greater_length_is_not_signed(head_file: HeadFile) -> None:
    head_file.advance(leaves(5), stored_size=0)
    before = head_file.path.read_bytes()
    for size in (5, 6, 9):
        with pytest.raises(HeadRefused, match="contradict"):
            head_file.advance(leaves(size, b"forked"), stored_size=5)
    assert head_file.path.read_bytes() == before


def test_a_lost_damaged_or_foreign_head_file_stops_the_signing(head_file: HeadFile) -> None:
    with pytest.raises(HeadRefused, match="gone"):
        head_file.advance(leaves(5), stored_size=4)
    head = head_file.advance(leaves(5), stored_size=0)
    whole = head_file.path.read_bytes()
    for damaged in (b"", b"{}", whole[:-5], whole.replace(b'"size": 5', b'"size": 4')):
        head_file.path.write_bytes(damaged)
        with pytest.raises(HeadRefused):
            head_file.advance(leaves(6), stored_size=5)
    head_file.path.write_bytes(whole)
    other = Signer("example.org/other", bytes(32))
    with pytest.raises(HeadRefused):
        HeadFile(head_file.path, other).advance(leaves(6), stored_size=5)
    with pytest.raises(HeadRefused, match="does not belong"):
        head_file.check(5, bytes(32), leaves(5), stored_size=5)
    assert head_file.read() == Head(5, leaves(5).root(), head.note)


def test_an_empty_ledger_has_no_head(head_file: HeadFile) -> None:
    with pytest.raises(HeadRefused):
        head_file.advance(leaves(0), stored_size=0)
