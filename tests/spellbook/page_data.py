"""One incident with everything around it, built through the services where they exist, for tests of pages."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from approvals.models import Assertion, Draft, Plan, Policy, Request, Step
from approvals.services import ask, autonomy
from approvals.services.drafting import seal_body
from catalog.code_hosts.patches import unified_diff
from catalog.models import (
    Asset,
    AssetRole,
    Build,
    BuildOutput,
    ColumnList,
    Consumer,
    Domain,
    EdgeClaim,
    GraphHead,
    GraphVersion,
    NodeClaim,
    Source,
    Sync,
)
from foundation import people
from foundation.audit import Actor
from foundation.clock import now
from foundation.models import Person
from foundation.people import create_person
from incidents.models import Cause, Check, Evidence, Incident, Result
from incidents.services import progress
from incidents.services.record import record

PASSWORD = "a long pass phrase 7"
HOSTILE = '<script>alert("x")</script> javascript:alert(1) \u202egnp.exe'

MODEL = "select o.order_number, o.total\nfrom stage_orders o\nwhere not o.is_test\n"
FIXED = MODEL.replace("not o.is_test", "not coalesce(o.is_test, false)")


@dataclass
class Scene:
    """The people and rows of one night."""

    people: dict[str, Person]
    domain: Domain
    assets: dict[str, Asset]
    incident: Incident
    plan: Plan
    request: Request

    def actor(self, who: str) -> Actor:
        return Actor(self.people[who].principal, "web")


def scene(*, level: int = 2, minimum_seconds: int = 1800) -> Scene:
    """An open incident, diagnosed, with a plan whose request waits for the approver (below L2 it is not asked)."""
    cast = _cast()
    domain = Domain.objects.create(key="retail", name="Retail", owner=cast["owner"], on_call=cast["owner"])
    Policy.objects.create(
        domain=domain, approver=cast["approver"], fallback=cast["fallback"], minimum_seconds=minimum_seconds
    )
    assets = _assets(domain, cast)
    system = Actor(people.system("conductor"), "timer")
    _values(assets, system)
    incident = Incident.objects.get()
    progress.see_reach(incident.pk, actor=system)
    progress.tell(incident.pk, actor=system)
    _cause(incident, assets)
    plan = _plan(incident, assets, cast, system)
    if level >= 2:
        change = autonomy.propose_raise(domain, "", person=cast["owner"], reason="The would-do plans were right.")
        autonomy.second_raise(change.pk, person=cast["admin"])
        ask.ask(plan.pk, actor=system)
    incident.refresh_from_db()
    plan.refresh_from_db()
    request = Request.objects.filter(plan=plan).first()
    return Scene(cast, domain, assets, incident, plan, request)  # type: ignore[arg-type]


def _cast() -> dict[str, Person]:
    names = ("owner", "approver", "fallback", "operator", "stranger", "billing")
    cast = {name: create_person(f"{name}@shop.example", f"The {name}", password=PASSWORD) for name in names}
    cast["admin"] = create_person("admin@shop.example", "The admin", password=PASSWORD, roles=["admin"])
    return cast


def _assets(domain: Domain, cast: dict[str, Person]) -> dict[str, Asset]:
    source = Source.objects.create(key="dbt:retail", kind="dbt")
    GraphHead.objects.update_or_create(pk=1, defaults={"version": 1})
    version = GraphVersion.objects.create(number=1, at=now(), source=source)
    kinds = {
        "raw.orders": "source", "stage_orders": "model", "fct_orders": "model", "mart_weekly": "model",
        "orders to ads": "sync", "Weekly board": "dashboard",
    }  # fmt: skip
    found = {}
    for name, kind in kinds.items():
        found[name] = Asset.objects.create(namespace="duckdb://shop", name=name, kind=kind, domain=domain)
        NodeClaim.objects.create(
            source=source,
            asset=found[name],
            local_id=f"{kind}.retail.{name}",
            added_in=version,
            attributes={"kind": kind},
        )
    edges = [
        ("raw.orders", "stage_orders"), ("stage_orders", "fct_orders"), ("fct_orders", "mart_weekly"),
        ("fct_orders", "orders to ads"), ("orders to ads", "Weekly board"),
    ]  # fmt: skip
    for start, end in edges:
        EdgeClaim.objects.create(source=source, from_asset=found[start], to_asset=found[end], added_in=version)
    column = {"name": "order_number", "type": "BIGINT", "description": "The order.", "nullable": None}
    ColumnList.objects.create(asset=found["fct_orders"], items=[column])
    sync = Consumer.objects.create(
        asset=found["orders to ads"], cron="0 * * * *", consequence="Audiences lose people who bought.",
        approved_by=cast["owner"], approved_at=now(),
    )  # fmt: skip
    Sync.objects.create(consumer=sync, tool="ads", mode="mirror", delete_rule="deletes rows that are gone")
    Consumer.objects.create(asset=found["Weekly board"], consequence="The Monday meeting reads it.")
    AssetRole.objects.create(asset=found["orders to ads"], person=cast["operator"], role="operator")
    AssetRole.objects.create(asset=found["orders to ads"], person=cast["billing"], role="tool_admin")
    return found


def _values(assets: dict[str, Asset], system: Actor) -> None:
    fact = assets["fct_orders"]
    for night in range(30):
        record(
            fact, "row_count", 1_000_000 + night * 137, actor=system, build_key=f"night-{night:02}",
            at=now() - timedelta(days=30 - night),
        )  # fmt: skip
    record(fact, "row_count", 410_000, actor=system, build_key="night-bad")
    build = Build.objects.get(key="night-bad")
    Build.objects.filter(pk=build.pk).update(kind="dbt", status="succeeded")
    for name in ("stage_orders", "fct_orders"):
        BuildOutput.objects.create(build=build, asset=assets[name], status="success", rows=410_000)
    results = [
        ("unique", "passed", ""),
        ("not_null", "passed", ""),
        ("freshness", "not_evaluated", "no loaded_at column"),
    ]
    for kind, status, reason in results:
        check = Check.objects.create(
            asset=fact, kind=kind, column="order_number", origin="dbt", local_id=f"test.{kind}"
        )
        Result.objects.create(check_run=check, build=build, status=status, reason=reason, at=now())


def _cause(incident: Incident, assets: dict[str, Asset]) -> None:
    Cause.objects.create(
        incident=incident, established=True, kind="code", asset=assets["fct_orders"], at=now(),
        statement="fct_orders: the filter (not o.is_test) removes 590,137 rows, all of them because it is NULL",
        facts={"commit": "0" * 40, "why": "not NULL is NULL, and a filter keeps only what is true."},
    )  # fmt: skip
    Evidence.objects.create(
        incident=incident, kind="proof", statement=f"The predicate removes 590,137 of 1,000,137 rows {HOSTILE}",
        query="SELECT COUNT(*) FROM stage_orders WHERE is_test IS NULL", result={"removed": "590137"},
        speaks="for", weight=100, measured_at=now(),
    )  # fmt: skip
    Incident.objects.filter(pk=incident.pk).update(state="diagnosed", diagnosed_at=now())


def _plan(incident: Incident, assets: dict[str, Asset], cast: dict[str, Person], system: Actor) -> Plan:
    plan = Plan.objects.create(
        incident=incident, title="Write the filter null-safely: not coalesce(o.is_test, false)",
        author=system.principal, created_at=now(), body=b"", plan_digest="", expected_seconds=90,
        rehearsal={"state": "rehearsed", "reason": "", "seconds": 4, "predicted": [
            {"assertion": "fct_orders has its rows", "observed": {"n": "1000137"}, "passed": True, "reason": ""}]},
    )  # fmt: skip
    path = "models/marts/fct_orders.sql"
    steps: list[dict[str, Any]] = [
        {"kind": "change", "step_class": "change:null-safe-filter", "actor": "owner", "person": cast["owner"],
         "title": "Write the filter null-safely", "reversible": True, "undo": "Revert the merge.",
         "params": {"repository": "code", "branch": "main", "base": "0" * 40, "files": [path],
                    "patch": unified_diff({path: MODEL}, {path: FIXED})}},
        {"kind": "rerun", "step_class": "rerun:dbt", "actor": "spellbook", "title": "Build fct_orders+",
         "reversible": True,
         "undo": "After the revert, build the same tables again.", "params": {"select": ["fct_orders+"], "after": [1]}},
        {"kind": "message", "step_class": "message", "actor": "spellbook", "person": cast["billing"],
         "reversible": False,
         "title": "Tell the admin of ads what the next sync will bill", "undo": "A message cannot be taken back.",
         "params": {"to": str(cast["billing"].principal_id), "text": f"Up to 590,137 rows are billed. {HOSTILE}"}},
    ]  # fmt: skip
    for position, fields in enumerate(steps, 1):
        Step.objects.create(plan=plan, position=position, **fields)
    Assertion.objects.create(
        plan=plan, position=1, kind="row_count", asset=assets["fct_orders"], params={"equals": "1000137"},
        sentence="fct_orders has 1,000,137 rows",
    )  # fmt: skip
    seal_body(plan)
    Draft.objects.create(incident=incident, plan=plan, at=now())
    return plan
