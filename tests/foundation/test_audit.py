from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal
from uuid import uuid4

import pytest
from django.db import IntegrityError, OperationalError, ProgrammingError, connection, transaction
from django.db.models import Model

from foundation import audit, people
from foundation.audit import Actor, record
from foundation.canonical import canonical_bytes, sha256_hex
from foundation.errors import BadInput
from foundation.models import AuditDetail, AuditRow, PrincipalName
from tests.engines import chosen
from tests.foundation.cast import DONE, PLAIN, actor, at_once, person

pytestmark = pytest.mark.django_db


def done(what: str | int | None = "the thing", by: Actor | None = None) -> AuditRow:
    return record(by or actor(), DONE, ("thing", "1"), facts={"what": what})


def test_a_row_commits_to_name_and_details_without_holding_them() -> None:
    ada = person("Ada Owner")
    row = done("a private note", Actor(ada.principal, "web"))
    named, detail = PrincipalName.objects.get(principal=ada.principal), AuditDetail.objects.get(audit=row)
    assert row.name_commitment == sha256_hex(bytes(named.salt) + b"Ada Owner")
    assert row.detail_sha256 == sha256_hex(bytes(detail.salt) + canonical_bytes({"facts": {"what": "a private note"}}))
    text = json.dumps(list(AuditRow.objects.filter(pk=row.pk).values()), default=str)
    assert "Ada" not in text
    assert "private" not in text
    assert audit.sentence(row) == "did a private note"
    assert audit.intact(AuditRow.objects.get(pk=row.pk)) is True


def test_the_sentence_says_when_its_details_are_gone_or_unknown() -> None:
    row = done()
    assert audit.sentence(done(None)) == "did unknown"
    AuditDetail.objects.filter(audit=row).delete()
    row = AuditRow.objects.get(pk=row.pk)
    assert audit.sentence(row) == "details erased"
    assert audit.intact(row) is None
    assert audit.sentence(record(actor(), PLAIN, ("thing", "1"))) == "did it"


def test_a_side_row_that_was_put_in_its_place_is_noticed() -> None:
    row = done("the truth")
    AuditDetail.objects.filter(audit=row).delete()
    AuditDetail.objects.create(audit=row, salt=b"0" * 32, body={"facts": {"what": "a lie"}})
    assert audit.intact(AuditRow.objects.get(pk=row.pk)) is False


def test_a_row_needs_a_transaction(committing: str) -> None:
    by = actor()
    with pytest.raises(RuntimeError):
        record(by, PLAIN, ("thing", "1"))


def test_a_row_goes_with_its_transaction(committing: str) -> None:
    by = actor()
    with transaction.atomic():
        record(by, PLAIN, ("thing", "1"))
        transaction.set_rollback(True)
    assert not AuditRow.objects.exists()


def test_before_and_after_become_json() -> None:
    moment, number = datetime(2026, 1, 1, tzinfo=UTC), uuid4()
    row = record(
        actor(), PLAIN, person(), before={"at": moment, "n": Decimal("1.50")}, after=[number, "a\0b"], refused=True
    )
    body = AuditDetail.objects.get(audit=row).body
    assert body == {"before": {"at": "2026-01-01T00:00:00.000000Z", "n": "1.50"}, "after": [str(number), "a\ufffdb"]}
    assert audit.intact(AuditRow.objects.get(pk=row.pk)) is True
    assert row.refused
    assert row.target_type == "foundation.person"


def test_a_float_is_refused() -> None:
    with pytest.raises(BadInput), transaction.atomic():
        record(actor(), PLAIN, ("thing", "1"), after={"share": 0.5})
    assert not AuditRow.objects.filter(action=PLAIN).exists()


def test_every_field_of_the_sentence_must_be_given() -> None:
    with pytest.raises(ValueError, match="what"):
        record(actor(), DONE, ("thing", "1"))


def test_an_action_is_registered_once() -> None:
    assert audit.register(DONE, "Test done", "did {what}") == DONE
    with pytest.raises(ValueError, match=r"test\.done"):
        audit.register(DONE, "Something else", "")
    assert audit.actions()[DONE].label == "Test done"


def test_a_timeline_is_told_in_its_order() -> None:
    story = uuid4()
    by = Actor(people.system("tester"), "timer", story)
    rows = [done(number, by) for number in range(3)] + [record(actor(), PLAIN, ("x", "1"), correlation_id=story)]
    done("elsewhere")
    assert list(audit.timeline(story)) == rows


def test_an_unknown_source_is_refused() -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        done(by=actor("telepathy"))


CHANGES = [
    "UPDATE foundation_auditrow SET refused = NOT refused",
    "UPDATE foundation_auditrow SET id = id",
    "DELETE FROM foundation_auditrow",
    "UPDATE foundation_auditdetail SET body = '{}'",
]
REPLACES = [
    "INSERT OR REPLACE INTO foundation_auditrow SELECT * FROM foundation_auditrow",
    "INSERT INTO foundation_auditrow SELECT * FROM foundation_auditrow WHERE 1 ON CONFLICT DO UPDATE SET refused = 1",
]
UPSERTS = [
    "INSERT INTO foundation_auditrow SELECT * FROM foundation_auditrow ON CONFLICT (id) DO UPDATE SET refused = true",
    "TRUNCATE foundation_auditrow CASCADE",
]
ATTACKS = CHANGES + (REPLACES if chosen() == "sqlite" else UPSERTS)


@pytest.mark.parametrize("statement", ATTACKS)
def test_the_database_refuses_to_change_what_was_recorded(committing: str, statement: str) -> None:
    with transaction.atomic():
        done()
    before = list(AuditRow.objects.values()), list(AuditDetail.objects.values_list("body", flat=True))
    # on PostgreSQL the app role may not even try to truncate
    with pytest.raises((IntegrityError, ProgrammingError)), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)
    assert (list(AuditRow.objects.values()), list(AuditDetail.objects.values_list("body", flat=True))) == before


@pytest.mark.parametrize("model", [AuditRow, AuditDetail])
def test_django_cannot_change_it_either(model: type[Model]) -> None:
    done()
    row = model._default_manager.get()
    with pytest.raises(IntegrityError), transaction.atomic():
        row.save(force_update=True)


def test_many_writers_lose_no_row_and_none_can_change_one(committing: str) -> None:
    by = actor()

    def write() -> None:
        for _ in range(5):
            with transaction.atomic():
                done(by=by)
            with pytest.raises((IntegrityError, OperationalError)), transaction.atomic():
                AuditRow.objects.update(refused=True)

    at_once(4, write)
    assert AuditRow.objects.filter(action=DONE, refused=False).count() == 20
