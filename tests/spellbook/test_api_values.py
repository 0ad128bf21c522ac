"""Values over REST: finite numbers only, one sentence for what is refused, the same again changes nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from approvals.services import autonomy
from catalog.models import Asset, Domain
from catalog.selectors import find_asset
from foundation import people
from foundation.models import AuditRow, Token
from incidents.models import Incident, Value
from tests.spellbook.machines import NAMESPACE, Machine, command_line, make_shop

pytestmark = pytest.mark.django_db


@pytest.fixture
def machine() -> Machine:
    make_shop()
    return Machine.make()


def one(value: object = 100, **more: object) -> dict[str, object]:
    return {"asset": "main.orders", "metric": "row_count", "value": value, **more}


def refusal(answer: tuple[int, Any], status: int, code: str) -> str:
    """The sentence of a refusal, after looking at its form."""
    assert answer[0] == status, answer
    assert set(answer[1]) == {"error", "message"}
    assert answer[1]["error"] == code
    message = str(answer[1]["message"])
    assert message.endswith(".")
    assert "Traceback" not in message
    return message


def test_a_value_is_kept_and_the_answer_says_how_it_was_judged(machine: Machine) -> None:
    status, told = machine.values(one(build="night-1"))
    assert status == 200
    assert told == {
        "asset": "dev.main.orders", "metric": "row_count", "value": "100", "created": True, "verdict": "not_evaluated",
        "reason": told["reason"], "low": None, "high": None, "incident": None,
    }  # fmt: skip
    value = Value.objects.get()
    assert (value.principal, value.obtained, value.build and value.build.key) == (machine.agent, "recorded", "night-1")
    assert AuditRow.objects.get(action="value.recorded").source == "api"


def test_a_value_outside_its_baseline_opens_an_incident(machine: Machine) -> None:
    for night in range(5):
        machine.values(one(1_000 + night, build=f"night-{night}"))
    status, told = machine.values(one(500, build="tonight"))
    assert (status, told["verdict"], told["incident"]) == (200, "breach", "INC-1")
    assert float(told["low"]) > 500


def test_the_same_value_again_changes_nothing_and_another_one_is_a_conflict(machine: Machine) -> None:
    first = machine.values(one(7, build="night-1"))[1]
    again = machine.values(one(7, build="night-1"))[1]
    assert again == first | {"created": False}
    message = refusal(machine.values(one(8, build="night-1")), 409, "conflict")
    assert "is 7 for build night-1 already" in message
    assert Value.objects.count() == 1


@pytest.mark.parametrize(
    "text", ["NaN", "Infinity", "-Infinity", "1e400", '"NaN"', '"many"', "true", "null", "[1]", '"0x10"', "{}", '""']
)
def test_what_is_no_finite_number_is_refused_in_one_sentence(text: str, machine: Machine) -> None:
    answer = machine.values(f'{{"asset": "main.orders", "metric": "row_count", "value": {text}}}')
    refusal(answer, 422, "bad_input")
    assert not Value.objects.exists()


def test_a_number_that_cannot_be_kept_exactly_is_refused(machine: Machine) -> None:
    assert "15 digits" in refusal(machine.values(one(10**15)), 422, "bad_input")
    assert "15 digits" in refusal(machine.values(one("1" * 400)), 422, "bad_input")
    assert machine.values(one(10**15 - 1))[0] == 200


@pytest.mark.parametrize(
    "body",
    [
        "",
        "{",
        "[]",
        "7",
        '"text"',
        "null",
        "{}",
        '{"asset": "main.orders"}',
        '{"values": 3}',
        '{"values": [3]}',
        "[" * 9_000,
    ],
)
def test_a_body_of_another_form_is_refused(body: str, machine: Machine) -> None:
    status, told = machine.values(body)
    assert status in (400, 422)
    refusal((status, told), status, "bad_input")


def test_one_value_and_a_list_together_are_refused(machine: Machine) -> None:
    assert "not both" in refusal(machine.values(one() | {"values": [one()]}), 422, "bad_input")


@pytest.mark.parametrize("name", ["nothing", "\ud800", "a\0b", "x" * 60_000, "/" * 3_000, "'; drop table x; --"])
def test_an_unknown_asset_is_an_error(name: str, machine: Machine) -> None:
    refusal(machine.values(one() | {"asset": name}), 404, "not_found")


def test_an_ambiguous_asset_names_what_it_may_mean(machine: Machine) -> None:
    message = refusal(machine.values(one() | {"asset": "ORDERS"}), 422, "bad_input")
    assert "dev.main.orders" in message
    assert "dev.raw.orders" in message


@pytest.mark.parametrize(
    "more",
    [
        {"metric": ""}, {"metric": "x" * 201}, {"metric": "a\nb"}, {"build": " "}, {"build": "x" * 301},
        {"at": "yesterday"}, {"at": "2026-01-01T00:00:00"}, {"at": "2999-01-01T00:00:00Z"},
        {"at": "0001-01-01T00:00:00+14:00"},
    ],
)  # fmt: skip
def test_unusable_metrics_builds_and_times_are_refused(more: dict[str, object], machine: Machine) -> None:
    refusal(machine.values(one() | more), 422, "bad_input")
    assert not Value.objects.exists()


def test_a_list_tells_the_verdict_of_each_and_one_refusal_does_not_stop_the_others(machine: Machine) -> None:
    listed = [one(1, build="a"), one(2) | {"asset": "nothing"}, one(10**16), one(3, build="b")]
    status, told = machine.values({"values": listed})
    assert (status, told["refused"]) == (200, 2)
    assert [result.get("error") for result in told["results"]] == [None, "not_found", "bad_input", None]
    assert sorted(int(value.number) for value in Value.objects.all()) == [1, 3]


def test_a_list_that_has_not_the_form_is_refused_whole(machine: Machine) -> None:
    text = json.dumps({"values": [one(1), one(2), one(float("nan"))]})
    assert "values.2.value" in refusal(machine.values(text), 422, "bad_input")
    assert not Value.objects.exists()


def test_a_thousand_values_are_taken_and_one_more_is_not(machine: Machine) -> None:
    message = refusal(machine.values({"values": [one(1)] * 1_001}), 422, "bad_input")
    assert "1000" in message
    assert "1001" in message
    assert not Value.objects.exists()
    assert machine.values({"values": []}) == (200, {"results": [], "refused": 0})


def test_at_level_zero_a_value_is_kept_and_not_judged(machine: Machine) -> None:
    domain = Domain.objects.create(key="d", name="d", owner=machine.owner)
    asset = find_asset("dev.main.orders")
    Asset.objects.filter(pk=asset.pk).update(domain=domain)
    autonomy.lower(domain, "", 0, person=machine.owner)
    for night in range(5):
        machine.values(one(1_000, build=f"night-{night}"))
    told = machine.values(one(1, build="tonight"))[1]
    assert (told["verdict"], told["incident"]) == ("not_judged", None)
    assert Value.objects.count() == 6
    assert not Incident.objects.exists()


# --- who may ---------------------------------------------------------------------------------------------------------


def test_without_a_token_nothing_is_said(machine: Machine) -> None:
    client = Client()
    for headers in ({}, {"Authorization": "Basic YTpi"}, {"Authorization": "Bearer"}, {"Authorization": machine.token}):
        answer = client.post("/api/v1/values", one(), content_type="application/json", headers=headers)
        assert "token" in refusal((answer.status_code, answer.json()), 401, "not_signed_in")
        assert answer.headers["WWW-Authenticate"] == "Bearer"


def test_a_signed_in_browser_is_no_token(machine: Machine) -> None:
    client = Client()
    client.force_login(machine.owner)
    answer = client.post("/api/v1/values", one(), content_type="application/json")
    assert answer.status_code == 401


def test_an_unknown_token_is_refused(machine: Machine) -> None:
    machine.token = "sbk_" + "x" * 43
    assert "not known" in refusal(machine.values(one()), 403, "not_allowed")


def test_a_revoked_token_is_refused(machine: Machine) -> None:
    people.revoke_token(Token.objects.get(), actor=command_line())
    assert "revoked" in refusal(machine.values(one()), 403, "not_allowed")


def test_a_token_of_another_scope_is_refused(machine: Machine) -> None:
    reader = Machine.make(scopes=["incident:read"], name="reader")
    assert "value:write" in refusal(reader.values(one()), 403, "not_allowed")


def test_the_token_of_an_agent_ends_with_its_owner(machine: Machine) -> None:
    people.deactivate(machine.owner, actor=command_line())
    assert "deactivated" in refusal(machine.values(one()), 403, "not_allowed")


def test_an_agent_writes_in_its_namespaces_only(machine: Machine) -> None:
    inside = Machine.make(namespaces=[NAMESPACE], name="inside")
    outside = Machine.make(namespaces=["duckdb://other"], name="outside")
    assert inside.values(one(build="a"))[0] == 200
    refusal(outside.values(one(build="b")), 403, "not_allowed")
    told = outside.values({"values": [one(build="b")]})[1]
    assert told["results"][0]["error"] == "not_allowed"
    assert Value.objects.count() == 1


def test_a_token_never_stands_in_an_answer(machine: Machine) -> None:
    for answer in (
        machine.values(one(build="x")),
        machine.values("{"),
        machine.get("/nowhere"),
        machine.get("/values"),
    ):
        assert machine.token not in json.dumps(answer[1])


def test_a_refusal_of_a_value_or_an_output_lists_no_near_name_of_a_hidden_domain(machine: Machine) -> None:
    assert "revenue" in refusal(machine.values(one() | {"asset": "main.revenu"}), 404, "not_found")
    hidden = Domain.objects.create(key="pay", name="Pay", restricted=True)
    Asset.objects.filter(name__endswith="revenue").update(domain=hidden)
    assert "near" not in refusal(machine.values(one() | {"asset": "main.revenu"}), 404, "not_found")
