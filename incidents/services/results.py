"""Keeping what a check said, once per check and build."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from catalog.models import Build
from foundation import audit
from foundation.audit import Actor
from foundation.clock import now
from foundation.locks import transaction
from incidents import actions
from incidents.models import Check, Incident, Result
from incidents.services.opening import attach, place
from incidents.services.wake import wake_readers_of


@dataclass(frozen=True)
class Said:
    """What a check said: status (passed, failed, not_evaluated, error), why, what was observed and by which query."""

    status: str
    reason: str = ""
    observed: Mapping[str, object] = field(default_factory=dict)
    query: str = ""


def keep(
    check: Check,
    build: Build | None,
    said: Said,
    *,
    actor: Actor,
    opens: bool = True,
    incident: Incident | None = None,
) -> Result:
    """Write one result; a failed one opens or joins an incident, unless its value did (`incident`) or `opens` is off.

    Repeated for the same build, it returns what stands and changes nothing.
    """
    with transaction():
        known = Result.objects.filter(check_run=check, build=build).first() if build else None
        if known is not None:
            return known
        result = Result.objects.create(
            check_run=check, build=build, status=said.status, reason=said.reason[:500], observed=dict(said.observed),
            query=said.query, at=now(),
        )  # fmt: skip
        fails = said.status == "failed" and opens and incident is None
        where = place(check.asset, build) if fails else None
        about = where.incident if where else incident
        facts = {
            "kind": check.kind,
            "asset": check.asset.name,
            "status": said.status.replace("_", " "),
            "reason": f" ({said.reason[:500]})" if said.reason else "",
        }
        audit.record(actor, actions.CHECK_FINISHED, result, correlation_id=about.pk if about else None, facts=facts)
        if where is not None:
            attach(where, check.asset, build, result=result, actor=actor)
        wake_readers_of(check.asset)
    return result
