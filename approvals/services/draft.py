"""From an established cause to a plan: one change of code, the rerun, the messages; each step with its undo."""

from __future__ import annotations

from uuid import UUID

from approvals import actions
from approvals.fixes import FIXES
from approvals.fixes.base import Case, Code, FixDraft
from approvals.models import Draft, Plan
from approvals.services.drafting import add_assertions, add_change, add_message, add_rerun, seal_body
from catalog.code_hosts import local_git
from catalog.models import Build, BuildOutput
from catalog.selectors import asset_of_node, descendants, manifest_of, people
from foundation import audit, connections
from foundation.audit import Actor
from foundation.clock import now
from foundation.locks import lock, transaction
from foundation.models import Person
from incidents.models import Incident

__all__ = ["NoPlan", "draft", "seal_body"]

MARGIN_SECONDS = 30


class NoPlan(Exception):
    """Why no plan is drafted, in one sentence."""


def draft(incident_id: UUID, *, actor: Actor) -> Plan | None:
    """Draft the plan of an incident once; where no fix is known, keep the reason. Reads git, writes one transaction.

    Raises NotFound or Unavailable when the repository cannot be read now; nothing is kept then.
    """
    incident = Incident.objects.select_related("domain", "first_bad_build", "last_good_build").get(pk=incident_id)
    known = Draft.objects.filter(incident=incident).select_related("plan").first()
    if known is not None:
        return known.plan
    try:
        case = _case(incident)
        fix = next((found for propose in FIXES if (found := propose(case))), None)
        if fix is None:
            raise NoPlan("no fix class knows this cause; a person has to write the change")
        return _write(case, fix, actor)
    except NoPlan as none:
        _keep_reason(incident, str(none), actor)
        return None


def _case(incident: Incident) -> Case:
    cause = getattr(incident, "cause", None)
    if cause is None or not cause.established:
        raise NoPlan("the cause is not established")
    if cause.kind != "code":
        raise NoPlan("nothing in code changed, so no change of code is drafted; the load belongs to its owner")
    bad, good = incident.first_bad_build, incident.last_good_build
    head, base = (manifest_of(bad) if bad else None), (manifest_of(good) if good else None)
    if cause.asset is None or bad is None or head is None or base is None:
        raise NoPlan("a build without artifacts cannot be compared")
    return Case(incident, cause, cause.asset, base, head, _code(bad))


def _code(build: Build) -> Code:
    row = connections.get(build.repository) if build.repository else connections.find("git", "code")
    if row is None or row.kind != "git":
        raise NoPlan("the build names no repository that Spellbook may read")
    path, branch = str(row.params["path"]), str(row.params["branch"])
    return Code(row.name, path, branch, local_git.head(path, branch), str(row.params.get("project_subdir", "")))


def _write(case: Case, fix: FixDraft, actor: Actor) -> Plan:
    owner, patch = _owner(case), local_git.unified_diff(fix.before, fix.after)
    run = connections.find("dbt", "run", case.asset.namespace)
    if run is None:
        raise NoPlan("no connection is declared that may run dbt for this warehouse")
    select, code = [f"{case.head.nodes[unique_id].name}+" for unique_id in fix.changed], case.code
    change = {
        "repository": code.connection, "branch": code.branch, "base": code.base, "patch": patch,
        "files": sorted(fix.after),
    }  # fmt: skip
    with transaction():
        row = lock(Incident.objects.all(), pk=case.incident.pk)
        if row.state == "closed":
            raise NoPlan("the incident was closed meanwhile")
        known = Draft.objects.filter(incident=case.incident).select_related("plan").first()
        if known is not None and known.plan is not None:
            return known.plan
        plan = Plan.objects.create(
            incident=case.incident, title=fix.title[:300], author=actor.principal, created_at=now(),
            body=b"", plan_digest="", expected_seconds=_expected_seconds(case, fix),
        )  # fmt: skip
        merged = add_change(plan, fix.step_class, owner, fix.title, change, fix.undo)
        add_rerun(plan, run.name, select, [merged.position])
        for person, title, text in _messages(case):
            add_message(plan, person, title, text)
        add_assertions(plan, fix.assertions)
        seal_body(plan)
        Draft.objects.update_or_create(incident=case.incident, defaults={"plan": plan, "reason": "", "at": now()})
        facts: dict[str, str | int | None] = {
            "title": plan.title, "steps": plan.steps.count(), "revision": plan.revision
        }  # fmt: skip
        audit.record(actor, actions.PLAN_DRAFTED, plan, correlation_id=case.incident.pk, facts=facts)
    return plan


def _messages(case: Case) -> list[tuple[Person, str, str]]:
    """One message to the admin of each tool whose sync will bring the rows back."""
    good, bad, intended = case.number("good"), case.number("bad"), case.number("removed_false")
    back = None if good is None or bad is None else abs(good - (intended or 0) - bad)
    rows = "the rows that are wrong now" if back is None else f"up to {back:,} rows"
    messages = []
    for consumer in (case.incident.reach or {}).get("consumers", []):
        admin = consumer.get("tool_admin")
        person = Person.objects.filter(pk=admin["person_id"], is_active=True).first() if admin else None
        if person is not None and consumer["mode"]:
            text = (
                f"After the repair the next run of {consumer['name']} ({consumer['mode']}) changes {rows} again. "
                "Rows that it inserts, updates or deletes count where the tool bills them."
            )
            messages.append((person, f"Tell the admin of {consumer['tool']} what the next sync will bill", text))
    return messages


def _owner(case: Case) -> Person:
    """Who merges: the owner of the model, else of its domain, else of the incident's domain; active people only."""
    domain = case.asset.domain or case.incident.domain
    named = [*people(case.asset, "owner"), *([domain.owner] if domain and domain.owner else [])]
    owner = next((person for person in named if person.is_active), None)
    if owner is None:
        raise NoPlan("nobody is named as owner of the model, so nobody could merge the change")
    return owner


def _expected_seconds(case: Case, fix: FixDraft) -> int:
    """What the last good build took for the changed tables and everything after them, plus a margin."""
    changed = [asset for unique_id in fix.changed if (asset := asset_of_node(unique_id, case.head.project))]
    built = {asset.pk for asset in changed} | {one.pk for asset in changed for one, _ in descendants(asset)}
    outputs = BuildOutput.objects.filter(build=case.incident.last_good_build, milliseconds__isnull=False)
    total = sum(output.milliseconds or 0 for output in outputs if output.asset_id in built)
    return total // 1000 + MARGIN_SECONDS


def _keep_reason(incident: Incident, reason: str, actor: Actor) -> None:
    with transaction():
        row = lock(Incident.objects.all(), pk=incident.pk)
        _, created = Draft.objects.get_or_create(incident=row, defaults={"reason": reason[:500], "at": now()})
        if created:
            audit.record(actor, actions.PLAN_NONE, row, correlation_id=row.pk, facts={"reason": reason})
