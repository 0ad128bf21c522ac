"""An undo is a plan of its own: the reverse change on the branch as it is now, the same rerun, its own proof (I16)."""

from __future__ import annotations

from uuid import UUID

from approvals import actions
from approvals.fixes.base import Claimed
from approvals.models import Plan, Step
from approvals.models.plans import LIVE_PLANS
from approvals.scope import domain_of, incident_of, timeline_of
from approvals.services import ask, rehearse
from approvals.services.drafting import add_assertions, add_change, add_message, add_rerun, seal_body
from catalog.code_hosts import local_git
from catalog.models import Asset, Build
from foundation import audit, connections
from foundation.audit import Actor
from foundation.clock import now
from foundation.errors import Conflict, NotFound
from foundation.locks import lock, transaction
from foundation.models import Person
from foundation.refusals import kept
from incidents.selectors import newest_value

CLASS = "change:undo"
ROW_COUNT = "row_count"
AGAIN = "Merge the change again, then build the same tables again."


def draft_undo(plan_id: UUID, *, actor: Actor) -> Plan:
    """Draft the plan that takes an ended plan back; a living one that was drafted before is returned.

    Conflict when nothing of the plan was merged, it is still carried out or was taken back already, the files have
    moved on since, or nobody is there to merge. NotFound for an unknown plan.
    """
    plan = Plan.objects.filter(pk=plan_id).select_related("undoes").first()
    if plan is None:
        raise NotFound("There is no such plan.")
    correlation = timeline_of(plan)
    with kept(actor, actions.UNDO_REFUSED, plan, {}, correlation_id=correlation):
        change = _undoable(plan)
        params, owner = _reverse(change), _owner(change)
        claimed = [_claimed(plan, asset) for asset in _assets(plan)]
        with transaction():
            row = lock(Plan.objects.select_related("undoes"), pk=plan.pk)
            known = row.undone_by.filter(state__in=LIVE_PLANS).first()
            return known or _write(row, change, params, owner, claimed, actor)


def prepare(plan_id: UUID, *, actor: Actor) -> bool:
    """The next thing that a drafted undo needs: its rehearsal, then the request; True when something changed.

    After the request, or when the rehearsal contradicts the undo, nothing is due any more; a contradicted undo gives
    its lease back here, so that the look that called this does not make the plan due again.
    """
    plan = Plan.objects.get(pk=plan_id)
    if plan.rehearsal is None:
        return rehearse.rehearse(plan_id, actor=actor) is not None
    if plan.rehearsal.get("state") != "contradicted":
        ask.ask(plan_id, actor=actor)
    else:
        Plan.objects.filter(pk=plan_id, state="draft").update(due_at=None, lease_until=None, lease_token=None)
    return False


def _undoable(plan: Plan) -> Step:
    if plan.state in LIVE_PLANS:
        raise Conflict("This plan has not ended yet; only what was done is taken back.")
    if plan.undone_by.filter(state="verified").exists():
        raise Conflict("This plan was taken back already.")
    change = plan.steps.filter(kind="change", state="done").select_related("person").order_by("position").first()
    if change is None:
        raise Conflict("Nothing of this plan was merged, so there is nothing to take back.")
    return change


def _reverse(change: Step) -> dict[str, object]:
    """The reverse patch against the branch's present head. Conflict when a file is no longer as the change left it."""
    path, branch = str(connections.get(str(change.params["repository"])).params["path"]), str(change.params["branch"])
    base, merged, head = str(change.params["base"]), str(change.facts["commit"]), local_git.head(path, branch)
    if not local_git.is_ancestor(path, merged, head):
        raise Conflict("The branch no longer contains the change, so there is nothing to take back.")
    files = [str(name) for name in change.params["files"]]
    old, left, present = (_files(path, commit, files) for commit in (base, merged, head))
    moved = next((name for name in files if left.get(name) != present.get(name)), None)
    if moved is not None:
        raise Conflict(f"{moved} has been changed since; the undo no longer applies and a person has to write it.")
    patch = local_git.unified_diff(present, old)
    return {"repository": change.params["repository"], "branch": branch, "base": head, "patch": patch, "files": files}


def _files(path: str, commit: str, names: list[str]) -> dict[str, str]:
    known = set(local_git.ls_files(path, commit))
    kept_names = [name for name in names if name in known]
    return {name: local_git.show(path, commit, name).decode("utf-8", "surrogateescape") for name in kept_names}


def _owner(change: Step) -> Person:
    domain = domain_of(change.plan)
    named = (change.person, domain.owner if domain else None)
    owner = next((person for person in named if person is not None and person.is_active), None)
    if owner is None:
        raise Conflict("Nobody is named who could merge the undo.")
    return owner


def _assets(plan: Plan) -> list[Asset]:
    """What the plan spoke of, each table once."""
    found = [one.asset for one in plan.assertions.order_by("position").select_related("asset")]
    return list({asset.pk: asset for asset in found}.values())


def _claimed(plan: Plan, asset: Asset) -> Claimed:
    """The rows that the table had before the plan, where they were measured; else only that it can be read."""
    before = _build_before(plan)
    value = newest_value(asset, ROW_COUNT, before) if before else None
    if value is None:
        sentence = f"{asset.name} can be read; how many rows it had before was not measured"
        return Claimed("readable", asset, {}, sentence)
    rows = int(value.number)
    return Claimed("row_count", asset, {"equals": str(rows)}, f"{asset.name} has {rows:,} rows, as before the plan")


def _build_before(plan: Plan) -> Build | None:
    """The build whose tables the plan found: the first bad one, or for the undo of an undo that of the plan's run."""
    if plan.undoes is not None:
        run = plan.undoes.steps.filter(runs__state="succeeded").values_list("runs__build", flat=True).first()
        return Build.objects.filter(pk=run).first() if run else None
    incident = incident_of(plan)
    return incident.first_bad_build if incident else None


def _write(
    plan: Plan, change: Step, params: dict[str, object], owner: Person, claimed: list[Claimed], actor: Actor
) -> Plan:
    undo = Plan.objects.create(
        undoes=plan, title=f"Take back: {plan.title}"[:300], author=actor.principal, created_at=now(), body=b"",
        plan_digest="", expected_seconds=plan.expected_seconds, due_at=now(),
    )  # fmt: skip
    merged = add_change(undo, CLASS, owner, f"Take back: {change.title}", params, AGAIN)
    for rerun in plan.steps.filter(kind="rerun").order_by("position"):
        add_rerun(undo, str(rerun.params["connection"]), rerun.params["select"], [merged.position])
    for message in plan.steps.filter(kind="message", state="done", person__isnull=False).select_related("person"):
        if message.person is not None:
            text = f"The change of which you were told is taken back. You were told: {message.params['text']}"
            add_message(undo, message.person, f"Take back: {message.title}", text)
    add_assertions(undo, claimed)
    seal_body(undo)
    audit.record(actor, actions.UNDO_DRAFTED, undo, correlation_id=timeline_of(plan), facts={"title": plan.title})
    return undo
