"""The next run of a cron line in a time zone. Pure: it asks no database and no clock."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from foundation.errors import BadInput

_ANY_MOMENT = datetime(2000, 1, 1, tzinfo=UTC)
_NO_ZONES = ("localtime", "posixrules", "posix/", "right/", "Factory")


def next_run(cron: str, zone: str, after: datetime) -> datetime:
    """The first moment after `after` (aware) at which the five-field `cron` line fires in the IANA `zone`; UTC.

    A local time that a change to summer time skips fires at the first moment after the gap; one that occurs twice
    fires once (as Debian's cron does). Raises BadInput when the line, the zone or `after` cannot be used.
    """
    if after.tzinfo is None:
        raise BadInput("The moment to count from needs a time zone.")
    if len(cron.split()) != 5:
        raise BadInput(f"A cron line has five fields, not as in {cron!r}.")
    try:
        return next(CronSim(cron, after.astimezone(_zone(zone)))).astimezone(UTC)
    except CronSimError as error:
        raise BadInput(f"The cron line {cron!r} cannot be read: {error}.") from None
    except StopIteration:
        raise BadInput(f"The cron line {cron!r} never fires.") from None


def next_time(cron: str, zone: str, at: datetime) -> datetime | None:
    """As `next_run`; None without a schedule, and for one that cannot be read any more (its zone is gone): one that
    nobody can read must not hide all the others."""
    try:
        return next_run(cron, zone or "UTC", at) if cron else None
    except BadInput:
        return None


def check_schedule(cron: str, zone: str) -> None:
    """Return when the line and the zone can be used; BadInput, as of `next_run`, otherwise. It asks no clock."""
    next_run(cron, zone, _ANY_MOMENT)


def _zone(name: str) -> ZoneInfo:
    """A zone of the IANA's list; files of the system that mean another thing on another machine are none."""
    if name.startswith(_NO_ZONES):
        raise BadInput(f"There is no time zone {name!r}.")
    try:
        return ZoneInfo(name)
    except (OSError, ValueError, KeyError):
        raise BadInput(f"There is no time zone {name!r}.") from None
