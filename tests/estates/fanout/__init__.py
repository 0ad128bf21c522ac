"""An estate of order lines and carrier scans: a join to a table with two rows a line doubles what carriers are paid."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from examples.mixpanel_night.night.repo import merge_change, revert_merge
from tests.estates import Estate

HERE = Path(__file__).resolve().parent
FACT = Path("models/marts/fct_dispatched_lines.sql")
GOOD = """    l.shipped_on
from {{ ref('stg_oms__order_lines') }} as l
"""
BAD = """    l.shipped_on,
    s.scanned_at
from {{ ref('stg_oms__order_lines') }} as l
left join {{ ref('stg_wms__carrier_scans') }} as s
    on l.line_id = s.line_id
"""

ORDER_LINES = """
create or replace table oms.order_lines as
select
    i as line_id,
    'D' || (i % 7 + 1) as depot_code,
    i % 4 + 1 as quantity,
    date '2026-06-01' + cast(i % 90 as integer) as shipped_on
from range(1, $rows + 1) as r(i)
"""
CARRIER_SCANS = """
create or replace table wms.carrier_scans as
select
    2 * i + k as scan_id,
    i as line_id,
    case k when 0 then 'collected' else 'delivered' end as scan_kind,
    timestamp '2026-06-01 06:00:00' + to_days(cast(i % 90 + k as integer)) as scanned_at
from range(1, $rows + 1) as r(i), range(2) as s(k)
"""


@dataclass
class Fanout(Estate):
    """`rows` order lines, two scans each: the bad build has twice as many rows and is green."""

    project: ClassVar[Path] = HERE / "project"
    declaration: ClassVar[Path] = HERE / "estate.yml"
    watched: ClassVar[str] = "logistics.fct_dispatched_lines"

    def load(self) -> None:
        with self.warehouse(write=True) as connection:
            connection.execute("create schema if not exists oms; create schema if not exists wms")
            connection.execute(ORDER_LINES, {"rows": self.rows})
            connection.execute(CARRIER_SCANS, {"rows": self.rows})

    def break_it(self) -> str:
        return merge_change(
            self.repo,
            FACT,
            GOOD,
            BAD,
            branch="scan-times",
            message="Show when a line was scanned",
            subject="Merge pull request #57 from scan-times",
        )

    def mend(self) -> str:
        return revert_merge(self.repo, self.commit())
