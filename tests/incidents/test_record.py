"""Recording a value: taken once, refused in words, judged by what came before it, opening one incident per cause."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal

import pytest

from catalog.models import Asset, Build
from foundation import audit
from foundation.audit import Actor
from foundation.clock import now
from foundation.errors import BadInput, Conflict, NotAllowed
from foundation.models import AuditRow
from foundation.people import create_agent
from incidents.models import Finding, Incident, Metric, Value
from incidents.numbers import exact, plain, spoken
from incidents.services.judging import judge_value
from incidents.services.record import Recorded, record, withdraw
from tests.foundation.cast import at_once
from tests.incidents import cast
from tests.incidents.cast import ROWS, conductor

pytestmark = pytest.mark.django_db


def keep(asset: Asset, number: object, **options: object) -> Recorded:
    return record(asset, ROWS, number, actor=conductor(), **options)  # type: ignore[arg-type]


def test_the_same_value_of_the_same_build_again_changes_nothing() -> None:
    asset = cast.table("shop.orders")
    first = keep(asset, 1000, build_key="b")
    again = keep(asset, "1000.0", build_key="b")
    assert (first.created, again.created) == (True, False)
    assert again.value == first.value
    assert AuditRow.objects.filter(action="value.recorded").count() == 1


def test_another_value_of_the_same_build_is_a_conflict_that_names_both() -> None:
    asset = cast.table("shop.orders")
    keep(asset, 1000, build_key="b")
    with pytest.raises(Conflict, match=r"row_count of shop.orders is 1000 for build b already; 999.5 was not recorded"):
        keep(asset, 999.5, build_key="b")
    assert Value.objects.count() == 1


def test_a_value_without_a_build_is_known_by_its_time() -> None:
    asset, at = cast.table("shop.orders"), now() - timedelta(days=1)
    assert keep(asset, 7, at=at).created
    assert not keep(asset, 7, at=at).created
    with pytest.raises(Conflict):
        keep(asset, 8, at=at)
    assert keep(asset, 7).created
    assert keep(asset, 7).created


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (float("nan"), "finite"),
        ("NaN", "finite"),
        (Decimal("sNaN"), "finite"),
        (float("inf"), "finite"),
        ("-Infinity", "finite"),
        (True, "must be a number"),
        ("many", "must be a number"),
        ("", "must be a number"),
        ("1_0 0", "must be a number"),
        (None, "must be a number"),
        ([1], "must be a number"),
        (10**15, "too large"),
        ("1e400", "too large"),
        (-1e300, "too large"),
    ],
)
def test_what_is_no_finite_number_is_refused_in_one_sentence_and_nothing_is_kept(number: object, words: str) -> None:
    asset = cast.table("shop.orders")
    with pytest.raises(BadInput, match=words):
        keep(asset, number, build_key="b")
    assert not Metric.objects.exists()
    assert not Build.objects.exists()


@pytest.mark.parametrize("text", ["999999999999999", "-999999999999999", "123456789.123456", "0.000001", "1e-9", "-0"])
def test_a_number_comes_back_as_it_was_kept(text: str) -> None:
    value = keep(cast.table("shop.orders"), text).value
    value.refresh_from_db()
    assert value.number == exact(text)


def test_numbers_are_written_for_machines_and_for_people() -> None:
    assert [plain(exact(number)) for number in ("10950000", 0.25, "-0", 1e3)] == ["10950000", "0.25", "0", "1000"]
    assert [spoken(exact(number)) for number in (10950000, "1234.5", 100)] == ["10,950,000", "1,234.5", "100"]
    assert (plain(None), spoken(None)) == ("unknown", "unknown")


def test_times_that_cannot_be_are_refused() -> None:
    asset = cast.table("shop.orders")
    with pytest.raises(BadInput, match="needs a zone"):
        keep(asset, 1, at=datetime(2026, 1, 1))
    with pytest.raises(BadInput, match="lies in the future"):
        keep(asset, 1, at=now() + timedelta(hours=1))
    with pytest.raises(BadInput, match="cannot be kept"):
        keep(asset, 1, at=datetime.min.replace(tzinfo=timezone(timedelta(hours=14))))
    assert keep(asset, 1, at=now() + timedelta(seconds=30)).created  # a clock that runs a little fast


def test_an_old_time_is_marked_backdated_and_a_fresh_one_is_not() -> None:
    asset = cast.table("shop.orders")
    assert keep(asset, 1, at=now() - timedelta(minutes=11)).value.backdated
    assert not keep(asset, 1, at=now() - timedelta(minutes=9)).value.backdated
    zoned = (now() - timedelta(minutes=5)).astimezone(timezone(timedelta(hours=-4)))
    assert keep(asset, 1, at=zoned).value.at.tzinfo == UTC


@pytest.mark.parametrize("metric", ["", "  ", "x" * 201, "rows\0", "a\nb"])
def test_a_metric_needs_a_printable_name(metric: str) -> None:
    with pytest.raises(BadInput):
        record(cast.table("shop.orders"), metric, 1, actor=conductor())


def test_an_agent_writes_in_its_namespaces_only() -> None:
    asset = cast.table("shop.orders")
    agent = create_agent("loader", owner=cast.person(), namespaces=["duckdb://elsewhere"])
    with pytest.raises(NotAllowed):
        record(asset, ROWS, 1, actor=Actor(agent, "api"))


def test_the_first_four_builds_are_not_evaluated_and_the_fifth_is() -> None:
    asset = cast.table("shop.orders")
    verdicts = [one.baseline.verdict for one in cast.nights(asset) if one.baseline]
    assert verdicts == ["not_evaluated"] * 4 + ["held"]
    assert not Incident.objects.exists()


def test_an_unjudged_value_is_kept_and_opens_nothing() -> None:
    asset = cast.table("shop.orders")
    cast.nights(asset)
    assert keep(asset, 1, build_key="b", judged=False).baseline is None
    assert not Incident.objects.exists()


def test_a_breach_opens_exactly_one_incident_and_says_what_it_saw() -> None:
    asset = cast.table("shop.orders")
    cast.nights(asset)
    found = keep(asset, 449, build_key="bad")
    assert found.incident is not None
    assert keep(asset, 449, build_key="bad").incident == found.incident
    assert (Incident.objects.count(), Finding.objects.count()) == (1, 1)
    lines = [audit.sentence(row) for row in audit.timeline(found.incident.pk)]
    assert lines == [
        "row_count of shop.orders is 449 (recorded): outside 980 to 1,020",
        "row_count of shop.orders is 449, expected 980 to 1,020 (median of 5 builds 1,000, -55.1%)",
    ]


def test_the_next_values_of_a_wrong_metric_are_part_of_its_story() -> None:
    asset, incident = cast.broken()
    keep(asset, 1000, build_key="repair")
    other = cast.table("shop.other")
    keep(other, 5)
    actions = list(audit.timeline(incident.pk).values_list("action", flat=True))
    assert actions == ["value.recorded", "incident.opened", "value.recorded"]


def test_values_are_judged_by_those_before_them_in_time_not_in_arrival() -> None:
    asset = cast.table("shop.orders")
    cast.nights(asset)
    late = keep(asset, 1000, build_key="earlier", at=now() - timedelta(days=2, hours=12))
    assert late.baseline is not None
    assert (late.baseline.n, late.baseline.verdict, late.value.backdated) == (3, "not_evaluated", True)


def test_breaches_and_builds_of_open_incidents_do_not_teach_what_is_normal() -> None:
    asset = cast.table("shop.orders")
    other = cast.table("shop.returns")
    cast.nights(asset)
    cast.nights(other)
    cast.breach(asset, build="bad")
    keep(other, 1000, build_key="bad")
    judged = keep(other, 1000, build_key="next").baseline
    again = keep(asset, 450, build_key="bad-2").baseline
    assert judged is not None
    assert again is not None
    assert [one["why"] for one in judged.excluded] == ["its build is part of INC-1"]
    assert (again.verdict, again.n, [one["why"] for one in again.excluded]) == (
        "breach", 5, ["its build is part of INC-1"],
    )  # fmt: skip


def test_a_false_alarm_teaches_what_is_normal() -> None:
    _, incident = cast.broken()
    cast.end(incident, "false_alarm")
    value = Value.objects.create(
        metric=Metric.objects.get(), number=1, at=now(), recorded_at=now(), principal=conductor().principal
    )
    band = judge_value(value)
    assert (band.n, band.excluded) == (6, [])


def test_a_look_between_builds_is_judged_and_does_not_become_the_history() -> None:
    asset = cast.table("shop.orders")
    for _ in range(6):
        keep(asset, 1000, obtained="measured")
    found = keep(asset, 1000, build_key="b").baseline
    assert found is not None
    assert (found.verdict, found.n, len(found.excluded)) == ("not_evaluated", 0, 6)


def test_a_build_counts_once_and_by_what_was_measured() -> None:
    asset = cast.table("shop.orders")
    for index in range(4):
        keep(asset, 1000, build_key=f"b{index}")
        keep(asset, 1010, build_key=f"b{index}", obtained="measured")
    found = keep(asset, 1010, build_key="b9").baseline
    assert found is not None
    assert (found.n, found.median) == (4, Decimal(1010))


def test_a_withdrawn_value_leaves_the_history_and_stays_in_the_table() -> None:
    asset = cast.table("shop.orders")
    first = cast.nights(asset)[0].value
    with pytest.raises(BadInput):
        withdraw(first, " ", actor=conductor())
    withdraw(first, "a test load", actor=conductor())
    with pytest.raises(Conflict):
        withdraw(first, "again", actor=conductor())
    found = keep(asset, 1000, build_key="b").baseline
    assert found is not None
    assert found.n == 4
    assert Value.objects.filter(pk=first.pk, withdrawn_reason="a test load").exists()


def test_a_breach_of_the_same_build_on_a_related_table_joins() -> None:
    source = cast.table("shop.raw")
    left, right = cast.table("shop.left", source), cast.table("shop.right", source)
    cast.nights(left)
    cast.nights(right)
    first, second = cast.breach(left), cast.breach(right)
    assert first == second
    assert [one.asset for one in first.findings.order_by("pk")] == [left, right]


def test_two_unrelated_tables_are_two_incidents_with_two_numbers() -> None:
    one, two = cast.table("shop.one"), cast.table("shop.two")
    cast.nights(one)
    cast.nights(two)
    assert [str(cast.breach(one)), str(cast.breach(two))] == ["INC-1", "INC-2"]


def test_the_next_bad_build_of_the_same_table_joins_what_is_open_and_opens_anew_after_closing() -> None:
    asset, incident = cast.broken()
    assert cast.breach(asset, 450, build="bad-2") == incident
    cast.end(incident, "repaired")
    assert cast.breach(asset, 451, build="bad-3") != incident


def test_an_incident_moves_up_to_the_table_above_until_its_reach_is_drawn() -> None:
    above = cast.table("shop.raw")
    below = cast.table("shop.mart", above)
    cast.nights(above)
    cast.nights(below)
    incident = cast.breach(below)
    assert cast.breach(above) == incident
    incident.refresh_from_db()
    assert (incident.asset, incident.findings.count()) == (above, 2)


def test_eight_threads_with_the_same_breach_leave_one_value_and_one_incident(committing: str) -> None:
    asset = cast.table("shop.orders")
    cast.nights(asset)
    actor = conductor()
    at_once(8, lambda: record(asset, ROWS, 449, actor=actor, build_key="bad"))
    assert Value.objects.filter(build__key="bad").count() == 1
    assert (Incident.objects.count(), Finding.objects.count()) == (1, 1)
    assert AuditRow.objects.filter(action="incident.opened").count() == 1


def test_eight_threads_with_breaches_of_related_tables_leave_one_incident(committing: str) -> None:
    source = cast.table("shop.raw")
    tables = [cast.table(f"shop.t{index}", source) for index in range(8)]
    for one in tables:
        cast.nights(one)
    actor, waiting = conductor(), list(tables)
    at_once(8, lambda: record(waiting.pop(), ROWS, 449, actor=actor, build_key="bad"))
    incident = Incident.objects.get()
    assert incident.findings.count() == 8
