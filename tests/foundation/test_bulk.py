"""Many rows at once, on both databases: the same rows, the same rules, the same errors."""

from __future__ import annotations

import gc
import uuid
from datetime import UTC, datetime

import pytest
from django.db import DataError, IntegrityError, transaction

from catalog.models import Asset, ColumnLineage, ColumnList, StagedNode
from foundation import bulk
from tests.engines import Postgres

pytestmark = pytest.mark.django_db
NAMES = ("namespace", "name", "kind", "description")


def rows(count: int) -> list[tuple[str, str, str, str]]:
    return [("n", f"a{number}", "table", "tab\tnew\nline \\N é \U0001f600") for number in range(count)]


def test_rows_arrive_as_they_were_given() -> None:
    bulk.insert(Asset, NAMES, rows(3000))
    assert Asset.objects.count() == 3000
    assert Asset.objects.get(name="a7").description == "tab\tnew\nline \\N é \U0001f600"


def test_json_comes_as_a_value_or_as_its_text() -> None:
    bulk.insert(Asset, NAMES, rows(2))
    one, two = Asset.objects.order_by("name")
    bulk.insert(ColumnList, ("asset_id", "items"), [(one.pk, [{"name": "é\\n"}]), (two.pk, '[{"name":"b"}]')])
    assert ColumnList.objects.get(asset=one).items == [{"name": "é\\n"}]
    assert ColumnList.objects.get(asset=two).items == [{"name": "b"}]


def test_moments_and_uuids_are_kept() -> None:
    bulk.insert(Asset, NAMES, rows(1))
    moment, token = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), uuid.uuid4()
    names = ("asset_id", "source", "due_at", "lease_token", "attempts", "state", "columns", "checksum", "sql_sha256",
             "sql", "dialect", "reason")  # fmt: skip
    bulk.insert(ColumnLineage, names, [(Asset.objects.get().pk, "s", moment, token, 0, "waiting", {}, *[""] * 5)])
    row = ColumnLineage.objects.get()
    assert (row.due_at, row.lease_token, row.lease_until) == (moment, token, None)


def test_a_broken_rule_is_djangos_error_and_nothing_of_the_rows_is_kept() -> None:
    bulk.insert(Asset, NAMES, rows(1))
    with pytest.raises(IntegrityError), transaction.atomic():
        bulk.insert(Asset, NAMES, [("n", "new", "table", ""), *rows(1)])
    assert Asset.objects.count() == 1


def test_with_ignore_only_the_new_rows_are_kept() -> None:
    bulk.insert(Asset, NAMES, rows(2))
    bulk.insert(Asset, NAMES, [("n", "a0", "model", "other"), ("n", "new", "table", "")], ignore=True)
    assert sorted(Asset.objects.values_list("name", "kind")) == [("a0", "table"), ("a1", "table"), ("new", "table")]
    bulk.insert(Asset, NAMES, [], ignore=True)


def test_a_text_that_is_too_long_is_refused_not_cut(database_engine: object) -> None:
    if not isinstance(database_engine, Postgres):
        pytest.skip("SQLite has no lengths")
    for ignore in (False, True):
        with pytest.raises(DataError), transaction.atomic():
            bulk.insert(Asset, NAMES, [("n", "x" * 501, "table", "")], ignore=ignore)


def test_put_inserts_what_is_new_and_sets_what_is_there() -> None:
    bulk.insert(Asset, NAMES, rows(2))
    one, two = Asset.objects.order_by("name")
    bulk.put(ColumnList, ("asset_id", "items"), [(one.pk, [])], key="asset_id")
    bulk.put(ColumnList, ("asset_id", "items"), [(one.pk, [{"name": "a"}]), (two.pk, [])], key="asset_id")
    assert ColumnList.objects.get(asset=one).items == [{"name": "a"}]
    bulk.put(ColumnList, ("asset_id", "items"), [], key="asset_id")
    assert ColumnList.objects.count() == 2


def test_update_sets_the_named_fields_of_many_rows() -> None:
    bulk.insert(Asset, NAMES, rows(3))
    one, two, three = Asset.objects.order_by("name")
    bulk.update(Asset, ("kind", "description"), [(one.pk, "model", "é"), (three.pk, "view", "")])
    assert list(Asset.objects.order_by("name").values_list("kind", "description")) == [
        ("model", "é"), ("table", two.description), ("view", ""),
    ]  # fmt: skip
    bulk.update(Asset, ("kind",), [])


def test_transfer_copies_rows_with_a_constant() -> None:
    bulk.insert(Asset, NAMES, rows(2))
    pk = Asset.objects.order_by("name")[0].pk
    batch, other = uuid.uuid4(), uuid.uuid4()
    names = ("source_id", "asset_id", "local_id", "attributes")
    bulk.insert(StagedNode, ("batch", *names), [(batch, 1, pk, "x", {"a": 1}), (other, 1, pk, "y", {})])
    bulk.transfer(StagedNode.objects.filter(batch=batch), StagedNode, names, batch=other)
    assert sorted(StagedNode.objects.filter(batch=other).values_list("local_id", flat=True)) == ["x", "y"]
    assert StagedNode.objects.get(batch=other, local_id="x").attributes == {"a": 1}
    StagedNode.objects.all().delete()


@pytest.mark.parametrize("count", [0, 1, 40_000])
def test_among_takes_any_number_of_values(count: int) -> None:
    bulk.insert(Asset, NAMES, rows(3))
    pks = sorted(Asset.objects.values_list("pk", flat=True))
    more = list(range(10**9, 10**9 + count))
    assert Asset.objects.filter(pk__in=bulk.among([pks[0], *more])).count() == 1
    assert Asset.objects.filter(name__in=bulk.among([f"a{number}" for number in range(count)])).count() == min(count, 3)


def test_garbage_is_collected_again_after_the_last_pause() -> None:
    assert gc.isenabled()
    with bulk.patient(), bulk.patient():
        assert not gc.isenabled()
    assert gc.isenabled()
    with pytest.raises(ValueError, match="x"), bulk.patient():
        raise ValueError("x")
    assert gc.isenabled()
