"""Plays the hourly sync: makes the tool's copy equal to the warehouse's table, deletions included.

Run from the root of the repository: python -m examples.mixpanel_night.night.sync WAREHOUSE.duckdb COPY.duckdb
Prints one JSON object: {"started_at", "ended_at", "rows_removed", "rows_inserted"} (RFC 3339 in UTC, whole rows).
"""

from __future__ import annotations

import argparse
import json
import sys
from datetime import UTC, datetime
from pathlib import Path

import duckdb

from examples.mixpanel_night.warehouse import attach, connect

FIRST_TIME = "create table if not exists copy.main.account_events as from analytics.fct_account_events with no data"
REMOVE = """
delete from copy.main.account_events where event_id in (
    select event_id from copy.main.account_events anti join analytics.fct_account_events using (event_id)
)
"""
INSERT = """
insert into copy.main.account_events by name
select t.* from analytics.fct_account_events as t anti join copy.main.account_events using (event_id)
"""


def sync(warehouse: Path, copy: Path) -> dict[str, str | int]:
    """Removes from the copy what left the table and inserts what is new, compared by `event_id`; at first copies all.

    The warehouse is opened for reading only. Both steps stand in one transaction of the copy. Raises `duckdb.Error`
    when the table is missing, and the copy stays as it was.
    """
    started = datetime.now(UTC)
    with connect(warehouse, read_only=True) as reader:
        attach(reader, copy, "copy")
        reader.begin()
        reader.execute(FIRST_TIME)
        removed, inserted = changed(reader, REMOVE), changed(reader, INSERT)
        reader.commit()
    return {
        "started_at": started.isoformat(),
        "ended_at": datetime.now(UTC).isoformat(),
        "rows_removed": removed,
        "rows_inserted": inserted,
    }


def changed(connection: duckdb.DuckDBPyConnection, statement: str) -> int:
    """The number of rows that a delete or insert touched."""
    row = connection.execute(statement).fetchone()
    return int(row[0]) if row else 0


def main() -> int:
    parser = argparse.ArgumentParser(description="Make the tool's copy equal to the warehouse's table.")
    parser.add_argument("warehouse", type=Path)
    parser.add_argument("copy", type=Path)
    arguments = parser.parse_args()
    try:
        print(json.dumps(sync(arguments.warehouse, arguments.copy)))
    except (OSError, duckdb.Error) as error:
        print(f"The sync failed: {str(error).splitlines()[0]}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
