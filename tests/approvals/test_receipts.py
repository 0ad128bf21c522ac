from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from pytest_django import Settings

from approvals.ledger import keys
from approvals.ledger.errors import HeadRefused, NotVerified
from approvals.ledger.verify import verify_bundle
from approvals.models import Checkpoint, Leaf, LedgerHead, Plan, Receipt
from approvals.selectors import oldest_unsealed_age, receipts_of, sealed_in
from approvals.services import ledger_check, receipts
from approvals.services.incident_receipt import close_with_receipt
from approvals.services.receipts import seal_due
from foundation.clock import now
from foundation.errors import Conflict, NotFound
from foundation.locks import transaction
from foundation.models import AuditRow
from incidents.models import Incident
from tests.approvals.builders import House, approved, conductor, house

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def key_folder(committing: str, settings: Settings, tmp_path: Path) -> Path:
    """A database of its own, and the keys that only the sealer has."""
    folder = tmp_path / "keys"
    keys.create(folder)
    settings.SPELLBOOK_KEYS_DIR = folder
    return folder


def written(count: int, start: int = 0) -> list[Receipt]:
    found = []
    for number in range(start, start + count):
        with transaction():
            subject = receipts.of_values(f"thing/{number}", {"number": number})
            found.append(receipts.write("checks", f"thing/{number}", {"number": number}, [subject], created_at=now()))
    return found


def vkeys() -> list[str]:
    return [verifier.vkey for verifier in receipts.published_keys()]


def test_a_receipt_waits_until_the_sealer_signs_it_and_then_verifies_offline(key_folder: Path) -> None:
    receipt = written(1)[0]
    assert receipt.envelope is None
    age = oldest_unsealed_age()
    assert age is not None
    assert timedelta(0) <= age < timedelta(minutes=1)
    with pytest.raises(NotFound, match="No receipt was sealed yet"):
        receipts.export(receipt)
    assert seal_due() == 1
    assert oldest_unsealed_age() is None
    receipt.refresh_from_db()
    verified = verify_bundle(receipts.export(receipt), trusted_vkeys=vkeys())
    assert verified.receipt.statement_bytes == bytes(receipt.statement)
    assert verified.receipt.statement["predicate"] == {"number": 0, "environment": "demo"}
    assert verified.receipt.index == 0


def test_any_changed_byte_of_a_bundle_is_refused(key_folder: Path) -> None:
    receipt = written(1)[0]
    seal_due()
    receipt.refresh_from_db()
    bundle = receipts.export(receipt)
    for position in range(0, len(bundle), 37):
        broken = bytearray(bundle)
        broken[position] ^= 1
        with pytest.raises(NotVerified):
            verify_bundle(bytes(broken), trusted_vkeys=vkeys())


def test_without_keys_nothing_is_sealed(committing: str, settings: Settings) -> None:
    settings.SPELLBOOK_KEYS_DIR = None
    written(1)
    assert seal_due() == 0
    assert not Leaf.objects.exists()


def test_the_ledger_is_gapless_over_batches_and_the_whole_holds(key_folder: Path) -> None:
    written(7)
    assert [seal_due(limit=3), seal_due(limit=3), seal_due(limit=3), seal_due(limit=3)] == [3, 3, 1, 0]
    assert list(Leaf.objects.values_list("index", flat=True)) == list(range(7))
    assert list(Checkpoint.objects.order_by("size").values_list("size", flat=True)) == [3, 6, 7]
    assert LedgerHead.objects.get().size == 7
    found = ledger_check.check()
    assert (found.leaves, found.checkpoints, found.unsealed) == (7, 3, 0)
    head = sealed_in(Receipt.objects.get(subject="thing/3"))
    assert head is not None
    assert head.size == 6


def test_two_sealers_at_once_seal_each_receipt_once(key_folder: Path) -> None:
    written(20)
    barrier, errors = threading.Barrier(2), []

    def seal() -> None:
        barrier.wait()
        try:
            for _ in range(10):
                seal_due(limit=3)
        except Exception as error:
            errors.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=seal) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    seal_due()
    assert ledger_check.check().leaves == 20


def test_a_database_restored_from_a_backup_is_not_signed_and_an_alarm_says_why(
    key_folder: Path, committing: str, database_engine: object
) -> None:
    if not committing.startswith("sqlite"):
        pytest.skip("the backup of this test is a copy of the SQLite file")
    written(2)
    seal_due()
    path = Path(committing.removeprefix("sqlite:///"))
    connection.close()
    shutil.copyfile(path, path.with_suffix(".backup"))
    written(2, start=2)
    seal_due()
    connection.close()
    for suffix in ("-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    shutil.copyfile(path.with_suffix(".backup"), path)
    path.with_suffix(".backup").unlink()
    written(3, start=20)
    for _ in range(2):
        with pytest.raises(HeadRefused, match="older than its receipts"):
            seal_due()
    assert Leaf.objects.count() == 2
    assert AuditRow.objects.filter(action="ledger.refused").count() == 1


def test_an_emptied_ledger_is_not_begun_again(key_folder: Path) -> None:
    head = key_folder / "ledger.head"
    written(1)
    seal_due()
    kept = head.read_bytes()
    assert b"note" in kept
    head.unlink()
    written(1, start=1)
    with pytest.raises(HeadRefused, match="gone"):
        seal_due()
    head.write_bytes(kept)
    assert seal_due() == 1


@pytest.mark.parametrize(
    "point", ["seal.after_claim", "seal.before_commit", "seal.after_commit", "seal.before_checkpoint"]
)
def test_a_sealer_killed_anywhere_leaves_what_the_next_one_seals_exactly_once(key_folder: Path, point: str) -> None:
    written(3)
    connection.close()
    killed = subprocess.run(
        [
            sys.executable,
            "-c",
            "import django; django.setup(); from approvals.services.receipts import seal_due; seal_due()",
        ],
        cwd=ROOT,
        env={
            **os.environ,
            "SPELLBOOK_KEYS_DIR": str(key_folder),
            "SPELLBOOK_FAILPOINTS": point,
            "SPELLBOOK_DATA_DIR": str(key_folder.parent / "data"),
        },
        capture_output=True,
        check=False,
    )
    assert killed.returncode == -9, killed.stderr.decode()
    done_before = Leaf.objects.count()
    assert done_before == (0 if point in ("seal.after_claim", "seal.before_commit") else 3)
    assert Checkpoint.objects.count() == 0
    assert seal_due() == 3 - done_before
    assert ledger_check.check().leaves == 3
    assert Checkpoint.objects.get().size == 3
    receipt = Receipt.objects.get(subject="thing/1")
    assert verify_bundle(receipts.export(receipt), trusted_vkeys=vkeys()).receipt.index == 1


def test_a_tampered_row_is_found_by_the_check(key_folder: Path, committing: str) -> None:
    if not committing.startswith("sqlite"):
        pytest.skip("only the owner of the table can take its triggers away on PostgreSQL")
    written(2)
    seal_due()
    with connection.cursor() as cursor:
        cursor.execute("DROP TRIGGER sb_approvals_receipt_sealed_for_good_update")
    Receipt.objects.filter(subject="thing/1").update(envelope=b"{}")
    with pytest.raises(NotVerified):
        ledger_check.check()


def test_an_incident_closes_with_a_receipt_that_lists_those_of_its_plan_and_level(key_folder: Path) -> None:
    built = house()
    plan = ended(built)
    assert close_with_receipt(built.incident.pk, actor=conductor())
    assert not close_with_receipt(built.incident.pk, actor=conductor())
    assert Incident.objects.get().state == "closed"
    seal_due()
    assert {one.type for one in receipts_of(built.incident)} == {"step", "plan", "incident"}
    receipt = Receipt.objects.get(type="incident")
    verified = verify_bundle(receipts.export(receipt), trusted_vkeys=vkeys())
    assert {one.type for one in verified.linked} == {"level", "step", "plan"}
    predicate = verified.receipt.statement["predicate"]
    assert "statement" not in predicate["cause"], "free text may name people; it stays erasable (D15)"
    assert predicate["plans"][0]["plan_digest"] == plan.plan_digest
    assert predicate["plans"][0]["decisions"][0]["principal"] == str(built.approver.principal_id)
    assert predicate["damage"] == [
        {"reader": built.reader.name, "state": "pending", "rows_removed": None, "rows_inserted": None,
         "done_at": None, "repaired_at": None}
    ]  # fmt: skip
    text = bytes(receipt.statement).decode()
    assert not any(person.email in text for person in (built.approver, built.owner, built.stranger))


def ended(built: House) -> Plan:
    """An approved plan that ended as verified, with the receipts of one step and of the plan."""
    plan = approved(built)
    subjects = receipts.plan_subjects(plan)
    with transaction():
        receipts.write("step", f"step/{plan.pk}/1", {"position": 1}, subjects, created_at=now())
        receipts.write("plan", f"plan/{plan.pk}", {"state": "verified"}, subjects, created_at=now())
        Plan.objects.filter(pk=plan.pk).update(state="verified")
    return plan


def test_export_waits_for_every_linked_receipt(key_folder: Path) -> None:
    first = written(1)[0]
    seal_due()
    with transaction():
        linking = receipts.write(
            "plan", "plan/x", {"receipts": receipts.descriptors([first])},
            [receipts.of_values("plan/x", {"a": 1})], created_at=now(),
        )  # fmt: skip
    with pytest.raises(Conflict, match="not sealed into a checkpoint yet"):
        receipts.export(linking)
    seal_due()
    linking.refresh_from_db()
    assert len(verify_bundle(receipts.export(linking), trusted_vkeys=vkeys()).linked) == 1


def test_the_commands_export_check_and_verify(
    key_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    receipt = written(1)[0]
    seal_due()
    bundle = tmp_path / "bundle.zip"
    call_command("ledger", "export", str(receipt.pk), "--out", str(bundle))
    call_command("ledger", "check", "--format", "json")
    call_command("verify_receipt", str(bundle), "--format", "json")
    call_command("verify_receipt", str(bundle), "--key", vkeys()[0], "--key", vkeys()[1])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("Wrote ")
    assert json.loads(lines[1])["leaves"] == 1
    assert json.loads(lines[2])["receipt"]["type"] == "checks"
    assert lines[3].startswith("The checks receipt holds: leaf 0 of ")
    broken = bytearray(bundle.read_bytes())
    broken[200] ^= 1
    bundle.write_bytes(broken)
    with pytest.raises(CommandError):
        call_command("verify_receipt", str(bundle))
    with pytest.raises(CommandError, match="not the id of a receipt"):
        call_command("ledger", "export", "nonsense")
