"""Writes the replicated tables `app.accounts` and `app.events` into a DuckDB file, the same ones for the same size.

Run from the root of the repository: python -m examples.mixpanel_night.load WAREHOUSE.duckdb [--rows N]
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import duckdb

from examples.mixpanel_night.figures import (
    ACCOUNTS,
    INTERNAL_EVERY,
    UNMARKED_ACCOUNTS,
    Month,
    asked_rows,
    is_internal,
    months,
    opened,
)
from examples.mixpanel_night.warehouse import connect

ACCOUNTS_TABLE = """
create or replace table app.accounts (
    account_id integer not null,
    company_name varchar not null,
    plan varchar not null,
    created_at timestamp not null,
    is_internal boolean
)
"""

EVENTS_TABLE = """
create or replace table app.events (
    event_id bigint not null,
    account_id integer not null,
    event_name varchar not null,
    occurred_at timestamp not null
)
"""

# One month. The three groups are interleaved evenly: row i is unmarked where the running share of unmarked rows steps
# up, the rest is split the same way. k is the row's place within its group in the quarter, and an event is an upgrade
# where the quarter's running share of upgrades steps up, so that all counts come out exactly. The multipliers spread
# accounts and names.
MONTH = """
insert into app.events
with placed as (
    select i, i * $unmarked // $n as unmarked_before, (i + 1) * $unmarked // $n as unmarked_after
    from range($n) as r(i)
),
rest as (
    select
        i,
        unmarked_after > unmarked_before as unmarked,
        unmarked_before,
        (i - unmarked_before) * $internal // greatest($n - $unmarked, 1) as internal_before,
        (i - unmarked_before + 1) * $internal // greatest($n - $unmarked, 1) as internal_after,
        i - unmarked_before as j
    from placed
),
grouped as (
    select
        i,
        case when unmarked then 0 when internal_after > internal_before then 2 else 1 end as kind,
        case when unmarked then unmarked_before when internal_after > internal_before then internal_before
            else j - internal_before end as place
    from rest
),
counted as (
    select
        i,
        kind,
        place,
        place + case kind when 0 then $unmarked_first when 1 then $ordinary_first else $internal_first end as k,
        case kind when 0 then $unmarked_quarter when 1 then $ordinary_quarter else $internal_quarter end as of_quarter,
        case kind when 0 then $unmarked_upgrades when 1 then $ordinary_upgrades else $internal_upgrades end as upgrades,
        case kind when 0 then $unmarked_accounts when 1 then $ordinary_accounts else $internal_accounts end as accounts,
        (place * 2654435761 + $first_id) % accounts as pick
    from grouped
)
select
    $first_id + i,
    case kind
        when 0 then 1 + pick
        when 1 then $newest_unmarked + pick + pick // ($every - 1) + 1
        else $newest_unmarked + $every * (pick + 1)
    end,
    case
        when (k + 1) * upgrades // of_quarter > k * upgrades // of_quarter then 'Plan Upgraded'
        when (k * 40503) % 1000 < 15 then 'Trial Started'
        when (k * 40503) % 1000 < 185 then 'Invoice Paid'
        else 'Seat Added'
    end,
    $starts::timestamp + to_seconds(i * $seconds // $n)
from counted
"""


def write_accounts(warehouse: duckdb.DuckDBPyConnection) -> None:
    """Writes the accounts; the oldest say nothing about whether they are internal."""
    plans = ("Starter", "Team", "Business")
    numbers = range(1, ACCOUNTS + 1)
    columns = {
        "ids": list(numbers),
        "names": [f"Company {n:04d}" for n in numbers],
        "plans": [plans[n * 7 % 3] for n in numbers],
        "opened": [opened(n) for n in numbers],
        "internal": [is_internal(n) for n in numbers],
    }
    warehouse.execute(ACCOUNTS_TABLE)
    warehouse.execute(
        "insert into app.accounts select unnest($ids::integer[]), unnest($names::varchar[]), unnest($plans::varchar[]),"
        " unnest($opened::timestamp[]), unnest($internal::boolean[])",
        columns,
    )


def month_parameters(month: Month) -> dict[str, object]:
    """The figures that one month's statement needs."""
    parts = {"unmarked": month.unmarked, "ordinary": month.ordinary, "internal": month.internal}
    values: dict[str, object] = {
        "n": sum(part.events for part in parts.values()),
        "unmarked": month.unmarked.events,
        "internal": month.internal.events,
        "first_id": month.first_id,
        "starts": month.starts,
        "seconds": int((month.ends - month.starts).total_seconds()),
    }
    for name, part in parts.items():
        values[f"{name}_first"] = part.before
        values[f"{name}_quarter"] = max(part.in_quarter, 1)
        values[f"{name}_upgrades"] = part.upgrades
        values[f"{name}_accounts"] = part.accounts
    return values


def load(path: Path, rows: int) -> None:
    """Writes both tables into the file at `path` in one transaction; a file that exists keeps its other tables."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with connect(path) as warehouse:
        warehouse.begin()
        warehouse.execute("create schema if not exists app")
        write_accounts(warehouse)
        warehouse.execute(EVENTS_TABLE)
        constants = {"newest_unmarked": UNMARKED_ACCOUNTS, "every": INTERNAL_EVERY}
        for month in months(rows):
            parameters = month_parameters(month)
            if parameters["n"]:
                warehouse.execute(MONTH, {**parameters, **constants})
        warehouse.commit()


def main() -> int:
    parser = argparse.ArgumentParser(description="Write the example's replicated tables into a DuckDB file.")
    parser.add_argument("warehouse", type=Path)
    parser.add_argument("--rows", help="number of events; default: the variable ROWS, or 10,950,000")
    arguments = parser.parse_args()
    try:
        rows = asked_rows(arguments.rows)
        load(arguments.warehouse, rows)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    except (OSError, duckdb.Error) as error:
        print(f"The tables were not written: {str(error).splitlines()[0]}", file=sys.stderr)
        return 1
    print(f"{rows} events of {ACCOUNTS} accounts in {arguments.warehouse}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
