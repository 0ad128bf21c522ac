"""What is known beside the code: four kinds of sources, which of them goes first, and what is lost by none."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from catalog.lints.types import ColumnFact
from catalog.review.known.facts_document import FactsDocument
from catalog.review.known.knowledge import gather
from catalog.review.types import Knowledge, KnownAsset, KnownDomain, KnownReader
from catalog.sources import catalog_file
from catalog.sources.manifest import read
from catalog.sources.manifest_types import Manifest
from tests.catalog.manifests import catalog_file as catalog_bytes
from tests.catalog.manifests import exposure, manifest, model, source

TAKEN = datetime(2026, 9, 28, 16, 20, tzinfo=UTC)
FACTS = "facts of https://spellbook.example.com, taken 2026-09-28 16:20 UTC"
ORDERS = "model.shop.orders"


def head(*exposures: Any, orders: Mapping[str, Any] | None = None, **more: Any) -> Manifest:
    nodes = [model("orders", "source.shop.raw.orders", meta={"spellbook": orders or {}}), model("revenue", ORDERS)]
    return read(manifest(nodes, sources=[source("orders")], exposures=exposures, **more))


def facts(*readers: KnownReader, **more: Any) -> FactsDocument:
    return FactsDocument(TAKEN, "https://spellbook.example.com", readers=readers, **more)


def known(now: Manifest, *documents: Mapping[str, Any], before: Manifest | None = None, **more: Any) -> Knowledge:
    declared = [("spellbook.yml" if place == 0 else f"{place}.yml", one) for place, one in enumerate(documents)]
    return gather(before or now, now, declared=declared, **more)


def one(found: Knowledge) -> KnownReader:
    (reader,) = found.readers
    return reader


def test_without_any_source_readers_are_not_known() -> None:
    assert (known(head()).readers, known(head()).sources, known(head()).problems) == ((), (), ())
    assert known(head(), {"assets": [{"asset": "main.orders", "domain": "Growth"}]}).sources == ()
    assert known(head(), facts=[facts()]).sources == (FACTS,)


def test_an_exposure_is_a_reader_of_what_it_depends_on() -> None:
    board = exposure("weekly_board", ORDERS, label="Weekly board", owner={"name": "Ada", "email": "ada@example.com"})
    found = known(head(board))
    assert one(found) == KnownReader(
        "Weekly board", "dashboard", (ORDERS,), people={"owner": ("Ada",)}, source="dbt exposures"
    )
    assert found.sources == ("dbt exposures",)


def test_meta_of_an_exposure_says_when_and_how_it_reads() -> None:
    said = {
        "tool": "copier",
        "mode": "mirror",
        "schedule": {"cron": "0 * * * *", "zone": "Europe/Berlin"},
        "lead_minutes": 15,
        "consequence": "Rows are deleted there.",
        "columns": ["ID", "amount"],
        "operator": "sam@example.com",
    }
    reader = one(known(head(exposure("copy", ORDERS, type="application", meta={"spellbook": said}))))
    assert (reader.mode, reader.tool, reader.cron, reader.zone) == ("mirror", "copier", "0 * * * *", "Europe/Berlin")
    assert (reader.lead_seconds, reader.consequence, reader.kind) == (900, "Rows are deleted there.", "sync")
    assert (reader.columns, reader.reads) == (frozenset({"id", "amount"}), (ORDERS,))
    assert reader.people == {"operator": ("sam@example.com",)}
    assert reader.source == "meta.spellbook of dbt, dbt exposures"


def test_meta_of_a_model_names_its_readers_its_domain_and_its_people() -> None:
    said = {"domain": "growth", "owner": {"team": "Core"}, "consumers": [{"asset": "Copy", "tool": "copier"}]}
    found = known(head(orders=said))
    assert (one(found).name, one(found).reads, one(found).mode) == ("Copy", (ORDERS,), "unknown")
    (asset,) = [asset for asset in found.assets if asset.unique_id == ORDERS]
    assert (asset.domain, asset.people) == ("growth", {"owner": ("Core",)})


def test_a_file_goes_before_meta_and_an_installation_before_the_file_field_by_field() -> None:
    said = {"consequence": "from meta", "tool": "from meta", "schedule": {"cron": "0 1 * * *"}, "mode": "full"}
    board = exposure("copy", ORDERS, label="Nightly copy", owner={"name": "Ada"}, meta={"spellbook": said})
    file = {
        "people": [{"email": "sam@example.com", "name": "Sam"}],
        "consumers": [
            {"asset": "nightly COPY", "tool": "from the file", "schedule": {"cron": "0 2 * * *"},
             "reads": "main.revenue", "operator": "sam@example.com"}
        ],
    }  # fmt: skip
    told = KnownReader("exposure.shop.copy", "sync", ("dev.main.orders",), cron="0 3 * * *", zone="Asia/Tokyo")
    reader = one(known(head(board), file, facts=[facts(told)]))
    assert (reader.consequence, reader.tool, reader.mode) == ("from meta", "from the file", "full")
    assert (reader.cron, reader.zone, reader.kind) == ("0 3 * * *", "Asia/Tokyo", "sync")
    assert reader.reads == (ORDERS, "main.revenue", "dev.main.orders")
    assert reader.people == {"owner": ("Ada",), "operator": ("Sam",)}
    assert reader.source == f"{FACTS}, spellbook.yml, meta.spellbook of dbt, dbt exposures"


def test_an_installation_that_does_not_know_the_mode_or_the_tool_hides_neither() -> None:
    file = {"consumers": [{"asset": "Copy", "tool": "copier", "mode": "mirror", "reads": "main.orders"}]}
    reader = one(known(head(), file, facts=[facts(KnownReader("copy", "dashboard", (), mode="unknown"))]))
    assert (reader.kind, reader.mode, reader.tool) == ("sync", "mirror", "copier")


def test_a_later_file_goes_before_an_earlier_one() -> None:
    documents = [{"consumers": [{"asset": "Copy", "tool": tool, "reads": tool}]} for tool in ("a", "b")]
    reader = one(known(head(), *documents))
    assert (reader.tool, reader.reads, reader.source) == ("b", ("a", "b"), "1.yml, spellbook.yml")


def test_columns_are_known_when_they_are_said_of_all_that_is_read() -> None:
    def columns(*consumers: Mapping[str, Any], **more: Any) -> frozenset[str] | None:
        documents = [{"consumers": [{"asset": "board", "kind": "dashboard", **entry}]} for entry in consumers]
        return one(known(head(exposure("board", ORDERS)), *documents, **more)).columns

    assert columns({"columns": ["id"]}) == frozenset({"id"})  # of whatever it reads
    assert columns({"reads": "main.orders", "columns": ["id"]}) == frozenset({"id"})  # the same table by another name
    assert columns({"reads": "main.revenue", "columns": ["id"]}) is None  # what it reads of orders nobody says
    assert columns({"columns": []}) is None
    assert columns({"columns": ["a"]}, {"columns": ["b"], "reads": "main.orders"}) == frozenset({"a", "b"})


def test_what_cannot_be_used_is_said_with_its_place_and_loses_no_other() -> None:
    board = exposure("board", ORDERS, meta={"spellbook": ["odd"]})
    file = {
        "weather": "fine",
        "people": [],
        "consumers": [{"asset": "A", "mode": "odd"}, 7, {"asset": "B", "kind": "dashboard", "colour": 1}],
        "assets": {"asset": "x"},
    }
    told = KnownReader("C", "sync", ("x",), cron="61 * * * *", consequence="kept")
    found = known(head(board, orders={"consumers": {}, "owner": "x"}), file, facts=[facts(told)])
    assert [reader.name for reader in found.readers] == ["board", "B", "C"]
    assert (found.readers[2].cron, found.readers[2].consequence) == ("", "kept")
    assert [problem.partition(": ")[::2] for problem in found.problems] == [
        ("meta.spellbook of model.shop.orders", "Entry 1 of assets (model.shop.orders): owner is neither an e-mail nor "
         "{schedule: name} or {team: name}."),
        ("meta.spellbook of exposure.shop.board", "it is not a mapping."),
        ("spellbook.yml", "assets is not a list."),
        ("spellbook.yml", "Entry 2 of consumers is not a mapping."),
        ("spellbook.yml", "Entry 1 of consumers (A): mode is one of mirror, append, full, one_time, activation, "
         "extract, unknown, not odd."),
        ("spellbook.yml", "weather means nothing here."),
        ("spellbook.yml", "consumers.colour means nothing here."),
        (FACTS.partition(": ")[0], found.problems[-1].partition(": ")[2]),
    ]  # fmt: skip
    assert found.problems[-1].startswith(f"{FACTS}: the schedule of C is not used: ")


def test_a_file_that_is_no_declaration_is_said() -> None:
    assert known(head(), ["odd"]).problems == (  # type: ignore[arg-type]
        "spellbook.yml: A declaration is a mapping with domains, assets, consumers and notes.",
    )


def test_a_name_that_two_exposures_have_is_said_and_makes_one_more_reader() -> None:
    twins = [exposure(name, ORDERS, label="Board") for name in ("a", "b")]
    found = known(head(*twins), {"consumers": [{"asset": "board", "kind": "dashboard", "reads": "main.revenue"}]})
    assert [reader.reads for reader in found.readers] == [(ORDERS,), (ORDERS,), ("main.revenue",)]
    assert found.problems == ("spellbook.yml: several readers are called board; it counts as one more.",)


def test_a_change_that_removes_a_declaration_removes_no_reader() -> None:
    before = head(exposure("board", ORDERS), orders={"consumers": [{"asset": "Copy", "tool": "copier"}]})
    found = gather(before, head())
    assert [(reader.name, reader.source) for reader in found.readers] == [
        ("board", "dbt exposures, which this change removes"),
        ("Copy", "meta.spellbook of dbt, which this change removes"),
    ]
    assert found.sources == tuple(reader.source for reader in found.readers)
    moved = gather(before, head(), declared=[("spellbook.yml", {"consumers": [{"asset": "copy", "tool": "other"}]})])
    assert [(reader.name, reader.tool) for reader in moved.readers] == [("copy", "other"), ("board", "")]


def test_tables_and_domains_are_joined_by_what_their_names_mean() -> None:
    file = {
        "people": [{"email": "ada@example.com", "name": "Ada"}, {"email": "grace@example.com", "name": "Grace"}],
        "domains": [{"name": "Growth", "owner": "ada@example.com", "approver": "ada@example.com",
                     "fallback": "Grace@example.com", "minimum_minutes": 5}],
        "assets": [{"asset": "main.orders", "domain": "growth", "owner": "ada@example.com", "watch": ["row_count"]}],
    }  # fmt: skip
    told = KnownAsset("prod.sales.orders", "model", ORDERS, "sales", {"operator": ("Sam",)})
    outside = KnownAsset("other.view", "view", "model.elsewhere.view", reads=("prod.sales.orders",))
    reader = KnownReader("Copy", "sync", ("prod.sales.orders", "other.view"), columns=frozenset({"Id"}))
    document = facts(reader, assets=(told, outside), domains=(KnownDomain("sales", "Sales"),))
    found = known(head(orders={"owner": {"team": "Core"}, "operator": {"team": "Ops"}}), file, facts=[document])
    assert found.problems == ()
    assert [asset for asset in found.assets if asset.unique_id == ORDERS] == [
        KnownAsset("prod.sales.orders", "model", ORDERS, "sales", {"owner": ("Ada",), "operator": ("Sam",)})
    ]
    assert outside in found.assets
    assert found.domains == (KnownDomain("growth", "Growth", "Ada", ("Ada", "Grace")), KnownDomain("sales", "Sales"))
    assert (one(found).reads, one(found).columns) == ((ORDERS, "other.view"), frozenset({"id"}))


def test_a_domain_of_which_two_sources_speak_loses_nobody() -> None:
    file = {"domains": [{"name": "Growth", "owner": "ada@example.com", "approver": "ada@example.com"}]}
    found = known(head(), file, facts=[facts(domains=(KnownDomain("growth", "Growth team", "", ("Grace",)),))])
    assert found.domains == (KnownDomain("growth", "Growth team", "ada@example.com", ("Grace",)),)


def test_the_types_of_the_catalog_fill_what_nobody_measured() -> None:
    document = facts(
        assets=(KnownAsset("prod.sales.orders", "model", ORDERS),),
        columns={("prod.sales.orders", "flag"): ColumnFact(nulls=3, rows=9), ("prod.sales.orders", "id"): ColumnFact()},
    )
    tables = catalog_file.read(catalog_bytes((ORDERS, {"FLAG": "BOOLEAN"}), ("model.gone.x", {"a": "INT"})))
    found = known(head(), facts=[document], catalog=tables).facts
    for name in ("prod.sales.orders", '"dev"."main"."orders"'):
        assert found.column(name, "flag") == ColumnFact(nulls=3, rows=9, type="BOOLEAN")


def test_a_hidden_reader_stays_hidden_and_a_suggested_one_stands_when_a_file_says_so() -> None:
    told = [KnownReader("x", "sync", (), hidden=True), KnownReader("Copy", "sync", (), status="suggested")]
    found = known(head(), {"consumers": [{"asset": "Copy", "tool": "copier"}]}, facts=[facts(*told)])
    assert [(reader.name, reader.status, reader.hidden) for reader in found.readers] == [
        ("Copy", "standing", False), ("x", "standing", True),
    ]  # fmt: skip


def test_who_answered_for_a_table_that_goes_is_still_known_and_the_head_goes_before_the_base() -> None:
    owned = {"domain": "growth", "owner": {"team": "Core"}}
    without = read(manifest([model("revenue")]))
    for after, owner in ((without, "Core"), (head(), "Core"), (head(orders={"owner": {"team": "New"}}), "New")):
        found = known(after, before=head(orders=owned))
        (asset,) = [asset for asset in found.assets if asset.unique_id == ORDERS]
        assert (asset.domain, asset.people) == ("growth", {"owner": (owner,)})
