"""Damage at each reader: moved by what a sync's own runs announced, and by the clock for a reader without runs.

The state is worked out anew from all announced runs, so a run that is announced late, twice or out of order counts
once and in its place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from catalog.models import Asset, Build, Sync
from catalog.next_reads import next_read
from foundation import audit
from foundation.audit import Actor
from foundation.clock import now
from foundation.locks import lock, transaction
from incidents import actions
from incidents.models import Damage, Incident
from incidents.recovery import right_again
from incidents.services.wake import wake

__all__ = ["note_sync", "right_again", "settle"]

REMOVED, INSERTED = "rows_removed", "rows_inserted"


@dataclass(frozen=True)
class Standing:
    """What a damage row should say; sizes that nobody announced are None."""

    state: str
    done_at: datetime | None = None
    done_by_id: UUID | None = None
    rows_removed: int | None = None
    repaired_at: datetime | None = None
    repaired_by_id: UUID | None = None
    rows_inserted: int | None = None


def note_sync(build: Build, *, actor: Actor) -> int:
    """Apply an announced run of a sync to every open incident with damage at that reader; returns rows changed."""
    if build.kind != "sync":
        return 0
    readers = build.outputs.values("asset_id")
    open_rows = Damage.objects.filter(consumer__in=readers).exclude(incident__state="closed")
    return sum(_settle(pk, actor) for pk in open_rows.values_list("pk", flat=True))


def settle(incident_id: UUID, *, actor: Actor) -> int:
    """Bring all damage of an open incident up to what is known now; returns rows changed."""
    open_rows = Damage.objects.filter(incident=incident_id).exclude(incident__state="closed")
    return sum(_settle(pk, actor) for pk in open_rows.values_list("pk", flat=True))


def overdue(incident_id: UUID) -> bool:
    """Whether a reader without runs of its own has read by now and its damage still says pending."""
    passed = Damage.objects.filter(incident=incident_id, state="pending", expected_at__lte=now())
    return passed.exclude(consumer__consumer__sync__isnull=False).exists()


def _settle(damage_id: int, actor: Actor) -> bool:
    with transaction():
        related = ("incident__first_bad_build", "consumer", "repaired_by")
        row = lock(Damage.objects.select_related(*related), pk=damage_id)
        since = right_again(row.incident)
        is_sync = Sync.objects.filter(consumer__asset=row.consumer).exists()
        standing = _by_runs(row, _runs(row), since) if is_sync else _by_the_clock(row, since, now())
        changes = {name: value for name, value in asdict(standing).items() if getattr(row, name) != value}
        if not changes or not Damage.objects.filter(pk=row.pk, state=row.state).update(**changes):
            return False
        _tell(row, standing, actor)
        wake(row.incident_id)
    return True


def _runs(row: Damage) -> list[Build]:
    """The runs of the reader that may have read the table after the first bad build began, in their order."""
    bad_from = min(_bad_from(row.incident.first_bad_build, row.incident.opened_at), row.incident.opened_at)
    found = Build.objects.filter(kind="sync", outputs__asset=row.consumer_id, announced_at__gte=bad_from)
    return sorted((run for run in found if (run.ended_at or run.announced_at) > bad_from), key=_began)


def _bad_from(build: Build | None, seen_at: datetime) -> datetime:
    """From when on a table that a build left wrong could be read: its start, since when it wrote is not known."""
    return _began(build) if build is not None else seen_at


def _began(run: Build) -> datetime:
    return run.started_at or run.ended_at or run.announced_at


def _by_runs(row: Damage, runs: Sequence[Build], since: datetime | None) -> Standing:
    right = [run for run in runs if _read_right(row, run, since)]
    wrong = [run for run in runs if run not in right and _read_wrong(row, run, since)]
    mended = next((run for run in right if not wrong or _began(run) > _began(wrong[-1])), None)
    if not wrong and mended is None:
        return Standing("pending")
    if not wrong:
        return Standing("averted", repaired_by_id=mended.pk) if mended else Standing("pending")
    done = Standing("done", _ended(wrong[0]), wrong[0].pk, _total(wrong, REMOVED))
    if mended is None:
        return done
    return replace(
        done,
        state="repaired",
        repaired_at=_ended(mended),
        repaired_by_id=mended.pk,
        rows_inserted=_fact(mended, INSERTED),
    )


def _read_right(row: Damage, run: Build, since: datetime | None) -> bool:
    """It succeeded and began once the table was right again; what was seen so once stays so after a relapse."""
    if run.pk == row.repaired_by_id:
        return True
    if run.status != "succeeded" or run.started_at is None:
        return False
    if since is not None and run.started_at >= since:
        return True
    mended = row.repaired_by
    return mended is not None and _began(mended) <= run.started_at and _ended(run) <= _relapse(row.incident)


def _relapse(incident: Incident) -> datetime:
    """From when on the table was wrong by the newest finding."""
    newest = incident.findings.select_related("build").order_by("-at", "-pk").first()
    return _bad_from(newest.build, newest.at) if newest is not None else incident.opened_at


def _read_wrong(row: Damage, run: Build, since: datetime | None) -> bool:
    """It may have carried the wrong table on: not when it says that it changed nothing, nor when it failed and says
    nothing of rows. One that does not say when it began is not placed any more once the table is right again."""
    counts = [_fact(run, REMOVED), _fact(run, INSERTED)]
    if counts == [0, 0] or (run.status != "succeeded" and not any(counts)):
        return False
    return since is None or run.started_at is not None or run.pk == row.done_by_id


def _by_the_clock(row: Damage, since: datetime | None, moment: datetime) -> Standing:
    """A reader that copies nothing shows what stands in the table whenever it reads."""
    expected = row.expected_at
    if expected is None or (since is None and moment < expected):
        return Standing("pending")
    if since is not None and since <= expected:
        return Standing("averted")
    again = _read_after(row.consumer, since) if since else None
    if again is None or again > moment:
        return Standing("done", done_at=expected)
    return Standing("repaired", done_at=expected, repaired_at=again)


def _read_after(reader: Asset, since: datetime) -> datetime | None:
    consumer = getattr(reader, "consumer", None)
    return next_read(consumer, since) if consumer is not None else None


def _tell(row: Damage, standing: Standing, actor: Actor) -> None:
    facts: dict[str, str | int | None] = {"consumer": row.consumer.name}
    if standing.state == "done":
        facts["rows"] = f"{_said(standing.rows_removed)} removed there" if standing.done_by_id else "rows not counted"
    elif standing.state == "repaired":
        facts["rows"] = (
            f"{_said(standing.rows_inserted)} brought back" if standing.repaired_by_id else "rows not counted"
        )
    verbs = {
        "done": actions.DAMAGE_DONE,
        "repaired": actions.DAMAGE_REPAIRED,
        "averted": actions.DAMAGE_AVERTED,
        "pending": actions.DAMAGE_PENDING,
    }
    audit.record(actor, verbs[standing.state], row, correlation_id=row.incident_id, facts=facts)


def _ended(run: Build) -> datetime:
    return run.ended_at or run.announced_at


def _total(runs: Sequence[Build], name: str) -> int | None:
    counts = [_fact(run, name) for run in runs]
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None


def _fact(run: Build, name: str) -> int | None:
    value: Any = run.facts.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _said(rows: int | None) -> str:
    return "an unknown number of rows" if rows is None else f"{rows:,} rows"
