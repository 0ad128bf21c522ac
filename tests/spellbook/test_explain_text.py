"""What `explain_table` writes for people: every part in a line, what is unknown said, nothing that moves the cursor."""

from __future__ import annotations

import json
import re
from datetime import timedelta

import pytest

from catalog.models import Asset, ColumnList, Note
from foundation.clock import now
from incidents.models import Result
from spellbook import explain_text
from tests.spellbook.commands import manage
from tests.spellbook.page_data import Scene, scene

pytestmark = pytest.mark.django_db


@pytest.fixture
def night() -> Scene:
    return scene()


def written(asset: str) -> list[str]:
    ran = manage("explain_table", asset)
    assert (ran.code, ran.err) == (0, "")
    return ran.out.splitlines()


def test_the_text_has_every_part_and_json_only_when_asked_for(night: Scene) -> None:
    lines = written("fct_orders")
    assert lines[0] == "duckdb://shop/fct_orders  model"
    for start in (
        "  domain: Retail", "  description: not known yet", "  definition: not known yet", "  trust: 40, ",
        "    at most 40: INC-1 is open on it", f"  open incidents: {night.incident}", "  owner: The owner",
        "  fed by: 2 assets", "    1  model  stage_orders", "  feeds: 3 assets", "    1  model  mart_weekly",
        "  readers: 2", "    orders to ads (", "    Weekly board", "  next read: 2", "  columns: 1",
        "    order_number  BIGINT, made of: ", "  checks: 3", "    unique", "  metrics: 1", "    row_count: ",
        "  notes: none", "  documentation: not described, 1 of 1 column described, file ",
    ):  # fmt: skip
        assert any(line.startswith(start) for line in lines), (start, lines)
    assert manage("explain_table", "fct_orders", "--format", "json").json["asset"] == "duckdb://shop/fct_orders"


def test_of_what_nobody_claimed_nothing_is_said_to_be_safe() -> None:
    lonely = {"asset": "x/lonely", "kind": "table"} | dict.fromkeys(
        ("domain", "description", "definition", "code", "columns", "upstream", "downstream", "readers", "checks",
         "metrics", "next_read", "freshness"), "not known yet",
    )  # fmt: skip
    told = lonely | {
        "people": {"owner": "not known yet"}, "open_incidents": [], "notes": {"total": 0, "items": []},
        "documentation": {"described": False, "columns": "not known yet", "columns_described": 0, "file": "a.yml"},
        "trust": {"score": None, "confidence": 0, "state": "unknown", "caps": []},
    }  # fmt: skip
    lines = explain_text.text(told).splitlines()
    for part in ("fed by", "feeds", "readers", "columns", "checks", "metrics"):
        assert f"  {part}: not known yet" in lines
    assert "  not known yet: owner" in lines
    assert "  trust: not known yet (0 % of what could be known is known)" in lines


def test_what_people_wrote_stays_on_its_line_and_moves_no_cursor(night: Scene) -> None:
    fact = night.assets["fct_orders"]
    Asset.objects.filter(pk=fact.pk).update(description="One row\nan order\x1b[2J \u202eendless")
    Note.objects.create(asset=fact, text="Late\non Mondays", author=night.people["owner"].principal, created_at=now())
    Asset.objects.filter(name="mart_weekly").update(name="mart\x1b[31m")
    assert "  down  1  model  mart\ufffd[31m" in manage("lineage", "fct_orders").out
    lines = written("fct_orders")
    assert "  description: One row an order\ufffd[2J \ufffdendless" in lines
    assert any(line.startswith("    Late on Mondays (The owner, 2") for line in lines)


def test_long_lists_are_counted_and_cut(night: Scene) -> None:
    column = {"type": "text", "description": "", "nullable": None}
    items = [{**column, "name": f"c{number}"} for number in range(30)]
    ColumnList.objects.filter(asset=night.assets["fct_orders"]).update(items=items)
    lines = written("fct_orders")
    assert "  columns: 30" in lines
    assert "    and 10 more" in lines


def test_what_is_not_listed_above_and_below_is_counted() -> None:
    row = {"hops": 1, "kind": "model", "name": "m", "reader": False}
    reader = {"hops": 1, "kind": "sync", "name": "s", "reader": True}
    told = {"total": 60, "cycle": True, "rows": [reader, *[row] * 49]}
    above = list(explain_text._neighbours("fed by", told))
    assert (above[0], above[1]) == ("  fed by: 60 assets, itself among them", "    1  sync  s")
    assert above[-1] == "    and 40 more, which lineage lists"
    below = list(explain_text._neighbours("feeds", told, {"total": 5}))
    assert "    1  sync  s" not in below
    assert below[-1] == "    and 35 more, which lineage lists"


def test_the_newest_result_of_a_check_is_written_with_its_reason(night: Scene) -> None:
    check = night.assets["fct_orders"].checks.get(kind="unique")
    Result.objects.create(check_run=check, status="failed", reason="7 rows twice", at=now() + timedelta(minutes=1))
    assert any(line.startswith("    unique") and line.endswith(": 7 rows twice") for line in written("fct_orders"))


def test_a_score_of_which_too_little_is_known_reads_as_on_the_page(night: Scene) -> None:
    told = json.loads(manage("search", "stage_orders", "--format", "json").out)["rows"][0]["trust"]
    assert (told["state"], isinstance(told["score"], int)) == ("unknown", True)
    assert "trust too little known" in manage("search", "stage_orders").out
    assert "trust: too little known (" in manage("explain_table", "stage_orders").out


def test_moments_are_to_the_second_and_one_is_no_plural(night: Scene) -> None:
    said = "\n".join(written("fct_orders") + manage("blast_radius", "fct_orders").out.splitlines())
    assert "T" in said
    assert ".000000Z" not in said
    assert not re.search(r"T\d\d:\d\d:\d\d\.\d", said)
    assert "feeds 1 asset (" in manage("blast_radius", "orders to ads").out
    assert ": 1 asset down" in manage("lineage", "orders to ads", "--direction", "down").out
    assert "  feeds: 1 asset\n" in manage("explain_table", "orders to ads").out


def test_a_definition_of_ones_own_is_approved_by_nobody_else() -> None:
    told = {"text": "One row an order.", "suggested": 0, "author": "Ada", "approved_by": "Ada"}
    assert explain_text._definition(told) == "One row an order. (by Ada)"
    assert explain_text._definition(told | {"author": "scout"}) == "One row an order. (by scout, approved by Ada)"
