"""NULLs that a review would like to know are counted in the real warehouse, once a table, and never guessed."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import duckdb
import pytest

from catalog.lints.types import CERTAIN, POSSIBLE
from catalog.review import engine
from catalog.review.types import DANGEROUS, LOOK, Knowledge, Review
from catalog.services import imports
from catalog.sources import manifest
from foundation import connections
from foundation.clock import now
from spellbook.review_measures import with_counts
from tests.spellbook.machines import command_line
from tests.spellbook.review_world import FILTERED, manifest_of

pytestmark = pytest.mark.django_db
NAMESPACE = "duckdb://counted"


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    file = tmp_path / "dev.duckdb"
    with duckdb.connect(str(file)) as one:
        one.execute('create table stg_orders (order_id integer, "Is_Test" boolean)')
        one.execute("insert into stg_orders select i, if(i % 4 = 0, null, i % 2 = 0) from range(100) as t(i)")
    connections.save(
        "counted", kind="duckdb", purpose="read", namespace=NAMESPACE, params={"path": str(file)}, secret_names=[],
        actor=command_line(),
    )  # fmt: skip
    imports.import_manifest(manifest_of(), namespace=NAMESPACE, actor=command_line())
    return file


def review(code: str = FILTERED) -> Review:
    base, head = manifest.read(manifest_of()), manifest.read(manifest_of(code, stamp="head"))
    return with_counts(Knowledge(), lambda known: engine.review(base, head, known, at=now()))


def evidence(found: Review) -> str:
    (finding,) = [one for change in found.changes for one in change.findings if one.rule == "null-rows-dropped"]
    assert finding.certainty == (CERTAIN if "was NULL" in finding.evidence[0] else POSSIBLE)
    return finding.evidence[0]


def test_the_nulls_of_the_column_are_counted_and_named(warehouse: Path) -> None:
    found = review()
    assert found.verdict == DANGEROUS
    assert "was NULL in 25 of 100 rows when measured at" in evidence(found)
    assert not [note for note in found.notes if "could not be counted" in note]


def test_without_a_null_it_says_so_and_that_nothing_keeps_it_so(warehouse: Path) -> None:
    with duckdb.connect(str(warehouse)) as one:
        one.execute('update stg_orders set "Is_Test" = false where "Is_Test" is null')
    assert "held no NULL when measured at" in evidence(review())


def test_a_table_that_is_gone_is_not_known_and_said(warehouse: Path) -> None:
    with duckdb.connect(str(warehouse)) as one:
        one.execute("drop table stg_orders")
    found = review()
    assert found.verdict == LOOK
    assert "not known whether" in evidence(found)


def test_a_warehouse_that_cannot_be_asked_is_told_in_the_notes(warehouse: Path) -> None:
    warehouse.unlink()
    found = review()
    assert "not known whether" in evidence(found)
    notes = [note.partition(" could not be counted: ")[0] for note in found.notes if "could not be counted" in note]
    assert notes == ["The NULLs of dev.main.stg_orders", "The NULLs of dev.raw.orders"]  # and of what it comes from


def test_nothing_is_asked_where_no_finding_hangs_on_it(warehouse: Path) -> None:
    warehouse.unlink()  # asking would leave a note
    found = review("select order_id, is_test from main.stg_orders where order_id > 3")
    assert not [note for note in found.notes if "could not be counted" in note]


def test_what_the_time_does_not_suffice_for_is_told(warehouse: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spellbook.review_measures.WHOLE", timedelta())
    found = review()
    assert "not known whether" in evidence(found)
    assert "The NULLs of dev.main.stg_orders could not be counted: the time for it was over." in found.notes
