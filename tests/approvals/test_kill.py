"""A worker that is killed in the middle costs time and nothing else: one dbt, one run, one receipt of each."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import Any

import pytest

from approvals.models import Outcome, Plan, Receipt, Run
from approvals.services import runs, verify
from tests.approvals.acting_builders import (
    Built,
    act_until,
    advance,
    approve,
    conductor,
    diagnosed,
    drafted,
    merge,
    review,
    state,
)
from tests.estates import ROOT, Estate

pytestmark = [pytest.mark.dbt, pytest.mark.prove, pytest.mark.timeout(400)]

WORKER = """
import os, sys, django
os.environ["DJANGO_SETTINGS_MODULE"] = "spellbook.settings"
django.setup()
from approvals.services import acting
from foundation.audit import Actor
from foundation.people import system
for _ in range(20):
    acting.advance(sys.argv[1], actor=Actor(system("conductor"), "timer"))
"""


def killed(plan: Plan, failpoint: str, dbt: str) -> None:
    """A process of its own that looks at the plan until the failpoint kills it, and its whole group with it."""
    environment = {
        **os.environ, "SPELLBOOK_FAILPOINTS": failpoint, "SPELLBOOK_ENVIRONMENT": "demo", "SPELLBOOK_DBT": dbt,
        "PYTHONPATH": str(ROOT),
    }  # fmt: skip
    done = subprocess.Popen(
        [sys.executable, "-c", WORKER, str(plan.pk)], env=environment, cwd=ROOT, start_new_session=True,
        stderr=subprocess.PIPE,
    )  # fmt: skip
    _, said = done.communicate(timeout=120)
    assert done.returncode == -signal.SIGKILL, said.decode()


@pytest.mark.parametrize("failpoint", ["dispatch.after_claim", "dispatch.after_start"])
def test_a_killed_worker_leaves_one_dbt_and_one_run_that_is_verified(
    committing: str, night_built: Built, night: Estate, settings: Any, failpoint: str
) -> None:
    plan = drafted(diagnosed(night_built, night))
    approve(plan)
    merge(night, plan)
    killed(plan, failpoint, settings.SPELLBOOK_DBT)
    run = Run.objects.get()
    assert run.state == "claimed"
    assert plan.steps.get(kind="rerun").state == "acting"
    act_until(plan, lambda: state(plan) != "acting", seconds=200)
    assert state(plan) == "verifying"
    run = Run.objects.get()
    assert (run.state, run.exit_code) == ("succeeded", 0)
    assert (runs.run_folder(run) / "log").read_text().count("Running with dbt=") == 1
    assert run.build is not None
    review(run.build)
    assert verify.verify(plan.pk, actor=conductor()) is True
    assert Outcome.objects.count() == 1
    assert Receipt.objects.filter(type="step").count() == 3
    assert Receipt.objects.filter(type="plan").count() == 1
    assert not advance(plan)
