"""An estate of bank settlements: tonight the bank's file is empty, the load succeeds, and no code has changed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from tests.estates import Estate

HERE = Path(__file__).resolve().parent

SETTLEMENT_LINES = """
create or replace table bank.settlement_lines as
select
    i as settlement_id,
    i % 300 + 1 as merchant_id,
    (i * 7919) % 100000 + 1 as amount_cents,
    date '2026-07-01' + cast(i % 60 as integer) as settled_on
from range(1, $rows + 1) as r(i)
"""
MERCHANTS = """
create or replace table bank.merchants as
select i as merchant_id, case i % 3 when 0 then 'CH' when 1 then 'AT' else 'DE' end as merchant_country
from range(1, 301) as r(i)
"""


@dataclass
class EmptyLoad(Estate):
    """`rows` settlements of 300 merchants: the bad build has none of them and is green."""

    project: ClassVar[Path] = HERE / "project"
    declaration: ClassVar[Path] = HERE / "estate.yml"
    watched: ClassVar[str] = "finance.fct_settled_amounts"

    def load(self) -> None:
        self.deliver(self.rows)

    def break_it(self) -> None:
        self.deliver(0)

    def mend(self) -> None:
        self.deliver(self.rows)

    def deliver(self, rows: int) -> None:
        """Loads a file of that many settlements in place of the last one; the merchants are always the same."""
        with self.warehouse(write=True) as connection:
            connection.execute("create schema if not exists bank")
            connection.execute(SETTLEMENT_LINES, {"rows": rows})
            connection.execute(MERCHANTS)
