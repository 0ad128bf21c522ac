"""The verdict: a cause whose proof held, or that none was established and what was tried."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from uuid import UUID

from foundation import audit
from foundation.audit import Actor
from foundation.clock import now
from foundation.errors import Conflict
from foundation.locks import lock, transaction
from incidents import actions
from incidents.diagnosis import code, counts, upstream
from incidents.diagnosis.case import Case, Found, Proven, case_of
from incidents.models import Cause, Evidence, Incident
from incidents.services.wake import wake

Look = Callable[[Case], Iterator[Found | Proven]]
EVIDENCE: tuple[Look, ...] = (code.look, upstream.look, counts.look)


def diagnose(incident_id: UUID, *, actor: Actor) -> Cause:
    """Collect all evidence (reads and queries only), then write cause, evidence and state in one transaction, once.

    Raises Unavailable while the warehouse is locked or away and waiting may help; the call is then simply repeated.
    Conflict when the incident was closed meanwhile.
    """
    incident = Incident.objects.select_related("asset", "first_bad_build").get(pk=incident_id)
    known = Cause.objects.filter(incident=incident).first()
    if known is not None:
        return known
    case = case_of(incident)
    seen = [one for look in EVIDENCE for one in look(case)]
    found = [one for one in seen if isinstance(one, Found)]
    return _write(case, found, _best([one for one in seen if isinstance(one, Proven)], found), actor)


def _best(proven: list[Proven], found: list[Found]) -> Proven | None:
    """The nearest proved change of code; else a data cause, which says that no code changed and needs that shown."""
    by_code = sorted((one for one in proven if one.kind == "code"), key=lambda one: one.distance)
    if by_code:
        return by_code[0]
    untouched = any(one.kind == "code" and one.speaks == "against" for one in found)
    return next((one for one in proven if one.kind == "data" and untouched), None)


def _unestablished(found: list[Found]) -> str:
    """That no cause is established, with the weightiest of what was seen, so that a person knows where to go on."""
    if not found:
        return "Cause not established: there was nothing to look at."
    heaviest = max(found, key=lambda one: one.weight)
    return f"Cause not established. {heaviest.statement}"


def _write(case: Case, found: list[Found], best: Proven | None, actor: Actor) -> Cause:
    statement = best.statement if best else _unestablished(found)
    with transaction():
        row = lock(Incident.objects.all(), pk=case.incident.pk)
        known = Cause.objects.filter(incident=row).first()
        if known is not None:
            return known
        moment = now()
        diagnosed = Incident.objects.filter(pk=row.pk, version=row.version).exclude(state="closed")
        if not diagnosed.update(
            state="diagnosed", version=row.version + 1, diagnosed_at=moment, last_good_build=case.good
        ):
            raise Conflict(f"{row} is closed; no cause was written.")
        cause = Cause.objects.create(
            incident=row, established=best is not None, kind=best.kind if best else "",
            asset=best.asset if best else None, statement=statement, facts=best.facts if best else {}, at=moment,
        )  # fmt: skip
        Evidence.objects.bulk_create(
            Evidence(
                incident=row, kind=one.kind, statement=one.statement, query=one.query, result=one.result,
                speaks=one.speaks, weight=one.weight, measured_at=one.measured_at,
            )
            for one in found
        )  # fmt: skip
        audit.record(actor, actions.INCIDENT_DIAGNOSED, row, correlation_id=row.pk, facts={"statement": statement})
        wake(row.pk)
    return cause
