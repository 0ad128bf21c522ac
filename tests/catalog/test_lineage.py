"""Lineage as it is paged: counts that hold, filters, hidden names, the graph as it was, and few queries at any size."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from catalog.graph import lineage
from catalog.graph.lineage import Lineage, page
from catalog.models import Asset, AssetRole, Domain
from foundation.errors import BadInput, NotFound
from foundation.models import Person
from tests.catalog.graph_rows import Rows, claimed

AT = datetime(2026, 9, 29, 1, 13, tzinfo=UTC)


@pytest.fixture
def rows(db: None) -> Rows:
    """raw -> stage -> fact -> three marts; a mirror reads the fact, a board reads it there, a report reads one mart."""
    found = Rows()
    marts = [("fact", f"mart{n}") for n in range(3)]
    found.version(
        [("raw", "stage"), ("stage", "fact"), *marts, ("fact", "mirror"), ("mirror", "board"), ("mart0", "report")]
    )
    Asset.objects.filter(name="raw").update(kind="source")
    found.reader(
        "mirror", kind="sync", tool="copier", mode="mirror", cron="0 2 * * *", lead_seconds=120, consequence="Rows go."
    )
    found.reader("board", kind="dashboard")
    found.reader("report", kind="report", cron="30 1 * * *", status="suggested")
    return found


def names(found: Any) -> list[str]:
    return [row.name for row in found]


def test_readers_come_first_by_time_to_damage_then_what_is_nearest(rows: Rows) -> None:
    found = page(rows.assets["stage"], direction="down", at=AT)
    assert names(found.rows) == ["report", "mirror", "board", "fact", "mart0", "mart1", "mart2"]
    assert (found.total, found.found, found.truncated, found.readers) == (7, 7, False, 3)
    assert found.kinds == {"model": 4, "dashboard": 1, "report": 1, "sync": 1}
    assert found.hops == (1, 4, 2)
    assert found.next_read == datetime(2026, 9, 29, 1, 30, tzinfo=UTC)


def test_upstream_is_listed_by_distance_alone(rows: Rows) -> None:
    found = page(rows.assets["board"], direction="up", at=AT)
    assert names(found.rows) == ["mirror", "fact", "stage", "raw"]
    assert [row.hops for row in found.rows] == [1, 2, 3, 4]
    assert [row.via_name for row in found.rows] == ["board", "mirror", "fact", "stage"]


def test_a_row_tells_all_that_is_declared_of_its_reader(rows: Rows, owner: Person) -> None:
    AssetRole.objects.create(asset=rows.assets["mirror"], label="Growth rota", role="operator")
    AssetRole.objects.create(asset=rows.assets["mirror"], label="a team", role="owner")
    AssetRole.objects.create(asset=rows.assets["mirror"], person=owner, role="owner", source="dbt:x")
    found = page(rows.assets["fact"], direction="down", at=AT)
    mirror = next(row for row in found.rows if row.name == "mirror")
    assert (mirror.owner, mirror.operator, mirror.tool, mirror.mode) == (
        "Olive Owner",
        "Growth rota",
        "copier",
        "mirror",
    )
    assert mirror.last_useful_minute == datetime(2026, 9, 29, 1, 58, tzinfo=UTC)
    assert (mirror.reader, mirror.status, mirror.through, mirror.consequence) == (True, "standing", None, "Rows go.")
    assert next(row for row in found.rows if row.name == "board").through == "mirror"
    assert next(row for row in found.rows if row.name == "report").status == "suggested"


def test_filters_by_hop_and_kind_count_what_they_leave_and_the_total_stays(rows: Rows) -> None:
    fact = rows.assets["fact"]
    near = page(fact, direction="down", at=AT, hops=1)
    assert (names(near.rows), near.total, near.truncated) == (["mirror", "mart0", "mart1", "mart2"], 6, True)
    assert near.kinds == {"model": 3, "sync": 1}
    some = page(fact, direction="down", at=AT, kinds=["sync", "report", "no such kind"])
    assert (names(some.rows), some.found, some.total, some.truncated) == (["report", "mirror"], 2, 6, True)
    assert some.kinds["model"] == 3
    assert page(fact, direction="down", at=AT, kinds=["no such kind"]).rows == ()


def test_pages_lie_side_by_side_and_the_export_is_all_of_them(rows: Rows) -> None:
    stage = rows.assets["stage"]
    pages = [page(stage, direction="down", at=AT, offset=start, limit=3) for start in (0, 3, 6, 9)]
    assert [len(one.rows) for one in pages] == [3, 3, 1, 0]
    assert all(one.truncated for one in pages)
    exported = list(lineage.rows(stage, direction="down", at=AT))
    assert [row for one in pages for row in one.rows] == exported
    assert len(exported) == pages[0].found == pages[0].total


def test_the_export_reads_in_chunks_and_loses_nothing(rows: Rows, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = list(lineage.rows(rows.assets["raw"], direction="down", at=AT))
    monkeypatch.setattr(lineage, "CHUNK", 2)
    assert list(lineage.rows(rows.assets["raw"], direction="down", at=AT)) == whole


def test_a_restricted_name_is_hidden_and_its_count_kind_owner_and_times_are_not(rows: Rows, owner: Person) -> None:
    secret = Domain.objects.create(key="secret", name="Secret", restricted=True, owner=owner)
    Asset.objects.filter(name__in=["mirror", "mart0"]).update(domain=secret)
    found = page(rows.assets["fact"], direction="down", at=AT, hidden=[secret.pk])
    plain = json.dumps(found.as_dict())
    assert not any(word in plain for word in ('name": "mirror"', "mart0", "Rows go.", "copier", "Secret"))
    assert found.total == 6
    mirror = found.rows[1]
    assert (mirror.name, mirror.kind, mirror.owner) == ("a sync of a restricted domain", "sync", "Olive Owner")
    assert (mirror.mode, mirror.next_read, mirror.hidden) == ("mirror", datetime(2026, 9, 29, 2, tzinfo=UTC), True)
    assert found.rows[2].through == "a sync of a restricted domain"
    assert found.rows[0].via_name == "a model of a restricted domain"


def test_what_writes_back_is_marked_as_a_cycle(rows: Rows) -> None:
    assert not page(rows.assets["raw"], direction="down", at=AT).cycle
    rows.version([("board", "stage")])
    found = page(rows.assets["raw"], direction="down", at=AT)
    assert not found.cycle
    assert {row.name for row in found.rows if row.cycle} == {"stage", "fact", "mirror", "board"}
    assert page(rows.assets["stage"], direction="down", at=AT).cycle
    assert "stage" not in names(page(rows.assets["stage"], direction="up", at=AT).rows)


def test_the_graph_as_it_was_can_be_asked(rows: Rows) -> None:
    fact = rows.assets["fact"]
    rows.version([("mart1", "late")], [("fact", "mirror")])
    assert page(fact, direction="down", at=AT).total == 5
    was = page(fact, direction="down", at=AT, version=1)
    assert (was.total, was.graph_version, was.as_it_was) == (6, 1, True)
    with pytest.raises(NotFound, match="There is no graph version 3; the newest is 2"):
        page(fact, direction="down", at=AT, version=3)
    with pytest.raises(NotFound, match="late is not in graph version 1"):
        page(rows.assets["late"], direction="up", at=AT, version=1)


def test_a_table_that_is_gone_is_answered_for_as_it_was(rows: Rows) -> None:
    rows.version(remove=[("stage", "fact")], gone=["stage"])
    found = page(rows.assets["stage"], direction="down", at=AT)
    assert (found.graph_version, found.as_it_was, found.total) == (1, True, 7)


@pytest.mark.parametrize("limits", [{"hops": 0}, {"offset": -1}, {"limit": 0}, {"limit": 1001}, {"direction": "left"}])
def test_limits_that_cannot_be_used_are_refused(rows: Rows, limits: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        page(rows.assets["raw"], **{"direction": "down", "at": AT, **limits})


def test_the_page_is_plain_json(rows: Rows) -> None:
    found = page(rows.assets["raw"], direction="down", at=AT).as_dict()
    assert json.loads(json.dumps(found)) == found
    assert found["next_read"] == "2026-09-29T01:30:00.000000Z"


def test_an_asset_without_edges_reaches_nothing_and_says_how_much_that_is(db: None) -> None:
    alone = claimed(Asset.objects.create(namespace="x", name="alone", kind="table"))
    found = page(alone, direction="down", at=AT)
    assert (found.total, found.found, found.kinds, found.hops, found.readers, found.rows) == (0, 0, {}, (), 0, ())
    assert Lineage(alone, direction="up", at=AT).edges() == []


@pytest.mark.django_db
@pytest.mark.parametrize("count", [20, 700])
def test_a_page_asks_as_often_for_many_assets_as_for_few(
    owner: Person, count: int, django_assert_max_num_queries: Any
) -> None:
    rows = Rows()
    rows.version([("hub", f"t{n}") for n in range(count)])
    domain = Domain.objects.create(key="d", name="D", owner=owner)
    Asset.objects.filter(name__startswith="t").update(domain=domain)
    for n in range(0, count, 2):
        consumer = rows.reader(f"t{n}", kind="sync", tool="x", cron=f"{n % 60} 2 * * *")
        AssetRole.objects.create(asset=consumer.asset, person=owner, role="owner")
    with django_assert_max_num_queries(9):  # two of them bring a new version's graph into memory
        found = page(rows.assets["hub"], direction="down", at=AT)
    assert (found.total, found.readers) == (count, count // 2)
    with django_assert_max_num_queries(6):
        page(rows.assets["hub"], direction="down", at=AT)
