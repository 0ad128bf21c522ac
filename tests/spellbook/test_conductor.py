"""The order of an incident's life: for each stage the rows that make it next, and what the level lets happen."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from approvals.models import Draft, Plan, Request
from approvals.services import autonomy, incident_receipt, receipts
from catalog.models import Asset, Build, Consumer, Sync
from foundation.audit import Actor, timeline
from foundation.clock import now
from foundation.models import Principal
from incidents.models import BuildReview, Confirmation, Damage, Incident
from incidents.services.record import record
from spellbook import conductor
from tests.approvals.builders import House, house, plan

pytestmark = pytest.mark.django_db


@pytest.fixture
def built() -> House:
    """A house at L2 with an incident that nobody has looked at yet; its cause is known already."""
    return house()


def incident() -> Incident:
    newest = Incident.objects.order_by("-opened_at").first()
    assert newest is not None
    return newest


def following() -> str:
    """The name of the next stage; "" while people are waited for."""
    stage = conductor.next_stage(incident())
    return stage.name if stage else ""


def actor(built: House) -> Actor:
    return Actor(built.owner.principal, "web")


def drafted(built: House, **fields: object) -> Plan:
    """A diagnosed incident with its plan; a plan that ends has its receipt."""
    diagnosed(built)
    made = plan(built)
    Draft.objects.create(incident=built.incident, plan=made, at=now())
    if fields.get("state") in ("verified", "failed"):
        receipts.write("plan", f"plan/{made.pk}", {}, receipts.plan_subjects(made), created_at=now())
    Plan.objects.filter(pk=made.pk).update(**fields)
    return Plan.objects.get(pk=made.pk)


def new(built: House) -> None:
    pass


def reached(built: House) -> None:
    Incident.objects.update(reached_at=now())


def told(built: House) -> None:
    Incident.objects.update(reached_at=now(), told_at=now())


def diagnosed(built: House) -> None:
    if built.incident.reached_at is None:
        told(built)
        Incident.objects.update(diagnosed_at=now(), state="diagnosed")
        built.incident.refresh_from_db()


def read_by_a_reader_without_runs(built: House) -> None:
    """Its time went by while people were waited for; nothing will ever announce what it read."""
    at("asking")(built)
    another_reader(built)


def a_sync_that_is_late(built: House) -> None:
    at("asking")(built)
    Sync.objects.create(consumer=another_reader(built), tool="ads", mode="append")


def another_reader(built: House) -> Consumer:
    """It was to read a second ago."""
    asset = Asset.objects.create(namespace="bi://tool", name="board", kind="report", domain=built.domain)
    Damage.objects.create(incident=built.incident, consumer=asset, expected_at=now() - timedelta(seconds=1))
    return Consumer.objects.create(asset=asset, cron="0 * * * *")


def no_cause(built: House) -> None:
    """An incident that was diagnosed without any cause being kept."""
    another(built, diagnosed_at=now())


def unread_build(built: House) -> None:
    """The first bad build was announced and waits to be read and measured."""
    another(built, first_bad_build=a_build(built, due_at=now()))


def read_build(built: House) -> None:
    unread_build(built)
    Build.objects.update(processed_at=now(), due_at=None)


def measured_build(built: House) -> None:
    read_build(built)
    BuildReview.objects.create(build=Build.objects.get(), measured_at=now())


def named_build(built: House) -> None:
    """Nobody announced the first bad build: a value named it, so there is nothing to wait for."""
    another(built, first_bad_build=a_build(built, due_at=None))


def a_build(built: House, **fields: Any) -> Build:
    return Build.objects.create(key="bad", announced_by=built.owner.principal, announced_at=now(), **fields)


def another(built: House, **fields: Any) -> Incident:
    """A second incident, reached and told, without a cause."""
    told = {"reached_at": now(), "told_at": now(), "opened_at": now()}
    number = built.incident.number + 1
    return Incident.objects.create(number=number, asset=built.reader, domain=built.domain, **told, **fields)


def no_plan(built: House) -> None:
    diagnosed(built)
    Draft.objects.create(incident=built.incident, reason="no fix is known", at=now())


def at(state: str, rehearsal: str | None = "rehearsed") -> Callable[[House], None]:
    def situation(built: House) -> None:
        drafted(built, state=state, rehearsal={"state": rehearsal} if rehearsal else None)

    situation.__name__ = f"{state} {rehearsal}"
    return situation


def right_again(built: House) -> None:
    """A value outside its baseline was found, and a later one is inside again."""
    diagnosed(built)
    for night in range(5):
        record(built.asset, "row_count", 1_000, actor=actor(built), build_key=f"night-{night}")
    record(built.asset, "row_count", 10, actor=actor(built), build_key="bad")
    record(built.asset, "row_count", 1_000, actor=actor(built), build_key="good")


def right_before_a_plan(built: House) -> None:
    right_again(built)


def right_under_a_rejected_plan(built: House) -> None:
    at("rejected")(built)
    right_again(built)


def right_after_a_failed_plan(built: House) -> None:
    drafted(built, state="failed", ended_at=now() - timedelta(minutes=1), end_reason="step 2 failed")
    right_again(built)


def right_by_the_build_of_a_failed_plan(built: House) -> None:
    right_again(built)
    drafted(built, state="failed", ended_at=now() + timedelta(seconds=1), end_reason="1 of 2 assertions do not hold")


def right_while_the_plan_acts(built: House) -> None:
    at("acting")(built)
    right_again(built)


def verified(built: House) -> None:
    drafted(built, state="verified", ended_at=now())


def settled(built: House) -> None:
    verified(built)
    Damage.objects.update(state="averted")


def unconfirmed(built: House) -> None:
    """A reader declares a number that nobody has compared yet."""
    settled(built)
    reader = built.reader.consumer
    type(reader).objects.filter(pk=reader.pk).update(confirm_metric="total", confirm_source=built.asset)


def unequal(built: House) -> None:
    unconfirmed(built)
    confirmed(built, equal=False)


def confirmed(built: House, *, equal: bool = True) -> None:
    if not built.reader.consumer.__class__.objects.exclude(confirm_metric="").exists():
        unconfirmed(built)
    Confirmation.objects.create(
        incident=built.incident, consumer=built.reader, metric="total", equal=equal, at=now(), source_value=1,
        reader_value=1 if equal else 2,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("situation", "stage"),
    [
        (new, "reach"),
        (reached, "tell"),
        (told, "diagnose"),
        (unread_build, ""),
        (read_build, ""),
        (measured_build, "diagnose"),
        (named_build, "diagnose"),
        (diagnosed, "draft"),
        (no_cause, ""),
        (no_plan, ""),
        (at("draft", None), "rehearse"),
        (at("draft"), "ask"),
        (at("draft", "not rehearsed"), "ask"),
        (at("draft", "contradicted"), ""),
        (at("would_do"), "ask"),
        (at("asking"), ""),
        (read_by_a_reader_without_runs, "read meanwhile"),
        (a_sync_that_is_late, ""),
        (at("acting"), ""),
        (at("verifying"), ""),
        (at("rejected"), ""),
        (at("expired"), ""),
        (at("failed"), ""),
        (right_before_a_plan, "repaired outside"),
        (right_under_a_rejected_plan, "repaired outside"),
        (right_after_a_failed_plan, "repaired outside"),
        (right_by_the_build_of_a_failed_plan, ""),
        (right_while_the_plan_acts, ""),
        (verified, "confirm"),
        (settled, "close"),
        (unconfirmed, "confirm"),
        (unequal, "confirm"),
        (confirmed, "close"),
    ],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_the_rows_say_what_is_next(situation: Callable[[House], None], stage: str, built: House) -> None:
    situation(built)
    assert following() == stage


def test_the_order_stands_in_one_table() -> None:
    assert [stage.name for stage in conductor.STAGES] == [
        "reach", "tell", "read meanwhile", "diagnose", "repaired outside", "draft", "rehearse", "ask", "would do",
        "close", "confirm",
    ]  # fmt: skip
    queues = {stage.name: stage.queue for stage in conductor.STAGES}
    # What starts dbt goes to `long`; what asks a warehouse or git to `work`; `wake` touches the database alone.
    assert {name for name, queue in queues.items() if queue == "long"} == {"rehearse"}
    waking = {"reach", "tell", "read meanwhile", "ask", "would do", "close"}
    assert {name for name, queue in queues.items() if queue == "wake"} == waking
    plans = {stage.state: stage.queue for stage in conductor.PLAN_STAGES}
    assert plans == {"draft": "long", "acting": "long", "verifying": "work"}


@pytest.mark.parametrize("situation", [new, told, settled, right_before_a_plan])
def test_nothing_is_done_for_a_closed_incident(situation: Callable[[House], None], built: House) -> None:
    situation(built)
    incident_receipt.close_with_receipt(incident().pk, actor=actor(built))
    assert incident().state == "closed"
    assert following() == ""
    assert conductor.step(incident()) is False


def test_the_conductor_is_a_system_and_no_person() -> None:
    assert conductor.conductor().principal.kind == Principal.Kind.SYSTEM


# --- levels ----------------------------------------------------------------------------------------------------------


def test_below_level_two_a_plan_is_kept_as_what_would_be_done(built: House) -> None:
    autonomy.lower(built.domain, "", 1, person=built.stranger)
    drafted(built, rehearsal={"state": "rehearsed"})
    assert following() == "would do"
    assert conductor.step(incident()) is True
    assert Plan.objects.get().state == "would_do"
    assert following() == ""
    assert not Request.objects.exists()


def test_raised_to_level_two_what_would_be_done_is_asked(built: House) -> None:
    test_below_level_two_a_plan_is_kept_as_what_would_be_done(built)
    change = autonomy.propose_raise(built.domain, "", person=built.owner, reason="the would-do page is right")
    autonomy.second_raise(change.pk, person=built.second)
    assert following() == "ask"
    assert conductor.step(incident())
    assert (Plan.objects.get().state, Request.objects.get().state) == ("asking", "pending")


def test_one_class_below_level_two_is_enough_to_ask_nobody(built: House) -> None:
    drafted(built, rehearsal={"state": "rehearsed"})
    assert following() == "ask"
    autonomy.lower(built.domain, "rerun:dbt", 1, person=built.stranger)
    assert following() == "would do"


def test_at_level_zero_nothing_is_drafted(built: House) -> None:
    diagnosed(built)
    assert following() == "draft"
    autonomy.lower(built.domain, "", 0, person=built.stranger)
    assert following() == ""


def record_breach(built: House) -> Incident:
    """A breach at another table of the same graph opens an incident of its own."""
    for night in range(5):
        record(built.reader, "rows_sent", 1_000, actor=actor(built), build_key=f"sent-{night}")
    opened = record(built.reader, "rows_sent", 10, actor=actor(built), build_key="sent-bad").incident
    assert opened is not None
    return opened


# --- steps -----------------------------------------------------------------------------------------------------------


def test_each_look_does_one_thing_and_the_timeline_tells_it(built: House) -> None:
    opened = record_breach(built)
    seen = []
    while (name := following()) in ("reach", "tell", "diagnose"):
        assert conductor.step(incident())
        seen.append(name)
    assert seen == ["reach", "tell", "diagnose"]
    actions = list(timeline(opened.pk).values_list("action", flat=True))
    assert actions == ["value.recorded", "incident.opened", "incident.reached", "incident.told", "incident.diagnosed"]


def test_a_repair_from_outside_supersedes_the_plan_and_closes(built: House) -> None:
    made = drafted(built, rehearsal={"state": "rehearsed"})
    conductor.step(incident())
    assert Request.objects.get().state == "pending"
    right_again(built)
    assert following() == "repaired outside"
    assert conductor.step(incident())
    closed = incident()
    assert (closed.state, closed.resolution) == ("closed", "repaired_outside")
    assert Plan.objects.get(pk=made.pk).state == "superseded"
    assert Request.objects.get().state == "superseded"
    assert following() == ""


@pytest.mark.parametrize(
    ("state", "queue"), [("acting", "long"), ("verifying", "work"), ("asking", ""), ("failed", "")]
)
def test_an_approved_plan_goes_on_by_its_own_state(state: str, queue: str, built: House) -> None:
    stage = conductor.plan_stage(drafted(built, state=state))
    assert (stage.queue if stage else "") == queue


def test_what_a_reader_read_meanwhile_is_said_once(built: House) -> None:
    read_by_a_reader_without_runs(built)
    assert conductor.step(incident())
    assert Damage.objects.get(consumer__name="board").state == "done"
    assert following() == ""
