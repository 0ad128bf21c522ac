"""A real estate under Spellbook's eyes: connected, declared, built twice with real dbt, and its incident diagnosed."""

from __future__ import annotations

import secrets
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from approvals.models import Plan, Request, Run
from approvals.services import acting, ask, autonomy, draft, rehearse, runs, verify
from approvals.services.decide import decide
from catalog.models import Build, Domain
from catalog.selectors import find_asset
from catalog.services import builds
from catalog.services.imports import import_manifest
from examples.mixpanel_night.night.repo import apply_and_merge
from foundation import connections
from foundation.audit import Actor
from foundation.errors import SpellbookError
from foundation.models import Person
from foundation.people import create_person, system
from incidents.diagnosis import diagnose
from incidents.models import Incident
from incidents.services import checks, progress
from incidents.services.record import record
from spellbook.declaring import declare_file
from tests.estates import Estate

WAREHOUSE = "duckdb://warehouse"


@dataclass(frozen=True)
class Built:
    """An estate after a good and a bad build: where it lies, the folders of the artifacts, the two commits."""

    kind: type[Estate]
    folder: Path
    rows: int
    targets: tuple[Path, Path]
    commits: tuple[str, str]

    def copy(self, into: Path) -> Estate:
        """The same estate in another folder, so that each test may change its own."""
        shutil.copytree(self.folder, into)
        return self.kind(into, rows=self.rows)


def build_twice(kind: type[Estate], folder: Path, rows: int) -> Built:
    """Real dbt: a good night, the change of the evening, the bad night."""
    estate = kind.make(folder, rows=rows)
    first, good = estate.commit(), estate.build()
    estate.break_it()
    return Built(kind, folder, rows, (good, estate.build()), (first, estate.commit()))


def conductor() -> Actor:
    return Actor(system("conductor"), "timer")


def as_actor(who: Person) -> Actor:
    return Actor(who.principal, "web")


def connect(estate: Estate) -> None:
    """The three connections of an estate: read the warehouse, read the code, run dbt."""
    params: dict[str, dict[str, Any]] = {
        "warehouse": {"path": str(estate.duck_path)},
        "code": {"path": str(estate.repo), "branch": "main"},
        "dbt": {
            "profiles_dir": ".", "target": "warehouse", "repository": "code",
            "env": {"DUCK_PATH": str(estate.duck_path)},
        },
    }  # fmt: skip
    kinds = {"warehouse": ("duckdb", "read", WAREHOUSE), "code": ("git", "code", ""), "dbt": ("dbt", "run", WAREHOUSE)}
    for name, (kind, purpose, namespace) in kinds.items():
        connections.save(
            name, kind=kind, purpose=purpose, namespace=namespace, params=params[name], secret_names=[],
            actor=conductor(),
        )  # fmt: skip


def diagnosed(built: Built, estate: Estate, *, level: int = 2) -> Incident:
    """The incident of the bad night with its cause."""
    incident = opened(built, estate, level=level)
    diagnose(incident.pk, actor=conductor())
    return Incident.objects.get()


def opened(built: Built, estate: Estate, *, level: int = 2) -> Incident:
    """The incident of the bad night, nobody has looked for its cause: declared estate, thirty nights, both builds."""
    actor = conductor()
    connect(estate)
    import_manifest((built.targets[0] / "manifest.json").read_bytes(), namespace=WAREHOUSE, actor=actor)
    declare_file(estate.declaration, actor=actor)
    watched = find_asset(estate.watched)
    for line in estate.history(datetime.now(UTC).date()):
        when = datetime.fromisoformat(str(line["at"]))
        record(watched, "row_count", int(line["value"]), actor=actor, at=when, build_key=str(line["build"]))
    announce(built, 0)
    announce(built, 1)
    incident = Incident.objects.get()
    progress.see_reach(incident.pk, actor=actor)
    progress.tell(incident.pk, actor=actor)
    raise_level(watched.domain, level)
    return Incident.objects.get()


def announce(built: Built, night: int) -> Build:
    """Announce one of the two builds and let it be processed and reviewed."""
    target = built.targets[night]
    files = {name: (target / f"{name}.json").read_bytes() for name in ("manifest", "run_results")}
    ended = datetime.now(UTC)
    build, _ = builds.announce(
        key=f"night-{night}", kind="dbt", producer="nightly", commit=built.commits[night], repository="code",
        connection="warehouse", artifacts=files, started_at=ended - timedelta(minutes=1), ended_at=ended,
        actor=conductor(),
    )  # fmt: skip
    if night == 0:
        # The warehouse of the copied estate already holds the bad night: the good one was counted when it was built.
        builds.process(build.pk, actor=conductor())
        rows = built.rows
        record(
            find_asset(built.kind.watched), "row_count", rows, actor=conductor(), build_key=build.key,
            obtained="measured",
        )  # fmt: skip
        return build
    return review(build)


def review(build: Build) -> Build:
    """What the worker does with an announced build."""
    done = builds.process(build.pk, actor=conductor())
    checks.review(done, actor=conductor())
    return done


def raise_level(domain: Domain | None, level: int) -> None:
    assert domain is not None
    owner, second = domain.owner, create_person(f"{secrets.token_hex(4)}@example.org", "Second", roles=["admin"])
    assert owner is not None
    for _ in range(1, level):
        change = autonomy.propose_raise(domain, "", person=owner, reason="the would-do page is right")
        autonomy.second_raise(change.pk, person=second)


def drafted(incident: Incident) -> Plan:
    plan = draft.draft(incident.pk, actor=conductor())
    assert plan is not None
    return plan


def rehearsed(plan: Plan) -> dict[str, Any]:
    outcome = rehearse.rehearse(plan.pk, actor=conductor())
    assert outcome is not None
    return outcome


def approve(plan: Plan, *, steps: list[int] | None = None, rehearsal: str = "rehearsed") -> Request:
    """Ask and let the named approver approve. A plan that nobody rehearsed is said to be."""
    Plan.objects.filter(pk=plan.pk, rehearsal__isnull=True).update(rehearsal={"state": rehearsal, "reason": ""})
    request = ask.ask(plan.pk, actor=conductor())
    approver = Person.objects.get(pk=request.chain[0]["person"])
    decide(
        request.pk, person=approver, decision="approve", steps=steps, reason="looks right",
        plan_digest=request.plan_digest, shown_digest=request.shown_digest, idempotency_key=secrets.token_hex(8),
        actor=as_actor(approver),
    )  # fmt: skip
    return request


def merge(estate: Estate, plan: Plan) -> str:
    """The owner merges exactly what was approved."""
    return apply_and_merge(estate.repo, str(plan.steps.get(kind="change").params["patch"]))


def advance(plan: Plan) -> bool:
    return acting.advance(plan.pk, actor=conductor())


def act_until(plan: Plan, done: Callable[[], bool], seconds: float = 90) -> None:
    """Look at a plan as the conductor does until something is so; what cannot be done now is looked at again."""

    def look() -> bool:
        with suppress(SpellbookError):
            advance(plan)
        return done()

    until(look, seconds)


def until(done: Callable[[], bool], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)


def state(plan: Plan) -> str:
    return Plan.objects.get(pk=plan.pk).state


def carry_out(estate: Estate, plan: Plan) -> bool | None:
    """From approval to the end: merge, run, build reviewed, verification; what `verify` said."""
    merge(estate, plan)
    act_until(plan, lambda: state(plan) != "acting")
    if state(plan) != "verifying":
        return None
    run = Run.objects.get(step__plan=plan)
    assert run.build is not None
    review(run.build)
    return verify.verify(plan.pk, actor=conductor())


def cancel_all() -> None:
    """Nothing that a test started may outlive it."""
    for run in Run.objects.filter(state__in=("claimed", "running")):
        folder = runs.run_folder(run)
        if folder.exists():
            (folder / "cancel").touch()
