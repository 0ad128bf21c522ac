"""Pages and exports of lineage: time to damage first, filters that hold, names hidden, files with the page's totals."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import re
from datetime import timedelta
from typing import Any

import pytest
from django.core.handlers.asgi import ASGIRequest
from django.test import Client

from catalog.models import Asset, AssetRole, Domain
from foundation.audit import Actor
from foundation.clock import now
from foundation.models import Person
from foundation.people import create_person, give_role, system
from spellbook.pages.graph import lines_of
from spellbook.pages.lineage_export import COLUMNS as LINEAGE
from spellbook.pages.lineage_export import attached
from spellbook.pages.readers import COLUMNS as READERS
from tests.catalog.graph_rows import Rows
from tests.spellbook.page_data import HOSTILE

MOST_QUERIES = 12


@pytest.fixture
def member(db: None) -> Person:
    return create_person("member@shop.example", "A member")


@pytest.fixture
def client(member: Person) -> Client:
    found = Client()
    found.force_login(member)
    return found


@pytest.fixture
def rows(db: None) -> Rows:
    """raw -> stage -> fact -> mart0 to mart2; a mirror reads the fact, a board reads the mirror's copy."""
    found = Rows()
    marts = [("fact", f"mart{n}") for n in range(3)]
    found.version([("raw", "stage"), ("stage", "fact"), *marts, ("fact", "mirror"), ("mirror", "board")])
    found.reader("mirror", kind="sync", tool="copier", mode="mirror", cron="0 2 * * *", lead_seconds=120)
    found.reader("board", status="suggested", consequence="The meeting reads it.")
    return found


def read(client: Client, path: str) -> str:
    answer = client.get(path)
    assert answer.status_code == 200, (path, answer.status_code, answer.content[:400])
    return answer.content.decode()


def text(html: str) -> str:
    """What an eye reads of it, on one line."""
    plain = re.sub(r"<[^>]+>", " ", html.partition("<main")[2])
    return re.sub(r" (?=[:;,])", "", re.sub(r"\s+", " ", plain))


def radius(rows: Rows, name: str = "fact") -> str:
    return f"/assets/{rows.pk(name)}/blast-radius"


def test_the_reader_that_is_harmed_first_is_listed_first_with_all_that_is_declared(client: Client, rows: Rows) -> None:
    person = create_person("op@shop.example", "Opal Operator")
    AssetRole.objects.create(asset=rows.assets["mirror"], person=person, role="operator")
    said = text(read(client, radius(rows)))
    assert "5 downstream of fact · 2 readers · next read" in said
    assert said.index("mirror sync") < said.index("board dashboard, through") < said.index("mart0")
    assert "02:00 UTC" in said
    assert "hold until 01:58 UTC" in said
    assert "mirror by copier; what it removes is not known" in said
    assert "Opal Operator (operator)" in said
    assert "reads what mirror brings" in said
    assert "suggested" in said


def test_upstream_has_its_own_page_and_each_links_to_the_other(client: Client, rows: Rows) -> None:
    html = read(client, f"/assets/{rows.pk('board')}/lineage")
    assert "4 upstream of board" in text(html)
    assert f"/assets/{rows.pk('board')}/blast-radius" in html
    assert "what feeds it" in html
    down = read(client, f"/assets/{rows.pk('raw')}/lineage?direction=down")
    assert "7 downstream of raw" in text(down)


def test_filters_narrow_the_list_and_say_what_they_left(client: Client, rows: Rows) -> None:
    near = text(read(client, radius(rows) + "?hops=1"))
    assert "the hop limit and the kinds leave 4 of 5" in near
    some = read(client, radius(rows) + "?kind=sync&kind=dashboard")
    assert "leave 2 of 5" in text(some)
    assert 'value="sync" checked' in some
    assert "kind=sync&amp;kind=dashboard" in some or "kind=sync&kind=dashboard" in some.replace("&amp;", "&")


def test_a_long_list_is_paged_and_counted(client: Client) -> None:
    rows = Rows()
    rows.version([("hub", f"t{n:03}") for n in range(350)])
    first = read(client, radius(rows, "hub"))
    assert "Rows 1 to 100 of 350" in text(first)
    assert "page=2" in first
    assert "There are 300 assets or more" in text(first)
    last = text(read(client, radius(rows, "hub") + "?page=4"))
    assert "Rows 301 to 350 of 350" in last
    assert "t349" in last
    assert "Nothing else on this page" in text(read(client, radius(rows, "hub") + "?page=99"))


@pytest.mark.parametrize("query", ["hops=0", "hops=x", "page=0", "version=-1", "hops=99999999999", "hops=%00"])
def test_a_query_that_cannot_be_used_is_refused(client: Client, rows: Rows, query: str) -> None:
    assert client.get(f"{radius(rows)}?{query}").status_code in (400, 422)


def test_an_unknown_direction_asset_or_version_is_refused(client: Client, rows: Rows) -> None:
    assert client.get(f"/assets/{rows.pk('fact')}/lineage?direction=left").status_code in (400, 422)
    assert client.get("/assets/999999/lineage").status_code == 404
    answer = client.get(f"{radius(rows)}?version=7")
    assert (answer.status_code, b"There is no graph version 7; the newest is 1" in answer.content) == (404, True)


@pytest.mark.parametrize("suffix", ["blast-radius", "lineage", "lineage.csv", "lineage.json"])
def test_nobody_else_gets_it_and_nothing_is_posted_to_it(client: Client, rows: Rows, suffix: str) -> None:
    path = f"/assets/{rows.pk('fact')}/{suffix}"
    assert Client().get(path).status_code == 302
    assert client.post(path).status_code == 405


def test_a_cycle_is_shown_with_a_badge(client: Client, rows: Rows) -> None:
    assert "on a cycle" not in read(client, radius(rows))
    rows.version([("board", "stage")])
    html = read(client, radius(rows))
    assert "it feeds itself: something writes back" in html
    assert text(html).count("on a cycle") >= 3


def test_the_graph_as_it_was_is_shown_by_its_version(client: Client, rows: Rows) -> None:
    rows.version(remove=[("fact", "mart0")])
    now_, was = (text(read(client, radius(rows) + query)) for query in ("", "?version=1"))
    assert ("4 downstream" in now_, "5 downstream" in was) == (True, True)
    assert "the graph as it was" in was
    assert "the graph as it was" not in now_


@pytest.fixture
def secret(rows: Rows, member: Person) -> Domain:
    domain = Domain.objects.create(key="secret", name="Secret", restricted=True, owner=create_person("o@x.com", "Owna"))
    Asset.objects.filter(name__in=["mirror", "mart0"]).update(domain=domain)
    return domain


def test_a_restricted_name_is_hidden_on_the_page_in_the_drawing_and_in_the_files(
    client: Client, rows: Rows, secret: Domain
) -> None:
    for path in (
        radius(rows),
        *(f"/assets/{rows.pk('fact')}/lineage{end}?direction=down" for end in (".csv", ".json")),
    ):
        answer = client.get(path)
        content = (b"".join(answer) if answer.streaming else answer.content).decode()
        assert "mart0" not in content, path
        assert "copier" not in content, path
        assert f'href="/assets/{rows.pk("mirror")}"' not in content, path
        assert "a sync of a restricted domain" in content, path
        assert "Owna" in content, path
    assert "5 downstream" in text(read(client, radius(rows)))
    assert client.get(radius(rows, "mirror")).status_code == 404


def test_whoever_belongs_to_the_domain_reads_the_name(
    client: Client, rows: Rows, secret: Domain, member: Person
) -> None:
    give_role(member, "member", scope="domain:secret", actor=Actor(system("cli"), "cli"))
    assert "mart0" in read(client, radius(rows))


def exported(client: Client, path: str) -> list[dict[str, str]]:
    answer = client.get(path)
    assert answer.headers["Content-Type"].startswith("text/csv")
    assert "attachment" in answer.headers["Content-Disposition"]
    return list(csv.DictReader(io.StringIO(b"".join(answer).decode())))


@pytest.mark.parametrize("query", ["", "&hops=1", "&kind=model", "&kind=sync&hops=1"])
def test_the_files_have_the_rows_of_the_page_and_its_totals(client: Client, rows: Rows, query: str) -> None:
    page = text(read(client, radius(rows) + "?" + query))
    base = f"/assets/{rows.pk('fact')}/lineage"
    lines = exported(client, f"{base}.csv?direction=down{query}")
    document = json.loads(b"".join(client.get(f"{base}.json?direction=down{query}")))
    assert f"of {len(lines)}" in page
    assert len(lines) == len(document["rows"]) == document["found"]
    assert f"{document['total']} downstream" in page
    assert document["truncated"] is (document["found"] < document["total"])
    assert [line["name"] for line in lines] == [row["name"] for row in document["rows"]]
    assert [(line["from"], line["to"], line["hops"]) for line in lines] == [
        (row["from"], row["to"], str(row["hops"])) for row in document["rows"]
    ]


def test_the_files_of_lineage_and_readers_name_their_columns_alike_and_the_version(client: Client, rows: Rows) -> None:
    shared = {"name", "kind", "status", "domain", "tool", "mode", "delete_rule", "next_read", "last_useful_minute",
              "owner", "operator", "consequence"}  # fmt: skip
    assert shared <= set(LINEAGE) & set(READERS)
    assert all(re.fullmatch("[a-z_]+", name) for name in (*LINEAGE, *READERS))
    for ending in ("csv", "json"):
        answer = client.get(f"/assets/{rows.pk('fact')}/lineage.{ending}?direction=down")
        named = f'filename="lineage-{rows.pk("fact")}-down-version-1.{ending}"'
        assert named in answer.headers["Content-Disposition"]
        assert b'"hop"' not in b"".join(answer)


def test_a_line_of_the_file_tells_where_from_where_to_and_when_it_is_read(client: Client, rows: Rows) -> None:
    lines = exported(client, f"/assets/{rows.pk('fact')}/lineage.csv?direction=down")
    mirror = lines[0]
    assert (mirror["from"], mirror["to"], mirror["hops"], mirror["kind"]) == ("fact", "mirror", "1", "sync")
    assert mirror["next_read"].endswith("T02:00:00.000000Z")
    assert (mirror["mode"], mirror["status"], mirror["owner"]) == ("mirror", "standing", "")
    up = exported(client, f"/assets/{rows.pk('board')}/lineage.csv")
    assert [(line["from"], line["to"]) for line in up] == [
        ("mirror", "board"), ("fact", "mirror"), ("stage", "fact"), ("raw", "stage"),
    ]  # fmt: skip


def test_text_of_others_is_no_markup_on_the_page_and_no_formula_in_the_file(client: Client, rows: Rows) -> None:
    Asset.objects.filter(name="mirror").update(name=f"=cmd|'/C calc'!A0 {HOSTILE}", kind="=kind")
    html = read(client, radius(rows))
    assert "<script>alert" not in html
    assert "\u202e" not in html
    mirror = next(
        line
        for line in exported(client, f"/assets/{rows.pk('fact')}/lineage.csv?direction=down")
        if "cmd" in line["to"]
    )
    assert mirror["to"].startswith("'=cmd")
    assert mirror["kind"] == "'=kind"
    assert "\u202e" not in mirror["to"]


def test_an_async_server_gets_the_file_in_parts() -> None:
    request = ASGIRequest({"type": "http", "method": "GET", "path": "/", "headers": []}, io.BytesIO())
    answer = attached(request, (f"{n}\n" for n in range(1200)), "x.csv", "text/csv")

    async def parts() -> list[bytes]:
        return [part async for part in answer]

    got = asyncio.run(parts())
    assert len(got) == 3
    assert b"".join(got).decode().split() == [str(n) for n in range(1200)]


def test_a_page_asks_at_most_twelve_times_whatever_it_shows(
    client: Client, rows: Rows, secret: Domain, django_assert_max_num_queries: Any
) -> None:
    read(client, radius(rows))
    for path in (radius(rows), radius(rows) + "?hops=1", f"/assets/{rows.pk('board')}/lineage"):
        with django_assert_max_num_queries(MOST_QUERIES):
            read(client, path)


def test_the_drawing_shows_a_suggested_reader_as_one_and_each_name_whole(client: Client) -> None:
    rows, long = Rows(), "warehouse.marts.int_shipments_with_depot_and_carrier_attribution_daily"
    rows.version([("fact", long), (long, "Board of the planning team, floor two")])
    rows.reader("Board of the planning team, floor two", status="suggested")
    html = read(client, radius(rows))
    drawn = html[html.index("<svg viewBox") :]
    assert drawn.count('<g class="node suggested reader">') == 1
    assert "dashboard · suggested reader" in drawn
    lines = re.findall(r'<tspan x="14" dy="15">([^<]*)</tspan>', drawn)
    assert "".join(lines).replace(" ", "").count(long) == 1
    assert "…" not in drawn


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("orders", ["orders"]),
        ("x" * 27, ["x" * 27]),
        ("Carrier invoicing feed of the north", ["Carrier invoicing feed of", "the north"]),
        ("marts.daily_shipments_by_carrier", ["marts.daily_shipments_by_", "carrier"]),
        ("x" * 60, ["x" * 27, "x" * 27, "x" * 6]),
        ("a" * 40 + "b" * 60, ["a" * 26 + "…", "b" * 27, "b" * 27]),
    ],
)
def test_a_name_is_broken_behind_blanks_and_marks_into_lines_that_fit(name: str, lines: list[str]) -> None:
    assert lines_of(name) == lines


def test_a_time_that_is_past_is_never_the_next(client: Client, rows: Rows) -> None:
    page = client.get(radius(rows)).context["view"]
    assert now() < page.next_read <= now() + timedelta(days=1)


def test_the_way_back_to_all_hops_and_kinds_drops_them_from_the_address(client: Client, rows: Rows) -> None:
    path = radius(rows)
    for query in ("", "?hops=1", "?hops=2&page=1"):
        html = read(client, path + query)
        assert re.search(rf'href="{path}\??"[^>]*>all<', html), query
        assert 'href=""' not in html
    assert f'href="{path}?version=1"' in read(client, path + "?version=1&hops=2")
