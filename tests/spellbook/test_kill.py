"""`kill -9` of a worker during the rerun, of the web during a decision, of the sealer between write and sign.

The house runs as an installation does (`manage.py up`); the test acts for its people on the same database. Failpoints
kill once each, so that the process that is started again goes through.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest
from django.test import override_settings

from approvals.actions import PLAN_APPROVED
from approvals.models import Checkpoint, Leaf, Outcome, Plan, Receipt, Request, Run, Vote
from approvals.services import autonomy, ledger_check
from examples.mixpanel_night.night.repo import apply_and_merge
from examples.mixpanel_night.site import forms
from foundation.clock import now
from foundation.models import AuditRow
from incidents.models import Incident, IncidentHead
from tests.approvals import builders
from tests.engines import chosen, open_at, put_back
from tests.estates import DBT
from tests.estates.night import Night
from tests.foundation.cast import PASSWORD
from tests.spellbook.house import House, end_runs
from tests.spellbook.test_processes import Site, running

pytestmark = [
    pytest.mark.real,
    pytest.mark.timeout(600),
    pytest.mark.skipif(chosen() != "sqlite", reason="the house of these tests runs on its own SQLite file"),
]

DECISION = ("decide.before_commit", "decide.after_commit")
SEALING = ("seal.after_claim", "seal.before_commit", "seal.after_commit", "seal.before_checkpoint")
DISPATCH = ("dispatch.after_claim", "dispatch.after_start")
SLOW_DBT = """#!/bin/sh
echo "$@" >> {calls}
case "$*" in *{runs}/rehearsal-*) ;; *{runs}*) sleep 6;; esac
exec {dbt} "$@"
"""


@dataclass
class Struck(Site):
    """A running house whose processes are killed once at each failpoint that a marker does not stand for yet."""

    def marker(self, point: str) -> Path:
        return self.data / "struck" / point

    def struck(self, *points: str) -> bool:
        return all(self.marker(point).exists() for point in points)

    def dbt_builds(self) -> int:
        """How often dbt was started to carry out a run; rehearsals lie elsewhere."""
        calls = self.data / "calls"
        lines = calls.read_text().splitlines() if calls.exists() else []
        return sum(line.startswith("build ") and self.is_rerun(line) for line in lines)

    def is_rerun(self, line: str) -> bool:
        """Whether a command line builds in the folder of a run."""
        runs = str(self.data / "runs")
        return runs in line and f"{runs}/rehearsal-" not in line


@pytest.fixture(scope="module")
def site(
    tmp_path_factory: pytest.TempPathFactory, django_db_setup: None, django_db_blocker: Any
) -> Iterator[Struck]:  # fmt: skip
    data = tmp_path_factory.mktemp("kill")
    (data / "struck").mkdir()
    dbt = data / "dbt"
    dbt.write_text(SLOW_DBT.format(calls=data / "calls", runs=data / "runs", dbt=DBT))
    dbt.chmod(0o755)
    points = ",".join(f"{point}=once:{data / 'struck' / point}" for point in (*DECISION, *SEALING, *DISPATCH))
    own = {"ARTIFACTS_DIR": data / "artifacts", "RUNS_DIR": data / "runs", "SPELLBOOK_KEYS_DIR": data / "keys"}
    with running(data, SPELLBOOK_FAILPOINTS=points, SPELLBOOK_DBT=str(dbt)) as made, django_db_blocker.unblock():
        previous = open_at(f"sqlite:///{data / 'spellbook.sqlite3'}")
        try:
            with override_settings(**own):
                IncidentHead.objects.create(pk=1, last_number=1_000)  # the incidents made by hand have lower numbers
                yield Struck(made.process, made.data, made.port)
                end_runs()
        finally:
            put_back(previous)


def until(done: Callable[[], object], what: str, seconds: float = 120) -> None:
    """Wait for the processes; a lease that a killed worker left behind is taken to have ended."""
    end = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < end, f"waited in vain for {what}"
        time.sleep(0.1)


def pass_leases() -> None:
    """Five minutes go by."""
    for rows in (Incident.objects, Plan.objects):
        rows.filter(lease_until__isnull=False).update(lease_until=now())


# --- the sealer ------------------------------------------------------------------------------------------------------


def test_a_sealer_killed_between_write_and_sign_leaves_one_receipt_and_one_leaf(site: Struck) -> None:
    built = builders.house(level=1)
    autonomy.lower(built.domain, "", 0, person=built.stranger)
    until(lambda: site.struck(*SEALING), "the sealer to be killed four times")
    until(lambda: Checkpoint.objects.exists(), "the checkpoint")  # noqa: PLW0108
    receipt = Receipt.objects.get()
    assert receipt.envelope is not None
    assert Leaf.objects.get().receipt == receipt
    assert Checkpoint.objects.get().size == 1
    found = ledger_check.check()
    assert (found.leaves, found.checkpoints, found.unsealed) == (1, 1, 0)

    change = autonomy.propose_raise(built.domain, "", person=built.owner, reason="judge again")
    autonomy.second_raise(change.pk, person=built.second)
    until(lambda: Checkpoint.objects.count() == 2, "the next receipt")
    assert ledger_check.check().leaves == 2


# --- the web ---------------------------------------------------------------------------------------------------------


class Browser:
    """A browser of the approver that keeps the form it was shown, and sends it as often as its person presses."""

    def __init__(self, site: Struck, email: str, page: str) -> None:
        self.client = httpx.Client(base_url=f"http://localhost:{site.port}", timeout=30, follow_redirects=True)
        self._send("/sign-in", self._hidden("/sign-in", "/sign-in") | {"email": email, "password": PASSWORD})
        self.action = f"{page}/decision"
        self.form = self._hidden(page, self.action) | {"decision": "approve", "reason": "looks right"}

    def press(self) -> httpx.Response | None:
        """Send the form; None when the answer never came."""
        try:
            return self._send(self.action, self.form)
        except httpx.TransportError:
            return None

    def _send(self, path: str, form: dict[str, str]) -> httpx.Response:
        return self.client.post(path, data=form, headers={"Referer": str(self.client.base_url)})

    def _hidden(self, page: str, action: str) -> dict[str, str]:
        found = forms(self.client.get(page).text)
        return dict(next(form for form in found if form.action in (action, "")).hidden)


def test_a_web_killed_during_the_decision_leaves_one_outcome(site: Struck) -> None:
    built = builders.house()
    moment = now()
    Incident.objects.filter(pk=built.incident.pk).update(reached_at=moment, told_at=moment, diagnosed_at=moment)
    request = builders.asked(built)
    built.approver.set_password(PASSWORD)
    built.approver.save()
    browser = Browser(site, built.approver.email, f"/requests/{request.pk}")

    assert browser.press() is None, "killed before the commit"
    assert site.struck("decide.before_commit")
    assert Request.objects.get(pk=request.pk).state == "pending"
    assert not Vote.objects.filter(request=request).exists()

    assert pressed(site, browser, lambda: site.struck("decide.after_commit")) is None, "killed after the commit"
    assert Request.objects.get(pk=request.pk).state == "approved"
    outcome = Outcome.objects.get(request=request)

    answer = pressed(site, browser, lambda: False)
    assert answer is not None
    assert answer.status_code == 200, answer.text[:500]
    again = browser.press()
    assert again is not None
    assert again.status_code == 200
    assert Outcome.objects.get(request=request).pk == outcome.pk
    assert Vote.objects.filter(request=request).count() == 1
    assert AuditRow.objects.filter(action=PLAN_APPROVED, target_id=str(request.pk)).count() == 1
    assert not AuditRow.objects.filter(target_id=str(request.pk), refused=True).exists()


def pressed(site: Struck, browser: Browser, killed: Callable[[], bool]) -> httpx.Response | None:
    """Press until the site that is started again answers, or was killed by it."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        answer = browser.press()
        if answer is not None or killed():
            return answer
        time.sleep(0.2)
    raise AssertionError("the site was not started again")


# --- the worker that runs dbt ----------------------------------------------------------------------------------------


class Watched(House):
    """A house whose work is done by the processes of the site; the test only waits for it."""

    def look(self) -> bool:
        return False


@pytest.mark.dbt
def test_a_worker_killed_during_the_rerun_leaves_one_dbt_and_one_run(site: Struck, tmp_path: Path) -> None:
    night = Night.make(tmp_path / "estate", rows=4_000)
    house = Watched.open(night)
    house.night("good")
    night.break_it()
    opened = house.night("bad").incident
    assert opened is not None
    house.until(lambda: Request.objects.filter(plan__incident=opened).exists(), 240)
    plan = Plan.objects.get(incident=opened)
    house.decide()
    apply_and_merge(night.repo, str(plan.steps.get(kind="change").params["patch"]))

    until(lambda: site.struck("dispatch.after_claim"), "a death between the claim and the start")
    assert Run.objects.get().state == "claimed"
    assert site.dbt_builds() == 0
    pass_leases()
    until(lambda: site.struck("dispatch.after_start"), "a death right after the start")
    pass_leases()
    until(lambda: Run.objects.get().state == "running", "the run to be adopted")
    until(lambda: site.dbt_builds() == 1, "dbt to begin")
    worker = site.child("-Q long")
    assert worker is not None
    running_dbt = dbt_of(site)
    worker.kill()
    until(lambda: site.replaced("-Q long", worker), "another worker")
    assert any(process.is_running() for process in running_dbt), "dbt goes on without its worker"

    def ended() -> bool:
        pass_leases()
        return Plan.objects.get(pk=plan.pk).state not in ("acting", "verifying")

    until(ended, "the plan to end", 240)
    plan.refresh_from_db()
    assert plan.state == "verified", plan.end_reason
    assert Run.objects.get().state == "succeeded"
    assert site.dbt_builds() == 1
    assert night.count(night.watched) == night.rows - night.internal
    until(lambda: not Receipt.objects.filter(sealed_at__isnull=True).exists(), "the seals")
    assert Receipt.objects.filter(type="plan", subject=f"plan/{plan.pk}").count() == 1
    assert ledger_check.check().unsealed == 0


def dbt_of(site: Struck) -> list[psutil.Process]:
    """The processes of the rerun, whoever their parent is by now."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            line = " ".join(process.cmdline())
            if site.is_rerun(line) and " build" in line:
                found.append(process)
    assert found
    return found
