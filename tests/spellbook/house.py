"""A whole installation in this process: the tasks are called where a worker would run them, and nothing waits.

`House.open(estate)` connects and declares an estate as its people would; `night(key)` is the nightly job (a real build,
announced, its rows recorded); `until(done)` plays beat and all workers until something is so.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.conf import settings

from approvals.models import Plan, Request, Run
from approvals.services import autonomy
from approvals.services.decide import decide
from approvals.services.runs import run_folder
from catalog.models import Build, Domain
from catalog.selectors import find_asset
from catalog.services import builds
from catalog.services.imports import import_manifest
from foundation import connections
from foundation.audit import Actor
from foundation.clock import now
from foundation.models import Person
from foundation.people import create_person, system
from incidents.models import Incident
from incidents.services.record import Recorded, record
from spellbook import tasks
from spellbook.declaring import declare_file
from spellbook.keys import make_demo_keys
from tests.estates import Estate

WAREHOUSE = "duckdb://warehouse"


@dataclass
class House:
    """One estate and the installation that looks after it."""

    estate: Estate
    actor: Actor

    @classmethod
    def open(cls, estate: Estate, *, level: int = 2) -> House:
        """Connections, a first import, the declaration, the level, and thirty nights of counts."""
        actor = Actor(system("nightly job"), "api")
        make_demo_keys(Path(str(settings.SPELLBOOK_KEYS_DIR)))
        connect(estate, actor)
        estate.run_dbt("parse", "--target-path", str(estate.folder / "parse"))
        manifest = (estate.folder / "parse" / "manifest.json").read_bytes()
        import_manifest(manifest, namespace=WAREHOUSE, actor=actor)
        declare_file(estate.declaration, actor=actor)
        domain = find_asset(estate.watched).domain
        assert domain is not None
        for _ in range(1, level):
            raise_level(domain)
        house = cls(estate, actor)
        for line in estate.history(datetime.now(UTC).date()):
            at = datetime.fromisoformat(str(line["at"]))
            house.record(estate.watched, "row_count", int(line["value"]), at=at, build_key=str(line["build"]))
        return house

    def night(self, key: str) -> Recorded:
        """The nightly job: dbt builds everything, the build is announced with its artifacts, its rows are recorded."""
        started = datetime.now(UTC)
        target = self.estate.build()
        self.announce(
            key, "dbt", commit=self.estate.commit(), repository="code", connection="warehouse", started_at=started,
            artifacts={name: (target / f"{name}.json").read_bytes() for name in ("manifest", "run_results")},
        )  # fmt: skip
        return self.record(self.estate.watched, "row_count", self.estate.count(self.estate.watched), build_key=key)

    def sync(self, key: str, reader: str, **facts: int) -> Build:
        """A sync has run, and says what it did."""
        return self.announce(key, "sync", started_at=datetime.now(UTC), outputs=[reader], facts=facts)

    def announce(self, key: str, kind: str, **more: Any) -> Build:
        build, _ = builds.announce(key=key, kind=kind, ended_at=datetime.now(UTC), actor=self.actor, **more)
        self.until(lambda: self.processed(key))
        return build

    def processed(self, key: str) -> bool:
        return Build.objects.filter(key=key, processed_at__isnull=False, due_at__isnull=True).exists()

    def record(self, asset: str, metric: str, number: int, **more: Any) -> Recorded:
        return record(find_asset(asset), metric, number, actor=self.actor, **more)

    def until(self, done: Callable[[], object], seconds: float = 90) -> None:
        """Look at everything that is open, as often as it takes; AssertionError with what stands when it takes long."""
        end = time.monotonic() + seconds
        while not done():
            assert time.monotonic() < end, standing()
            if not self.look():
                time.sleep(0.1)

    def settle(self) -> None:
        """Look until nothing changes any more."""
        self.until(lambda: not self.look())

    def look(self) -> bool:
        """One look of every worker at everything that is open; True when something changed."""
        moment = now()
        for rows in (Incident.objects.exclude(state="closed"), Plan.objects.filter(state__in=("acting", "verifying"))):
            rows.update(due_at=moment)  # nobody waits for the next second
        changed = bool(tasks.process_builds())
        for incident in Incident.objects.exclude(state="closed"):
            changed |= tasks.advance_incident(str(incident.pk))
        for plan in Plan.objects.filter(state__in=("acting", "verifying")):
            changed |= tasks.advance_plan(str(plan.pk))
        return bool(tasks.seal_receipts()) or changed

    def decide(self, decision: str = "approve", reason: str = "looks right") -> Person:
        """The first named person of the pending request decides."""
        request = Request.objects.select_related("plan").get(state="pending")
        person = Person.objects.select_related("principal").get(pk=request.chain[0]["person"])
        decide(
            request.pk, person=person, decision=decision, steps=None, reason=reason, plan_digest=request.plan_digest,
            shown_digest=request.shown_digest, idempotency_key="one press", actor=Actor(person.principal, "web"),
        )  # fmt: skip
        return person


def connect(estate: Estate, actor: Actor) -> None:
    """The three connections of an estate: read the warehouse, read the code, run dbt."""
    run = {
        "profiles_dir": ".", "target": "warehouse", "repository": "code", "env": {"DUCK_PATH": str(estate.duck_path)}
    }  # fmt: skip
    rows: tuple[tuple[str, str, str, str, dict[str, Any]], ...] = (
        ("warehouse", "duckdb", "read", WAREHOUSE, {"path": str(estate.duck_path)}),
        ("code", "git", "code", "", {"path": str(estate.repo), "branch": "main"}),
        ("dbt", "dbt", "run", WAREHOUSE, run),
    )
    for name, kind, purpose, namespace, params in rows:
        connections.save(
            name, kind=kind, purpose=purpose, namespace=namespace, params=params, secret_names=[], actor=actor
        )


def raise_level(domain: Domain) -> None:
    """The owner proposes one level more, an administrator seconds it."""
    owner = domain.owner
    assert owner is not None
    second = Person.objects.filter(email="second@example.org").first()
    second = second or create_person("second@example.org", "Second person", roles=["admin"])
    change = autonomy.propose_raise(domain, "", person=owner, reason="plans are to be asked for")
    autonomy.second_raise(change.pk, person=second)


def standing() -> str:
    """What stands, for a test that waited in vain."""
    plans = [(plan.state, plan.end_reason, plan.rehearsal) for plan in Plan.objects.all()]
    incidents = [(incident.state, incident.diagnosed_at) for incident in Incident.objects.all()]
    told = [f"{row}" for row in Build.objects.exclude(refusal="").values_list("key", "refusal")]
    return f"waited in vain: incidents {incidents}, plans {plans}, refusals {told}"


def end_runs() -> None:
    """Ask every dbt that a test left running to end."""
    for run in Run.objects.filter(state__in=("claimed", "running")):
        if run_folder(run).is_dir():
            (run_folder(run) / "cancel").touch()
