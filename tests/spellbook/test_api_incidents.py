"""Reading incidents over REST: one answer tells cause, damage, plan, request and receipts; nothing is done there."""

from __future__ import annotations

import pytest

from approvals.models import Draft
from approvals.services import incident_receipt
from foundation.audit import Actor
from foundation.clock import now
from incidents.models import Confirmation, Hold, Incident
from tests.approvals.builders import House, asked, house, post
from tests.spellbook.machines import Machine
from tests.spellbook.test_api_values import refusal

pytestmark = pytest.mark.django_db


@pytest.fixture
def built() -> House:
    return house()


@pytest.fixture
def machine(built: House) -> Machine:
    return Machine.make(scopes=["incident:read"])


def path(built: House) -> str:
    return f"/incidents/{built.incident.number}"


def test_the_list_tells_what_is_open_and_what_is_closed(built: House, machine: Machine) -> None:
    status, told = machine.get("/incidents")
    assert (status, told["total"]) == (200, 1)
    head = told["incidents"][0]
    assert (head["number"], head["asset"], head["state"]) == (built.incident.number, built.asset.name, "open")
    assert head["opened_at"].endswith("Z")
    assert machine.get("/incidents?state=closed")[1] == {"total": 0, "incidents": []}
    incident_receipt.close_with_receipt(built.incident.pk, actor=Actor(built.owner.principal, "web"))
    assert machine.get("/incidents?state=closed")[1]["incidents"][0]["resolution"] == "repaired"
    assert "not 'broken'" in refusal(machine.get("/incidents?state=broken"), 422, "bad_input")


def test_an_incident_before_its_plan(built: House, machine: Machine) -> None:
    status, told = machine.get(path(built))
    assert status == 200
    assert (told["reached"], told["told"], told["diagnosed"], told["plan"]) == (False, False, False, None)
    assert told["cause"] == {"established": True, "statement": "A filter drops rows."}
    assert told["damage"] == [
        {"reader": built.reader.name, "state": "pending", "rows_removed": None, "rows_inserted": None}
    ]
    assert (told["holds"], told["confirmations"], told["receipts"], told["no_plan"]) == ([], [], [], "")


def test_why_there_is_no_plan_is_told(built: House, machine: Machine) -> None:
    Draft.objects.create(incident=built.incident, reason="no fix is known", at=now())
    assert machine.get(path(built))[1]["no_plan"] == "no fix is known"


def test_plan_and_request_are_told_and_how_they_end(built: House, machine: Machine) -> None:
    request = asked(built)
    plan = machine.get(path(built))[1]["plan"]
    assert (plan["id"], plan["state"], plan["rehearsal"], plan["run"]) == (
        str(request.plan_id), "asking", "rehearsed", None
    )  # fmt: skip
    assert [step["kind"] for step in plan["steps"]] == ["change", "rerun", "message"]
    assert plan["request"]["id"] == str(request.pk)
    assert plan["request"]["state"] == "pending"
    post(request, built.approver, "reject")
    plan = machine.get(path(built))[1]["plan"]
    assert (plan["state"], plan["request"]["state"]) == ("rejected", "rejected")


def test_holds_confirmations_and_receipts_are_told(built: House, machine: Machine) -> None:
    moment = now()
    Hold.objects.create(incident=built.incident, consumer=built.reader, operator=built.owner, asked_at=moment)
    Confirmation.objects.create(
        incident=built.incident, consumer=built.reader, metric="total", source_value=1, reader_value=2, equal=False,
        at=moment,
    )  # fmt: skip
    incident_receipt.close_with_receipt(built.incident.pk, actor=Actor(built.owner.principal, "web"))
    told = machine.get(path(built))[1]
    assert told["holds"][0]["reader"] == built.reader.name
    assert told["confirmations"] == [{"reader": built.reader.name, "metric": "total", "equal": False}]
    assert [(receipt["type"], receipt["sealed"]) for receipt in told["receipts"]] == [("incident", False)]
    assert told["state"] == "closed"


@pytest.mark.parametrize("number", ["0", "-1", "999999", "9" * 40])
def test_an_unknown_incident_is_not_found(number: str, machine: Machine) -> None:
    refusal(machine.get(f"/incidents/{number}"), 404, "not_found")


def test_a_number_that_is_none_is_refused(machine: Machine) -> None:
    assert refusal(machine.get("/incidents/INC-1"), 422, "bad_input").startswith("number:")


def test_another_scope_reads_nothing(built: House, machine: Machine) -> None:
    writer = Machine.make(scopes=["value:write", "build:write"], name="writer")
    for address in ("/incidents", path(built)):
        assert "incident:read" in refusal(writer.get(address), 403, "not_allowed")


@pytest.mark.parametrize("method", ["post", "put", "patch", "delete"])
def test_nothing_can_be_done_to_an_incident_here(method: str, built: House, machine: Machine) -> None:
    for address in ("/incidents", path(built)):
        answer = getattr(machine.client, method)(f"/api/v1{address}", headers=machine.headers)
        refusal((answer.status_code, answer.json()), 405, "not_allowed")
    assert Incident.objects.get().state == "open"


@pytest.mark.parametrize("deed", ["decide", "approve", "acknowledge", "close", "merged", "raise", "stop"])
def test_there_is_no_address_for_a_decision(deed: str, built: House, machine: Machine) -> None:
    request = asked(built)
    for address in (f"{path(built)}/{deed}", f"/requests/{request.pk}/{deed}", f"/plans/{request.plan_id}/{deed}"):
        answer = machine.client.post(f"/api/v1{address}", headers=machine.headers)
        refusal((answer.status_code, answer.json()), 404, "not_found")


def test_the_list_takes_the_same_queries_whatever_it_holds(
    built: House, machine: Machine, django_assert_num_queries: object
) -> None:
    machine.get("/incidents")
    for number in range(900, 905):
        Incident.objects.create(number=number, asset=built.asset, opened_at=now(), state="open")
    with django_assert_num_queries(4):  # type: ignore[operator]
        assert machine.get("/incidents")[1]["total"] == 6
