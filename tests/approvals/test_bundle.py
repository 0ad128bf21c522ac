"""An exported bundle holds for anybody with the published keys, and breaks at the first changed byte."""

from __future__ import annotations

import hashlib
import io
import json
import re
import shutil
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from approvals.ledger import archive, dsse, tlog_proof
from approvals.ledger.bundle import SealedReceipt, export
from approvals.ledger.errors import NotVerified, Part
from approvals.ledger.merkle import Tree, leaf_hash
from approvals.ledger.note import Checkpoint, Signer, sign_checkpoint
from approvals.ledger.recipe import VERIFY_MD
from approvals.ledger.statement import leaf_bytes, resource, statement
from approvals.ledger.verify import Verified, verify_bundle
from foundation.errors import BadInput, NotFound
from tests.approvals.ledger_fixtures import CREATED_AT, KEYS, ORIGIN, ledger

SUBJECT = [resource("change/1", "ab" * 32)]
EVIDENCE = b'{"rows":"4490000"}'
EVIDENCE_SHA = hashlib.sha256(EVIDENCE).hexdigest()


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


STEP = statement("step", SUBJECT, {"outcome": "done", "evidence": [resource("run", EVIDENCE_SHA)]})
PLAN = statement("plan", SUBJECT, {"receipts": [resource("step/1", sha(STEP))]})
INCIDENT = statement(
    "incident",
    SUBJECT,
    {"environment": "demo", "receipts": [resource("plan/1", sha(PLAN))], "evidence": [resource("gone", "ee" * 32)]},
)


@pytest.fixture(scope="module")
def whole() -> bytes:
    step, plan, incident = ledger([STEP, PLAN, INCIDENT], padding=2)
    return export(
        incident,
        log_key=KEYS.checkpoint.verifier,
        receipt_key=KEYS.receipt.verifier,
        linked={sha(STEP): step, sha(PLAN): plan},
        evidence=[EVIDENCE],
    )


@pytest.fixture(scope="module")
def small() -> bytes:
    (sealed,) = ledger([statement("step", SUBJECT, {})])
    return export(sealed, log_key=KEYS.checkpoint.verifier, receipt_key=KEYS.receipt.verifier)


def verified(data: bytes | Path) -> Verified:
    return verify_bundle(data, trusted_vkeys=KEYS.vkeys)


def repacked(data: bytes, **changed: Callable[[bytes], bytes]) -> bytes:
    """The archive again, properly framed, with the content of some files (by a part of their name) changed."""
    files = archive.unpack(data)
    for name in list(files):
        for part, change in changed.items():
            if part in name:
                files[name] = change(files[name])
    return archive.pack(files)


def refused_part(data: bytes) -> Part:
    with pytest.raises(NotVerified) as refused:
        verified(data)
    assert str(refused.value).endswith(".")
    return refused.value.part


def test_a_whole_bundle_holds_and_says_what_it_proves(whole: bytes, tmp_path: Path) -> None:
    (tmp_path / "receipt.zip").write_bytes(whole)
    result = verified(tmp_path / "receipt.zip")
    assert result == verified(whole)
    assert result.receipt.type == "incident"
    assert result.receipt.statement_bytes == INCIDENT
    assert (result.receipt.index, result.receipt.checkpoint.size, result.receipt.checkpoint.origin) == (4, 5, ORIGIN)
    assert result.receipt.created_at == CREATED_AT
    assert [item.type for item in result.linked] == ["plan", "step"]
    assert result.evidence == (EVIDENCE_SHA,)
    assert result.absent_evidence == ("ee" * 32,)


def test_the_same_parts_give_the_same_archive_and_any_unzip_reads_it(whole: bytes) -> None:
    files = archive.unpack(whole)
    assert archive.pack(dict(reversed(files.items()))) == whole
    with zipfile.ZipFile(io.BytesIO(whole)) as opened:
        assert opened.testzip() is None
        assert opened.namelist() == sorted(files)


def test_a_bundle_with_any_one_byte_changed_is_refused(small: bytes) -> None:
    for place in range(len(small)):
        changed = bytearray(small)
        changed[place] ^= 0x01 << place % 8
        with pytest.raises(NotVerified):
            verified(bytes(changed))


def test_every_byte_of_every_file_is_bound_even_when_the_archive_is_made_anew(whole: bytes) -> None:
    """A check sum of the archive protects against accidents only; an attacker makes a new one."""
    files = archive.unpack(whole)
    for name, content in files.items():
        step = 2 if len(content) < 1000 else 9
        for place in range(0, len(content), step):
            for bit in (0x01, 0x20):
                changed = bytearray(content)
                changed[place] ^= bit
                with pytest.raises(NotVerified):
                    verified(archive.pack({**files, name: bytes(changed)}))


def test_bytes_added_taken_or_moved_are_refused(small: bytes) -> None:
    for data in (small + b"x", b"x" + small, small[:-1], small[1:], b"", b"PK", small * 2):
        assert refused_part(data) is Part.ARCHIVE


def test_a_file_that_does_not_belong_or_is_missing_is_refused(small: bytes) -> None:
    files = archive.unpack(small)
    assert refused_part(archive.pack({**files, "note.txt": b"hello"})) is Part.ARCHIVE
    assert refused_part(archive.pack({**files, "evidence/readme": b"hello"})) is Part.ARCHIVE
    for name in files:
        assert refused_part(archive.pack({key: value for key, value in files.items() if key != name})) is Part.ARCHIVE
    with pytest.raises(ValueError, match="name"):
        archive.pack({"../escape": b""})


def test_a_compressed_or_doubled_entry_is_refused(small: bytes) -> None:
    files = archive.unpack(small)
    for compression, names in ((zipfile.ZIP_DEFLATED, list(files)), (zipfile.ZIP_STORED, [*files, "VERIFY.md"])):
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", compression) as writer:
            for name in names:
                if name not in writer.namelist():
                    writer.writestr(name, files[name])
                else:
                    with pytest.warns(UserWarning, match="Duplicate"):
                        writer.writestr(name, files[name])
        assert refused_part(buffer.getvalue()) is Part.ARCHIVE


def test_the_error_names_the_part_that_broke(whole: bytes) -> None:
    def other_payload(content: bytes) -> bytes:
        fields = json.loads(content)
        fields["payload"] = fields["payload"][:-8] + "AAAAAAAA"
        return json.dumps(fields).encode()

    def next_index(content: bytes) -> bytes:
        return content.replace(b"index 4", b"index 3")

    def other_root(content: bytes) -> bytes:
        return content.replace(b"\n5\n", b"\n6\n")

    assert refused_part(repacked(whole, **{"receipt.dsse": other_payload})) is Part.SIGNATURE
    assert refused_part(repacked(whole, **{"receipt.dsse": lambda content: content + b" "})) is Part.LEAF
    assert refused_part(repacked(whole, **{"receipt.tlog": next_index})) is Part.INCLUSION
    assert refused_part(repacked(whole, **{"receipt.tlog": other_root})) is Part.CHECKPOINT_SIGNATURE
    assert refused_part(repacked(whole, **{"receipt.tlog": lambda content: b"x" + content})) is Part.PROOF
    assert refused_part(repacked(whole, evidence=lambda content: content + b" ")) is Part.EVIDENCE
    assert refused_part(repacked(whole, VERIFY=lambda content: content + b" ")) is Part.RECIPE
    assert refused_part(repacked(whole, **{"log.vkey": lambda content: content + b"\n"})) is Part.KEY


def test_a_receipt_of_another_kind_of_content_is_refused() -> None:
    (sealed,) = ledger([statement("step", SUBJECT, {})])
    for envelope, part in (
        (dsse.sign(b"{}", KEYS.receipt), Part.TYPE),
        (dsse.sign(STEP, KEYS.receipt, "text/plain"), Part.TYPE),
        (dsse.sign(STEP, KEYS.checkpoint), Part.SIGNATURE),
        (b"{}", Part.ENVELOPE),
        (dsse.sign(PLAN, KEYS.receipt), Part.LEAF),
    ):
        assert refused_part(exported(SealedReceipt(envelope, sealed.proof))) is part


def exported(sealed: SealedReceipt, **parts: object) -> bytes:
    return export(sealed, log_key=KEYS.checkpoint.verifier, receipt_key=KEYS.receipt.verifier, **parts)  # type: ignore[arg-type]


def test_a_leaf_of_another_type_or_without_its_content_is_refused() -> None:
    envelope = dsse.sign(STEP, KEYS.receipt)
    for leaf in (leaf_bytes("plan", sha(envelope), CREATED_AT), None, b"", b"{}", b"nonsense"):
        tree = Tree([leaf_hash(leaf or b"")])
        note = sign_checkpoint(Checkpoint(ORIGIN, 1, tree.root()), KEYS.checkpoint)
        sealed = SealedReceipt(envelope, tlog_proof.render(0, [], note, leaf))
        assert refused_part(exported(sealed)) is Part.LEAF


def test_a_linked_receipt_that_is_missing_foreign_or_unnamed_is_refused(whole: bytes) -> None:
    step, plan, incident = ledger([STEP, PLAN, INCIDENT])
    both = {sha(STEP): step, sha(PLAN): plan}
    assert verified(exported(incident, linked=both)).absent_evidence == tuple(sorted(["ee" * 32, EVIDENCE_SHA]))
    for linked in ({}, {sha(PLAN): plan}, {sha(PLAN): plan, sha(STEP): plan}, {**both, "aa" * 32: step}):
        assert refused_part(exported(incident, linked=linked)) is Part.LINKED


def test_evidence_that_no_receipt_names_is_refused(small: bytes) -> None:
    files = archive.unpack(small)
    assert refused_part(archive.pack({**files, f"evidence/{EVIDENCE_SHA}": EVIDENCE})) is Part.EVIDENCE


def test_two_histories_of_one_length_in_one_bundle_are_refused() -> None:
    step, plan = ledger([STEP, PLAN])
    forked, _ = ledger([STEP, STEP])
    assert verified(exported(plan, linked={sha(STEP): step})).receipt.type == "plan"
    assert refused_part(exported(plan, linked={sha(STEP): forked})) is Part.CHECKPOINT


def test_only_published_keys_in_their_own_roles_are_trusted(small: bytes) -> None:
    receipt, log = KEYS.vkeys
    stranger = Signer(ORIGIN, bytes(32)).verifier.vkey
    for trusted in ([], [receipt], [log], [receipt, stranger]):
        with pytest.raises(NotVerified) as refused:
            verify_bundle(small, trusted_vkeys=trusted)
        assert refused.value.part is Part.KEY
    assert verify_bundle(small, trusted_vkeys=[stranger, log, receipt]).receipt.type == "step"
    with pytest.raises(BadInput):
        verify_bundle(small, trusted_vkeys=["nonsense"])
    swapped = repacked(small, **{"log.vkey": lambda _: f"{receipt}\n".encode()})
    assert refused_part(swapped) is Part.KEY


def test_a_path_that_cannot_be_read_is_one_sentence(tmp_path: Path) -> None:
    for path in (tmp_path / "missing.zip", tmp_path):
        with pytest.raises(NotFound):
            verified(path)


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")
@pytest.mark.parametrize("padding", [0, 1, 2, 6])
def test_the_printed_recipe_checks_the_bundle_with_openssl_alone(tmp_path: Path, padding: int) -> None:
    step, plan = ledger([STEP, PLAN], padding)
    data = exported(plan, linked={sha(STEP): step})
    with zipfile.ZipFile(io.BytesIO(data)) as opened:
        opened.extractall(tmp_path)
    script = "\n".join(re.findall(r"```sh\n(.*?)```", VERIFY_MD, re.DOTALL))
    good = run_recipe(script, tmp_path)
    assert good.count("Signature Verified Successfully") == 2
    assert good.rstrip().endswith("In the ledger")
    assert "another receipt" not in good

    proof = tmp_path / "receipt.tlog-proof"
    content = proof.read_text()
    proof.write_text(content.replace("extra ey", "extra eX", 1))
    bad = run_recipe(script, tmp_path)
    assert "another receipt" in bad or "Not in the ledger" in bad
    proof.write_text(content)
    envelope = tmp_path / "receipt.dsse.json"
    envelope.write_text(envelope.read_text().replace('"sig":"', '"sig":"AAAA'))
    assert "another receipt" in run_recipe(script, tmp_path)


def run_recipe(script: str, folder: Path) -> str:
    shell = shutil.which("dash") or "sh"
    done = subprocess.run([shell, "-c", script], cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    return done.stdout + done.stderr
