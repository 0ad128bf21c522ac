"""Checking a plan in the warehouse: every signed assertion, on the build that the plan made, by our own query."""

from __future__ import annotations

from uuid import UUID

from approvals import actions
from approvals.assertions import Answer, ask_warehouse
from approvals.models import Assertion, Plan, Run, Verification
from approvals.scope import timeline_of
from approvals.services import ending
from catalog.code_hosts import local_git
from catalog.models import Build
from catalog.warehouse_access import open_for
from foundation import audit, connections
from foundation.audit import Actor
from foundation.errors import BadInput, NotFound, Unavailable
from foundation.locks import lock, transaction


def verify(plan_id: UUID, *, actor: Actor) -> bool | None:
    """Ask every assertion once on the plan's build; True verified, False failed, None while there is no build to ask.

    Waits until the build was processed and measured, so that its own counts stand beside the assertions. Raises
    Unavailable when one could not be asked (its table is missing or locked); it is asked again and never passes by
    itself (D7).
    """
    plan = Plan.objects.get(pk=plan_id)
    build = _build(plan) if plan.state == "verifying" else None
    if build is None or not _reviewed(build):
        return None
    asked = plan.assertions.order_by("position").select_related("asset", "plan__undoes")
    answers = [_one(assertion, build, actor) for assertion in asked]
    if not answers:
        ending.fail(plan, "the plan carries no assertion, so nothing proves it", actor=actor)
        return False
    held = sum(answers)
    if held < len(answers):
        ending.fail(plan, f"{len(answers) - held} of {len(answers)} assertions do not hold", actor=actor)
        return False
    ending.end(plan, "verified", f"{held} of {len(answers)} assertions hold", actor=actor)
    return True


def _one(assertion: Assertion, build: Build, actor: Actor) -> bool:
    known = Verification.objects.filter(assertion=assertion, build=build, passed__isnull=False).first()
    if known is not None:
        return bool(known.passed)
    answer = ask_warehouse(assertion, open_for(assertion.asset))
    if answer.passed is None:
        raise Unavailable(f"Not verified yet: {assertion.sentence}: {answer.reason.rstrip('.')}.")
    _keep(assertion, build, answer, actor)
    return answer.passed


def _keep(assertion: Assertion, build: Build, answer: Answer, actor: Actor) -> None:
    with transaction():
        lock(Plan.objects.all(), pk=assertion.plan_id)
        row, created = Verification.objects.get_or_create(
            assertion=assertion, build=build,
            defaults={
                "passed": answer.passed, "observed": answer.observed, "query": answer.query,
                "measured_at": answer.measured_at,
            },
        )  # fmt: skip
        if created:
            facts: dict[str, str | int | None] = {
                "sentence": assertion.sentence,
                "verdict": "holds" if answer.passed else "does not hold",
                "observed": ", ".join(f"{name} = {count}" for name, count in answer.observed.items()),
            }
            correlation = timeline_of(assertion.plan)
            audit.record(actor, actions.ASSERTION_CHECKED, row, correlation_id=correlation, facts=facts)


def _build(plan: Plan) -> Build | None:
    """The build of the plan's own run, or, when no rerun was approved, the first that others made after its steps."""
    run = Run.objects.filter(step__plan=plan, state="succeeded").select_related("build").order_by("-ended_at").first()
    return run.build if run is not None else _build_of_others(plan)


def _build_of_others(plan: Plan) -> Build | None:
    done = plan.steps.filter(state="done", ended_at__isnull=False).order_by("ended_at").last()
    if done is None:
        return None
    assets = plan.assertions.values_list("asset_id", flat=True)
    later = Build.objects.filter(status="succeeded", outputs__asset__in=list(assets), started_at__gte=done.ended_at)
    return next((build for build in later.distinct().order_by("started_at") if _holds_change(plan, build)), None)


def _holds_change(plan: Plan, build: Build) -> bool:
    """Whether a build was made from the merged change; one that does not say its commit counts as made from it."""
    change = plan.steps.filter(kind="change", state="done").first()
    if change is None or not build.commit:
        return True
    path = str(connections.get(str(change.params["repository"])).params["path"])
    try:
        return local_git.is_ancestor(path, str(change.facts["commit"]), build.commit)
    except (BadInput, NotFound):  # a commit of another repository
        return False


def _reviewed(build: Build) -> bool:
    review = getattr(build, "review", None)
    return review is not None and review.measured_at is not None
