"""The owner's merge: Spellbook never merges, it checks that what was merged is what was approved."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from approvals import actions
from approvals.models import Plan, Step
from approvals.scope import timeline_of
from approvals.services import steps
from approvals.services.autonomy import require_person
from catalog.code_hosts import local_git
from foundation import connections
from foundation.audit import Actor
from foundation.clock import now
from foundation.errors import Conflict, NotAllowed, NotFound
from foundation.models import Person
from foundation.refusals import kept

EVERY = timedelta(seconds=2)
MOST_COMMITS = 100
NOT_YET = "nothing was merged yet: the branch is where it was when the plan was drafted"


@dataclass(frozen=True)
class Seen:
    """What a branch shows: the commit that is the approved change, or why none of its commits is."""

    head: str
    commit: str = ""
    reason: str = ""


def look(step: Step, *, actor: Actor) -> bool:
    """Read the declared branch; the step is done when the branch was exactly the approved change at one of its commits.

    Exactly means: the commit contains the approved base, and its files are those of the base with the approved patch
    put onto them, all of them, byte by byte; and nothing that came later touches the files of the patch. Anything else
    is said once and waits for a person; a run never builds it.
    """
    seen = read(step)
    if seen.commit:
        facts = {"commit": seen.commit}
        return steps.end(step, "done", facts, f"merged as approved in {seen.commit[:10]}", actor=actor)
    Step.objects.filter(pk=step.pk, state="waiting").update(due_at=now() + EVERY)
    return steps.waits(step, seen.reason, actor=actor) if seen.reason != NOT_YET else False


def merged(step_id: int, *, person: Person, actor: Actor) -> bool:
    """The owner says "merged": look now. True when it is what was approved, also when that was found before.

    NotAllowed for anybody but the person of the step, Conflict when nothing, or something else, was merged; NotFound.
    """
    step = Step.objects.select_related("plan__undoes", "person").filter(pk=step_id, kind="change").first()
    if step is None:
        raise NotFound("There is no such change.")
    refused = {"position": str(step.position)}
    with kept(actor, actions.MERGE_REFUSED, step, refused, correlation_id=timeline_of(step.plan)):
        require_person(person, actor)
        if step.person_id != person.pk:
            raise NotAllowed("This step belongs to somebody else; only its owner says that it is merged.")
        if step.state != "done" and not (step.plan.state == "acting" and step.state == "waiting"):
            raise Conflict("Nobody waits for this merge.")
        if step.state != "done" and not look(step, actor=actor):
            reason = read(step).reason
            raise Conflict(f"Not merged as approved: {reason}.")
    Plan.objects.filter(pk=step.plan_id, state="acting").update(due_at=now())
    return True


def read(step: Step) -> Seen:
    """What the declared branch of a change shows now."""
    path, base, patch = _where(step), str(step.params["base"]), str(step.params["patch"])
    head = local_git.head(path, str(step.params["branch"]))
    if head == base:
        return Seen(head, reason=NOT_YET)
    if not local_git.is_ancestor(path, base, head):
        return Seen(head, reason="the branch no longer contains the commit that the plan was drafted on")
    approved = _approved(path, base, patch)
    found = next((commit for commit in _line(path, base, head) if local_git.tree_of(path, commit) == approved), "")
    if not found:
        return Seen(head, reason=f"{head[:10]} on the branch is not the approved change")
    if found != head and _touched(path, found, head) & set(step.params["files"]):
        return Seen(head, reason=f"the change was merged in {found[:10]}, but {head[:10]} changes the same files again")
    return Seen(head, found)


def _where(step: Step) -> str:
    return str(connections.get(str(step.params["repository"])).params["path"])


def _line(path: str, base: str, head: str) -> list[str]:
    """The commits at which the branch itself stood after `base`, oldest first: its first parents, no side branch.

    A side branch's commit may be the approved change alone while the branch has something else merged beside it.
    """
    parents = {commit.sha: commit.parents for commit in local_git.commits_between(path, base, head)}
    line, at = [], head
    while at in parents:
        line.append(at)
        at = parents[at][0]
    return line[::-1][:MOST_COMMITS]


def _touched(path: str, commit: str, head: str) -> set[str]:
    """The files in which two commits differ."""
    entries = [{entry.path: entry for entry in local_git.ls_tree(path, sha)} for sha in (commit, head)]
    return {name for name in entries[0].keys() | entries[1].keys() if entries[0].get(name) != entries[1].get(name)}


def _approved(path: str, base: str, patch: str) -> str:
    """The tree that the approved change gives; "", which no commit has, where the patch does not fit its own base."""
    try:
        return local_git.patched_tree(path, base, patch)
    except Conflict:
        return ""
