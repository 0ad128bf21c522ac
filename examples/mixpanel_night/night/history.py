"""The row counts of the thirty nights before tonight, as the team recorded them after each build.

Run from the root of the repository: python -m examples.mixpanel_night.night.history [--rows N] [--until YYYY-MM-DD]
Each line: {"asset", "metric", "value", "build", "at"} (rows; build id nightly-YYYY-MM-DD; RFC 3339 in UTC).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from examples.mixpanel_night.figures import asked_rows

ASSET = "analytics.fct_account_events"
NIGHTS = 30
RECORDED = time(1, 12)
ZONE = ZoneInfo("America/New_York")


def nights(rows: int, until: date, *, asset: str = ASSET, count: int = NIGHTS) -> Iterator[dict[str, str | int]]:
    """One recorded value a night, oldest first, the last one for the night before `until`.

    The counts stay within 0.15 % of `rows` and are the same ones whenever they are asked for.
    """
    for night in range(count):
        day = until - timedelta(days=count - night)
        noise = (night * 7 + 3) % 31 - 15  # ten-thousandths
        at = datetime.combine(day, RECORDED, ZONE).astimezone(UTC)
        yield {
            "asset": asset,
            "metric": "row_count",
            "value": rows + rows * noise // 10_000,
            "build": f"nightly-{day.isoformat()}",
            "at": at.isoformat(),
        }


def main() -> int:
    parser = argparse.ArgumentParser(description="Print the row counts of thirty nights, one JSON object a line.")
    parser.add_argument("--rows", help="rows of a good build; default: the variable ROWS, or 10,950,000")
    parser.add_argument("--until", type=date.fromisoformat, help="tonight; default: today in the estate's zone")
    arguments = parser.parse_args()
    try:
        rows = asked_rows(arguments.rows)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    for line in nights(rows, arguments.until or datetime.now(ZONE).date()):
        print(json.dumps(line))
    return 0


if __name__ == "__main__":
    sys.exit(main())
