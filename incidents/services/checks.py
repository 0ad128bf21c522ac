"""Checks after a build: dbt's own results are taken over, row counts are measured by Spellbook's query."""

from __future__ import annotations

from collections.abc import Callable

from catalog.models import Asset, Build
from catalog.selectors import ancestors
from foundation import audit
from foundation.audit import Actor
from foundation.clock import now
from foundation.locks import transaction
from incidents import actions
from incidents.models import BuildReview, Check, Result
from incidents.services import counting, dbt_results
from incidents.services.counting import OURS, ROW_COUNT
from incidents.services.results import Said, keep

__all__ = ["OURS", "ROW_COUNT", "measure", "review", "run_checks", "take_over", "watch"]

CHUNK = 25  # results per transaction: a writer on SQLite holds everybody up
Judged = Callable[[Asset], bool]


def _always(asset: Asset) -> bool:
    return True


def watch(asset: Asset, *, actor: Actor) -> Check:
    """Measure this asset's rows, and those of everything it is built from, after each build of it."""
    with transaction():
        check, created = Check.objects.get_or_create(asset=asset, kind=ROW_COUNT, column="", origin=OURS, local_id="")
        if created:
            audit.record(actor, actions.WATCH_SET, check, facts={"metric": ROW_COUNT, "asset": asset.name})
    return check


def review(build: Build, *, actor: Actor, judged: Judged = _always) -> BuildReview:
    """Take over and measure one processed build, each once; safe to repeat after a crash.

    Where `judged` says no (a domain at L0), numbers and results are kept, and nothing is judged or opened (D13).
    """
    row, _ = BuildReview.objects.get_or_create(build=build)
    if row.taken_over_at is None:
        take_over(build, actor=actor, judged=judged)
        BuildReview.objects.filter(pk=row.pk).update(taken_over_at=now())
    if row.measured_at is None:
        reason = measure(build, actor=actor, judged=judged)
        BuildReview.objects.filter(pk=row.pk).update(measured_at=now(), reason=reason[:500])
    row.refresh_from_db()
    return row


def take_over(build: Build, *, actor: Actor, judged: Judged = _always) -> list[Result]:
    """Keep what dbt's own tests said of a build; a test that did not run is not evaluated, never passed."""
    told = dbt_results.told_by(build)
    kept: list[Result] = []
    for start in range(0, len(told), CHUNK):
        with transaction():
            kept += [_keep(build, one, actor, judged) for one in told[start : start + CHUNK]]
    return kept


def measure(build: Build, *, actor: Actor, judged: Judged = _always) -> str:
    """Count the rows of every watched table that the build wrote, and of what these are built from.

    Returns why nothing could be measured, or "". A table that is missing, locked or unreachable, or that a later build
    may have written meanwhile, is kept as *not evaluated* with the reason.
    """
    if build.kind == "sync":
        return "a sync writes no table of the warehouse"
    if build.refusal:
        return f"what the build wrote is not known: {build.refusal}"
    wanted = _to_count(build)
    for asset in wanted:
        counting.count(asset, build, actor=actor, judged=judged(asset))
    return "" if wanted else "no watched table was written"


def run_checks(asset: Asset, *, actor: Actor, judged: Judged = _always) -> list[Result]:
    """Measure now, outside any build; used by people and the command line."""
    return [counting.count(asset, None, actor=actor, judged=judged(asset))]


def _keep(build: Build, told: dbt_results.Told, actor: Actor, judged: Judged) -> Result:
    check, _ = Check.objects.get_or_create(
        asset=told.asset, kind=told.kind, column=told.column, origin="dbt", local_id=told.unique_id
    )
    observed = {"failures": told.failures} if told.failures is not None else {}
    said = Said(told.status, told.reason, observed)
    return keep(check, build, said, actor=actor, opens=judged(told.asset))


def _to_count(build: Build) -> list[Asset]:
    """Each watched table in whose family the build wrote, and that family, the watched table first."""
    written = set(build.outputs.values_list("asset_id", flat=True))
    wanted: dict[int, Asset] = {}
    for check in Check.objects.filter(kind=ROW_COUNT, origin=OURS).select_related("asset__domain"):
        family = [check.asset, *(parent for parent, _ in ancestors(check.asset))]
        if written & {member.pk for member in family}:
            wanted |= {member.pk: member for member in family}
    return list(wanted.values())
