"""What the board shows: Plan Upgraded in the third quarter of 2026, counted in the sync's copy and nowhere else.

Run from the root of the repository: python -m examples.mixpanel_night.night.reader COPY.duckdb
Prints the number.
"""

from __future__ import annotations

import argparse
import sys
from datetime import date
from pathlib import Path

import duckdb

from examples.mixpanel_night.warehouse import connect

QUARTER = date(2026, 7, 1)
IN_COPY = """
select count(*) from account_events
where event_name = 'Plan Upgraded' and date_trunc('quarter', occurred_at) = $quarter
"""
IN_WAREHOUSE = "select plan_upgraded from analytics.agg_plan_upgraded_quarterly where quarter = $quarter"


def shown(copy: Path, quarter: date = QUARTER) -> int:
    """Plan Upgraded of a quarter as the board's readers see it."""
    return number(copy, IN_COPY, quarter)


def source_value(warehouse: Path, quarter: date = QUARTER) -> int:
    """Plan Upgraded of a quarter as the warehouse has it, which the team records after a repair; 0 without any."""
    return number(warehouse, IN_WAREHOUSE, quarter)


def number(path: Path, statement: str, quarter: date) -> int:
    with connect(path, read_only=True) as reader:
        row = reader.execute(statement, {"quarter": quarter}).fetchone()
    return int(row[0]) if row else 0


def main() -> int:
    parser = argparse.ArgumentParser(description="Print what the board shows for the quarter.")
    parser.add_argument("copy", type=Path)
    try:
        print(shown(parser.parse_args().copy))
    except (OSError, duckdb.Error) as error:
        print(f"The board shows nothing: {str(error).splitlines()[0]}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
