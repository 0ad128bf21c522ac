"""Declaring over REST: people's words stand, agents' wait; nothing half kept, nothing that a network may not say."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from approvals.models import Policy
from catalog.models import Asset, Consumer, Domain
from catalog.selectors import find_asset
from catalog.services import suggestions
from foundation.audit import Actor
from foundation.models import AuditRow, Person
from foundation.people import create_person, issue_token
from incidents.models import Check
from tests.spellbook.machines import Machine, make_shop

pytestmark = pytest.mark.django_db
SCOPES = ("declare:write", "catalog:read")
SYNC: dict[str, Any] = {
    "asset": "Copy of orders", "tool": "copier", "mode": "mirror", "reads": ["main.orders"],
    "schedule": {"cron": "17 * * * *", "zone": "America/New_York"}, "consequence": "Gone here is gone there.",
}  # fmt: skip


@pytest.fixture
def agent() -> Machine:
    make_shop()
    return Machine.make(scopes=SCOPES)


def post(token: str, body: object, kind: str = "application/json") -> tuple[int, Any]:
    sent = body if isinstance(body, (str, bytes)) else json.dumps(body)
    headers = {"Authorization": f"Bearer {token}"}
    web = Client(raise_request_exception=False)
    answer = web.post("/api/v1/declarations", sent, content_type=kind, headers=headers)
    return answer.status_code, answer.json()


def token_of(person: Person) -> str:
    return issue_token(person.principal, label="mine", scopes=SCOPES)[1]


def test_an_agents_reader_is_suggested_and_its_answer_says_what_was_kept(agent: Machine) -> None:
    status, told = post(agent.token, {"consumers": [SYNC]})
    assert (status, told["consumers"], told["unmatched"]) == (200, ["Copy of orders"], [])
    assert told["status"] == (
        "suggested; it waits until a person of the domain approves or refuses it, and counts in blast radii meanwhile"
    )
    assert Consumer.objects.get(asset__name="Copy of orders").status == "suggested"
    note = post(agent.token, {"notes": [{"asset": "main.orders", "text": "Late on Mondays."}]})[1]
    assert note["status"] == "suggested; it waits until a person of the domain approves or refuses it"
    again = post(agent.token, {"consumers": [SYNC]})
    assert (again[0], again[1]["consumers"], again[1]["graph_version"]) == (200, [], told["graph_version"])


def test_a_persons_token_declares_and_yaml_is_taken_too(agent: Machine) -> None:
    text = (
        "consumers:\n- {asset: Copy of orders, tool: copier, reads: main.orders, schedule: {triggered_by_api: true}}\n"
    )
    status, told = post(token_of(agent.owner), text, "application/yaml")
    assert (status, told["consumers"], told["status"]) == (200, ["Copy of orders"], "declared")
    row = Consumer.objects.get(asset__name="Copy of orders")
    assert (row.status, row.approved_by, row.triggered_by_api) == ("standing", agent.owner, True)


def test_the_network_adds_no_people_and_an_agent_says_not_what_is_watched(agent: Machine) -> None:
    person = token_of(agent.owner)
    for token, document in (
        (person, {"people": [{"email": "new@example.com", "roles": ["admin"]}]}),
        (agent.token, {"people": [{"email": "new@example.com"}]}),
        (agent.token, {"domains": [{"name": "mine"}]}),
        (agent.token, {"assets": [{"asset": "main.orders", "watch": ["row_count"]}]}),
        (agent.token, {"assets": [{"asset": "main.orders", "owner": "owner@example.org"}]}),
    ):
        status, told = post(token, document)
        assert (status, told["error"]) == (403, "not_allowed"), document
    assert not Person.objects.filter(email="new@example.com").exists()
    assert not Domain.objects.exists()
    assert not Check.objects.exists()
    assert not AuditRow.objects.filter(action="asset.declared").exists()


def test_a_person_takes_no_domain_from_its_owner(agent: Machine) -> None:
    other = create_person("other@example.org", "Other")
    domain = {"name": "sales", "owner": "other@example.org"}
    assert post(token_of(other), {"domains": [domain]})[0] == 200
    mine = {
        "name": "sales",
        "owner": "owner@example.org",
        "approver": "owner@example.org",
        "fallback": "other@example.org",
    }
    assert post(token_of(agent.owner), {"domains": [mine]})[0] == 403
    assert post(token_of(agent.owner), {"domains": [{**mine, "owner": "other@example.org"}]})[0] == 403
    assert not Policy.objects.exists()
    assert Domain.objects.get().owner == other


UNUSABLE: list[object] = [
    "{", "[]", '"x"', "null", '{"consumers": {}}', '{"consumers": [1]}', '{"consumers": [{"asset": "a\\u0000b"}]}',
    {"consumers": [{**SYNC, "asset": "x" * 501}]}, {"consumers": [{**SYNC, "reads": [["x"]]}]},
    {"consumers": [{**SYNC, "consequence": "a\0b"}]}, {"consumers": [{**SYNC, "contact": "x" * 201}]},
    {"consumers": [{**SYNC, "mode": 7}]}, {"consumers": [{**SYNC, "schedule": {"cron": "0 0 30 2 *"}}]},
    {"consumers": [{**SYNC, "schedule": {"cron": "0 * * * *", "triggered_by_api": True}}]},
    {"consumers": [{**SYNC, "schedule": {"cron": "0 * * * *", "zone": "../../etc/passwd"}}]},
    {"consumers": [{**SYNC, "kind": "table"}]}, {"consumers": [SYNC, SYNC]},
    {"consumers": [SYNC] * 501}, {"notes": [{"asset": "main.orders", "text": ""}]},
    '{"consumers": [{"asset": "half \\ud800 pair"}]}', {"assets": [{"asset": "main.orders", "definition": 1}]},
    "{" + '"a":' * 5000,
]  # fmt: skip


@pytest.mark.parametrize("body", UNUSABLE, ids=lambda body: str(body)[:50])
def test_what_cannot_be_used_is_refused_in_a_sentence_and_leaves_nothing(body: object, agent: Machine) -> None:
    assets = Asset.objects.count()
    for kind in ("application/json", "application/yaml"):
        status, told = post(agent.token, body, kind)
        assert (status, told["error"], told["message"][-1:]) == (422, "bad_input", "."), told
    assert (Asset.objects.count(), AuditRow.objects.filter(action__startswith="consumer.").count()) == (assets, 0)


def test_yaml_that_is_none_says_on_which_line(agent: Machine) -> None:
    assert "(line 2)" in post(agent.token, "consumers:\n- {asset: a", "application/yaml")[1]["message"]
    bomb = "a: &a [x,x]\nb: &b [*a,*a]\nconsumers: [{asset: s, tool: t, reads: *b}]\n"
    assert post(agent.token, bomb, "application/yaml")[0] == 422
    assert post(agent.token, "consumers: !!python/object/apply:os.system [id]", "application/yaml")[0] == 422


def test_each_endpoint_asks_for_its_own_scope(agent: Machine) -> None:
    reader = Machine.make(scopes=["catalog:read"], name="reader")
    writer = Machine.make(scopes=["declare:write"], name="writer")
    assert post(reader.token, {"consumers": [SYNC]})[0] == 403
    assert writer.get("/readers")[0] == 403
    assert reader.get("/readers")[0] == 200


def test_the_register_tells_totals_gaps_and_next_reads(agent: Machine) -> None:
    post(token_of(agent.owner), {"consumers": [SYNC, {"asset": "Lost", "reads": "main.nothing"}]})
    status, told = agent.get("/readers")
    assert status == 200
    assert (told["total"], told["every"], told["syncs"], told["truncated"]) == (3, 3, 1, False)
    first = told["readers"][0]
    assert (first["name"], first["mode"], first["status"]) == ("Copy of orders", "mirror", "standing")
    assert first["next_read"] < first["next_read"][:4] + "9"
    assert first["gaps"] == ["no_owner", "no_operator", "no_delete_rule", "no_baseline"]
    lost = next(one for one in told["readers"] if one["name"] == "Lost")
    assert (lost["unmatched"], "unknown_table" in lost["gaps"]) == (["main.nothing"], True)
    assert agent.get("/readers?gap=unknown_table")[1]["total"] == 1
    assert agent.get("/readers?limit=1")[1]["truncated"] is True
    for question in ("gap=x", "order=x", "limit=0", "limit=1001", "offset=-1"):
        assert agent.get(f"/readers?{question}")[0] == 422, question


def test_the_register_hides_names_that_the_agents_owner_may_not_read(agent: Machine) -> None:
    post(token_of(agent.owner), {"consumers": [SYNC]})
    Domain.objects.create(key="secret", name="Secret", restricted=True)
    Asset.objects.filter(name="Copy of orders").update(domain=Domain.objects.get())
    told = agent.get("/readers")[1]
    assert (told["total"], "Copy of orders" in json.dumps(told)) == (2, False)
    hidden = next(one for one in told["readers"] if one["kind"] == "sync")
    assert (hidden["mode"], hidden["next_read"] is None, hidden["tool"]) == ("mirror", False, None)


def test_nothing_that_waits_is_answered_over_the_network(agent: Machine) -> None:
    post(agent.token, {"consumers": [SYNC]})
    row = Consumer.objects.get(asset__name="Copy of orders")
    answer = agent.client.post(f"/suggestions/reader/{row.pk}", {"answer": "approve"}, headers=agent.headers)
    assert answer.status_code == 302
    assert answer["Location"].startswith("/sign-in")
    with pytest.raises(Exception, match="person of the domain"):
        suggestions.approve(row, actor=Actor(agent.agent, "api"))
    assert find_asset("Copy of orders").consumer.status == "suggested"


def test_an_agent_of_certain_namespaces_changes_no_reader_of_another() -> None:
    make_shop()
    limited = Machine.make(scopes=SCOPES, namespaces=["duckdb://elsewhere"])
    board = Asset.objects.get(kind="dashboard")
    assert post(limited.token, {"consumers": [{"asset": board.name, "contact": "#mine"}]})[0] == 403
    assert post(limited.token, {"consumers": [{"asset": "Mine alone", "contact": "#mine"}]})[0] == 200


def test_what_is_watched_is_what_the_person_sees_under_that_name(agent: Machine) -> None:
    hidden = Domain.objects.create(key="pay", name="Pay", restricted=True)
    Asset.objects.create(namespace="duckdb://wh", name="main.orders", kind="table", domain=hidden)
    document = {"assets": [{"asset": "main.orders", "watch": ["row_count"]}]}
    assert post(token_of(agent.owner), document)[0] == 200
    assert list(Check.objects.values_list("asset__name", flat=True)) == ["dev.main.orders"]
