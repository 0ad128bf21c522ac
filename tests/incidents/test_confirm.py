"""A repair is confirmed by the number that the reader shows, next to the source value, both from after the repair."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest

from catalog.models import Asset
from foundation import audit
from foundation.clock import now
from incidents.models import Confirmation, Incident
from incidents.services import progress
from incidents.services.confirm import confirm, confirmable
from incidents.services.record import record
from tests.incidents import cast
from tests.incidents.cast import conductor

pytestmark = pytest.mark.django_db
METRIC = "upgrades"


def story() -> tuple[Asset, Asset, Asset, Incident]:
    asset, incident = cast.broken()
    mart = cast.table("shop.mart", asset)
    copy = cast.a_sync("copy", asset)
    board = cast.a_report("board", copy, confirm_metric=METRIC, confirm_source=mart)
    progress.see_reach(incident.pk, actor=conductor())
    incident.refresh_from_db()
    return asset, mart, board, incident


def say(asset: Asset, number: int, **options: object) -> None:
    record(asset, METRIC, number, actor=conductor(), **options)  # type: ignore[arg-type]


def test_equal_numbers_from_after_the_repair_confirm_it_once() -> None:
    asset, mart, board, incident = story()
    assert [reader.asset for reader in confirmable(incident)] == [board]
    cast.good_again(asset)
    say(mart, 1284)
    say(board, 1284)
    assert confirm(incident.pk, actor=conductor()) is True
    assert confirm(incident.pk, actor=conductor()) is True
    row = Confirmation.objects.get()
    assert [row.source_value, row.reader_value] == [Decimal(1284)] * 2
    assert row.equal
    lines = [audit.sentence(one) for one in audit.timeline(incident.pk) if one.action == "reader.confirmed"]
    assert lines == ["board shows 1,284 for upgrades, the source value is 1,284: equal"]


def test_a_reader_that_still_shows_the_wrong_number_is_different_until_it_does_not() -> None:
    asset, mart, board, incident = story()
    cast.good_again(asset)
    say(board, 541)
    say(mart, 1284)
    assert confirm(incident.pk, actor=conductor()) is False
    say(board, 1284)
    assert confirm(incident.pk, actor=conductor()) is True
    assert Confirmation.objects.get().equal


def test_numbers_from_before_the_repair_are_no_evidence() -> None:
    asset, mart, board, incident = story()
    say(mart, 541)
    say(board, 541)
    assert confirm(incident.pk, actor=conductor()) is None
    cast.good_again(asset)
    assert confirm(incident.pk, actor=conductor()) is None
    say(mart, 1284)
    say(board, 1284, at=now() - timedelta(hours=2))
    assert confirm(incident.pk, actor=conductor()) is None
    assert not Confirmation.objects.exists()


def test_nothing_is_compared_while_the_table_is_wrong_or_where_nobody_declared_what() -> None:
    _, mart, board, incident = story()
    say(mart, 1)
    say(board, 1)
    assert confirm(incident.pk, actor=conductor()) is None
    cast.end(incident, "accepted")
    _, other = cast.broken("shop.lonely")
    progress.see_reach(other.pk, actor=conductor())
    assert confirm(other.pk, actor=conductor()) is None


def test_a_new_number_of_the_reader_wakes_the_incident() -> None:
    _, mart, board, incident = story()
    for asset in (mart, board):
        Incident.objects.filter(pk=incident.pk).update(due_at=None)
        say(asset, 5)
        incident.refresh_from_db()
        assert incident.due_at is not None
