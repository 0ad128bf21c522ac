"""The facts of an installation, straight from the database: whole, in few queries, nothing that is not to be read."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from approvals.models import Policy
from catalog.lints.types import ColumnFact
from catalog.models import Asset, Build, ColumnList, Consumer, Domain, EdgeClaim, GraphVersion, NodeClaim, Source
from catalog.review import engine
from catalog.review.known import facts_document
from catalog.review.known.knowledge import gather
from catalog.review.types import Policy as ReviewPolicy
from catalog.services.declare import declare
from catalog.services.reviewing import rules
from catalog.sources import manifest
from foundation.audit import Actor
from foundation.clock import now
from foundation.errors import NotAllowed
from foundation.people import create_person, give_role
from incidents.models import Cause, Check, Incident, Result
from spellbook import review_acknowledging, review_facts
from tests.spellbook.machines import NAMESPACE, Machine, command_line, make_shop
from tests.spellbook.review_world import PLAIN, manifest_of, mirror

pytestmark = pytest.mark.django_db


@pytest.fixture
def domain() -> Domain:
    make_shop()
    people = {name: create_person(f"{name}@shop.example", f"The {name}") for name in ("owner", "approver", "fallback")}
    found = Domain.objects.create(key="retail", name="Retail", owner=people["owner"])
    Policy.objects.create(domain=found, approver=people["approver"], fallback=people["fallback"])
    Asset.objects.filter(namespace=NAMESPACE).update(domain=found)
    declare({"consumers": [mirror()]}, actor=command_line())
    return found


def orders() -> Asset:
    return Asset.objects.get(name="dev.main.orders")


def test_the_document_names_domains_tables_readers_and_what_was_measured(domain: Domain) -> None:
    build = Build.objects.create(key="b", kind="dbt", announced_by=command_line().principal, announced_at=now())
    ColumnList.objects.update_or_create(
        asset=orders(), defaults={"items": [{"name": "ID", "type": "INTEGER", "description": "", "nullable": False}]}
    )
    check = Check.objects.create(asset=orders(), kind="not_null", column="id", origin="dbt", local_id="test.a")
    for status, failures in (("failed", 9), ("failed", 3)):
        Result.objects.create(
            check_run=check, build=build if failures == 3 else None, status=status, observed={"failures": failures},
            at=now(),
        )  # fmt: skip
    Result.objects.create(check_run=check, status="not_evaluated", reason="not run", at=now())
    passed = Check.objects.create(asset=orders(), kind="not_null", column="state", origin="dbt", local_id="test.b")
    Result.objects.create(check_run=passed, status="passed", observed={"failures": 0}, at=now())
    key = Check.objects.create(asset=orders(), kind="unique", column="id", origin="dbt", local_id="test.c")
    Result.objects.create(check_run=key, status="failed", observed={"failures": 2}, at=now())

    found = review_facts.document(project="shop")
    (one,) = found.domains
    assert (one.key, one.owner, one.approvers) == ("retail", "The owner", ("The approver", "The fallback"))
    table = next(one for one in found.assets if one.name == "dev.main.orders")
    assert (table.unique_id, table.kind, table.domain, table.reads) == ("model.shop.orders", "model", "retail", ())
    assert table.people["owner"] == ("The owner",)
    reader = next(one for one in found.readers if one.name == "orders to ads")
    assert (reader.reads, reader.mode, reader.cron, reader.hidden) == (
        ("dev.main.orders",), "mirror", "0 2 * * *", False,
    )  # fmt: skip
    fact = found.columns["dev.main.orders", "ID"]
    assert (fact.nulls, fact.rows, fact.type, fact.nullable) == (3, None, "INTEGER", False)
    assert fact.measured_at
    assert ("dev.main.orders", "state") not in found.columns  # a test that passed may have looked at some rows
    assert [(one.columns, one.duplicates) for one in found.keys["dev.main.orders"]] == [(("id",), 2)]
    assert facts_document.read(facts_document.write(found), "here") == found


def test_nulls_that_a_diagnosis_counted_are_told_with_the_rows(domain: Domain) -> None:
    incident = Incident.objects.create(number=1, asset=orders(), opened_at=now())
    nulls = [{"unique_id": "model.shop.orders", "column": "is_test", "nulls": "3912", "total": "10950000"}]
    Cause.objects.create(incident=incident, established=True, kind="code", facts={"nulls": nulls}, at=now())
    fact = review_facts.document().columns["dev.main.orders", "is_test"]
    assert (fact.nulls, fact.rows) == (3912, 10950000)
    assert fact != ColumnFact()


def test_edges_of_the_manifest_under_review_are_left_to_it_and_others_are_told(domain: Domain) -> None:
    other = Source.objects.create(key="openlineage", kind="openlineage")
    version = GraphVersion.objects.order_by("-number").first()
    assert version is not None
    late = Asset.objects.create(namespace=NAMESPACE, name="dev.main.copy", kind="table", domain=domain)
    NodeClaim.objects.create(source=other, asset=late, local_id="copy", added_in=version)
    EdgeClaim.objects.create(source=other, from_asset=orders(), to_asset=late, added_in=version)
    reads = {one.name: one.reads for one in review_facts.document(project="shop").assets}
    assert reads["dev.main.copy"] == ("dev.main.orders",)
    assert reads["dev.main.orders"] == ()
    assert {one.name: one.reads for one in review_facts.document().assets}["dev.main.orders"] == (
        "dev.main.stg_orders",
    )


def test_a_restricted_reader_is_hidden_and_still_reads(domain: Domain) -> None:
    secret = Domain.objects.create(key="secret", name="Secret", restricted=True)
    Asset.objects.filter(name="orders to ads").update(domain=secret)
    reader = next(one for one in review_facts.document(project="shop").readers if one.hidden)
    assert (reader.mode, reader.reads, reader.cron) == ("mirror", ("dev.main.orders",), "0 2 * * *")
    assert "orders to ads" not in repr(reader)
    assert (reader.tool, reader.delete_rule) == ("", "")
    assert "Audiences" not in repr(reader)


def test_rules_are_listed_by_dbt_s_name_until_they_are_lifted(domain: Domain) -> None:
    owner = domain.owner
    assert owner is not None
    actor = Actor(owner.principal, "web")
    rules.set_rule(orders(), "Finance closes on it.", person=owner, actor=actor)
    assert [(one.asset, one.reason) for one in review_facts.document().rules] == [
        ("model.shop.orders", "Finance closes on it.")
    ]
    rules.lift_rule(orders(), "The books are closed.", person=owner, actor=actor)
    assert review_facts.document().rules == ()


@pytest.mark.parametrize("hidden", [False, True], ids=["open", "restricted"])
def test_a_rule_of_a_reader_reaches_the_review_by_the_reader_s_name_and_keeps_its_secrets(
    hidden: bool, domain: Domain
) -> None:
    owner = domain.owner
    assert owner is not None
    sync = Asset.objects.get(name="orders to ads")
    Asset.objects.filter(pk=sync.pk).update(domain=domain)
    sync.refresh_from_db()
    rules.set_rule(sync, "A secret campaign.", person=owner, actor=Actor(owner.principal, "web"))
    Domain.objects.update(restricted=hidden)
    facts = review_facts.document(project="shop")
    called = f"restricted sync {sync.pk}" if hidden else "orders to ads"
    assert [(one.asset, one.reason) for one in facts.rules] == [(called, "" if hidden else "A secret campaign.")]
    base, head = (manifest.read(manifest_of(code, stamp=code)) for code in (PLAIN, PLAIN + " limit 5"))
    known = gather(base, head, facts=(facts,))
    found = engine.review(base, head, known, ReviewPolicy(facts.rules), at=now())
    assert [one for one in found.notes if "was not applied" in one] == []
    assert found.required == (f"A change of {called} has to be acknowledged{'' if hidden else ': A secret campaign'}.",)
    subjects = review_acknowledging.subjects(found, facts.rules, "shop")
    assert {"unique_id": called, "asset": sync.pk} in subjects


def test_a_rule_of_a_hidden_table_has_its_hidden_name(domain: Domain) -> None:
    owner = domain.owner
    assert owner is not None
    rules.set_rule(orders(), "A secret merger.", person=owner, actor=Actor(owner.principal, "web"))
    Domain.objects.update(restricted=True)
    (rule,) = review_facts.document().rules
    assert rule.reason == ""
    assert rule.asset in {one.name for one in review_facts.document().assets}
    (own,) = review_facts.document(project="shop").rules
    assert (own.asset, own.reason) == ("model.shop.orders", "")


def test_the_number_of_queries_does_not_grow_with_the_tables(domain: Domain) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as caught:
            review_facts.document(project="shop")
        return len(caught)

    few = queries()
    version = GraphVersion.objects.order_by("-number").first()
    source = Source.objects.get(key="dbt:shop")
    assert version is not None
    for number in range(100):
        row = Asset.objects.create(namespace=NAMESPACE, name=f"dev.main.t{number}", kind="model", domain=domain)
        NodeClaim.objects.create(
            source=source, asset=row, local_id=f"model.shop.t{number}", added_in=version, attributes={"kind": "model"}
        )
        ColumnList.objects.create(asset=row, items=[{"name": "a", "type": "", "description": "", "nullable": None}])
        EdgeClaim.objects.create(source=source, from_asset=orders(), to_asset=row, added_in=version)
        if number < 20:
            reader = Asset.objects.create(namespace=NAMESPACE, name=f"reader {number}", kind="dashboard", domain=domain)
            NodeClaim.objects.create(source=source, asset=reader, local_id=f"exposure.shop.r{number}", added_in=version)
            Consumer.objects.create(asset=reader, cron="0 3 * * *")
            EdgeClaim.objects.create(source=source, from_asset=row, to_asset=reader, added_in=version)
            check = Check.objects.create(asset=row, kind="not_null", column="a", origin="dbt", local_id=f"t{number}")
            Result.objects.create(check_run=check, status="failed", observed={"failures": 1}, at=now())
    assert queries() == few
    assert few <= 30
    assert len(review_facts.document(project="shop").readers) == 22


class TestOverRest:
    @pytest.fixture
    def machine(self, domain: Domain) -> Machine:
        return Machine.make(scopes=["catalog:read"])

    def test_a_job_gets_a_document_that_a_review_can_read(self, machine: Machine) -> None:
        answer = self.ask(machine, "?project=shop")
        assert answer.status_code == 200
        found = facts_document.read(answer.content, "the answer")
        assert {one.name for one in found.readers} >= {"orders to ads"}
        assert found.graph_version > 0
        assert found.installation.startswith("http")

    def test_tables_of_a_restricted_domain_refuse_a_review_that_would_be_half_blind(
        self, machine: Machine, domain: Domain
    ) -> None:
        Domain.objects.update(restricted=True)
        answer = self.ask(machine, "?project=shop")
        assert answer.status_code == 403
        assert "orders" not in answer.json()["message"]
        with pytest.raises(NotAllowed):
            review_facts.document(hidden=[domain.pk], outside=True)
        give_role(machine.owner, "member", scope="domain:retail", actor=command_line())
        assert self.ask(machine, "?project=shop").status_code == 200

    def test_without_the_scope_there_are_no_facts(self, machine: Machine) -> None:
        other = Machine.make(scopes=["build:write"], name="other")
        assert self.ask(other, "").status_code == 403

    def ask(self, machine: Machine, query: str) -> Any:
        return machine.client.get(f"/api/v1/review-facts{query}", headers=machine.headers)
