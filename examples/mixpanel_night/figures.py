"""How many accounts and events the example has, group by group, at any size.

An account belongs to one of three groups by what `is_internal` says of it: nothing (unmarked, older than the migration
that brought the column), false (ordinary) or true (internal). `ROWS` scales the events; the accounts stay. At the full
size the groups hold 6,438,000, 4,490,000 and 22,000 events.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import date, datetime, timedelta

FULL_ROWS = 10_950_000
LEAST_ROWS = 1_000
ACCOUNTS = 9_000
UNMARKED_ACCOUNTS = 3_912
INTERNAL_EVERY = 212  # of the accounts opened since the migration, every 212th is our own: 24 accounts

FIRST_ACCOUNT = datetime(2021, 3, 1)
MIGRATION = datetime(2025, 3, 1)
TONIGHT = datetime(2026, 9, 28, 20, 0)

FULL_UNMARKED = 6_438_000
FULL_INTERNAL = 22_000

# Plan upgrades of a quarter at full size: (unmarked, marked false, marked true).
UPGRADES: dict[date, tuple[int, int, int]] = {
    date(2023, 1, 1): (588, 0, 0),
    date(2023, 4, 1): (604, 0, 0),
    date(2023, 7, 1): (597, 0, 0),
    date(2023, 10, 1): (631, 0, 0),
    date(2024, 1, 1): (640, 0, 0),
    date(2024, 4, 1): (652, 0, 0),
    date(2024, 7, 1): (649, 0, 0),
    date(2024, 10, 1): (688, 0, 0),
    date(2025, 1, 1): (694, 0, 0),
    date(2025, 4, 1): (701, 47, 1),
    date(2025, 7, 1): (712, 128, 4),
    date(2025, 10, 1): (735, 239, 7),
    date(2026, 1, 1): (728, 347, 9),
    date(2026, 4, 1): (739, 452, 11),
    date(2026, 7, 1): (743, 541, 12),
}


@dataclass(frozen=True)
class Group:
    """One group's part of a month: its events, those before it in the quarter, the quarter's events and upgrades."""

    events: int
    before: int
    in_quarter: int
    upgrades: int
    accounts: int  # opened before the month began, at least 1


@dataclass(frozen=True)
class Month:
    """One month of events. `ends` is the end of the month, or tonight."""

    starts: datetime
    ends: datetime
    first_id: int
    unmarked: Group
    ordinary: Group
    internal: Group


def asked_rows(text: str | None = None) -> int:
    """The number of events asked for by `text` or the variable ROWS; the full size without either.

    Raises `ValueError` when it is not a whole number of at least 1,000.
    """
    asked = (text or os.environ.get("ROWS", "")).strip() or str(FULL_ROWS)
    if not asked.isdigit() or int(asked) < LEAST_ROWS:
        raise ValueError(f"ROWS must be a whole number of at least {LEAST_ROWS}, not {asked!r}.")
    return int(asked)


def scaled(full: int, rows: int) -> int:
    """`full` in proportion to `rows`, at least 1 where it is not 0, rounded half up in whole numbers."""
    return max(1, (2 * full * rows + FULL_ROWS) // (2 * FULL_ROWS)) if full else 0


def group_rows(rows: int) -> tuple[int, int, int]:
    """Events of the accounts (unmarked, marked false, marked true); their sum is `rows`."""
    unmarked, internal = scaled(FULL_UNMARKED, rows), scaled(FULL_INTERNAL, rows)
    return unmarked, rows - unmarked - internal, internal


def opened(account_id: int) -> datetime:
    """When an account was opened: evenly spread before the migration, and evenly from it until tonight."""
    if account_id <= UNMARKED_ACCOUNTS:
        return FIRST_ACCOUNT + (MIGRATION - FIRST_ACCOUNT) * (account_id - 1) // UNMARKED_ACCOUNTS
    since = account_id - UNMARKED_ACCOUNTS - 1
    return MIGRATION + (TONIGHT - MIGRATION) * since // (ACCOUNTS - UNMARKED_ACCOUNTS)


def is_internal(account_id: int) -> bool | None:
    """What the replicated column says: nothing for accounts that are older than the column."""
    since = account_id - UNMARKED_ACCOUNTS
    return None if since <= 0 else since % INTERNAL_EVERY == 0


def month_starts() -> list[datetime]:
    """The first instant of each month with events, January 2023 to the month of tonight."""
    return [datetime(2023 + n // 12, n % 12 + 1, 1) for n in range((TONIGHT.year - 2023) * 12 + TONIGHT.month)]


def month_end(start: datetime) -> datetime:
    """The first instant of the following month, or tonight."""
    return min((start + timedelta(days=32)).replace(day=1), TONIGHT)


def quarter(at: datetime) -> date:
    """First day of the quarter."""
    return date(at.year, (at.month - 1) // 3 * 3 + 1, 1)


def share_out(total: int, weights: list[int]) -> list[int]:
    """`total` in whole parts proportional to `weights`; the parts add up to `total` exactly."""
    whole, seen, parts, given = sum(weights), 0, [], 0
    for weight in weights:
        seen += weight
        parts.append(total * seen // whole - given)
        given += parts[-1]
    return parts


def groups(total: int, kind: int, marked: bool | None, rows: int) -> list[Group]:
    """The months of one group: more events where more accounts are open, upgrades as `UPGRADES` has them."""
    starts = month_starts()
    ids = [n for n in range(1, ACCOUNTS + 1) if is_internal(n) is marked]
    accounts = [sum(1 for n in ids if opened(n) < start) for start in starts]
    parts = share_out(total, accounts)
    by_quarter = {q: [n for n, start in enumerate(starts) if quarter(start) == q] for q in UPGRADES}
    made = []
    for n, start in enumerate(starts):
        months = by_quarter[quarter(start)]
        in_quarter = sum(parts[m] for m in months)
        upgrades = min(scaled(UPGRADES[quarter(start)][kind], rows), in_quarter)
        made.append(Group(parts[n], sum(parts[m] for m in months if m < n), in_quarter, upgrades, max(accounts[n], 1)))
    return made


def months(rows: int) -> list[Month]:
    """All months, oldest first, with event ids that run from 1 to `rows`."""
    unmarked, ordinary, internal = group_rows(rows)
    made: list[Month] = []
    first_id = 1
    for start, *parts in zip(
        month_starts(),
        groups(unmarked, 0, None, rows),
        groups(ordinary, 1, False, rows),
        groups(internal, 2, True, rows),
        strict=True,
    ):
        made.append(Month(start, month_end(start), first_id, *parts))
        first_id += sum(part.events for part in parts)
    return made


def upgraded(rows: int, of: date = date(2026, 7, 1)) -> tuple[int, int, int]:
    """Plan upgrades of a quarter as generated at this size: (unmarked, marked false, marked true)."""
    last = [month for month in months(rows) if quarter(month.starts) == of][-1]
    return last.unmarked.upgrades, last.ordinary.upgrades, last.internal.upgrades
