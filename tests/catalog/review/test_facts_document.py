"""The facts of an installation as a file: what is written is read back, and what is wrong is refused with its place."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from catalog.lints.types import ColumnFact, KeyFact
from catalog.review.known import facts_document
from catalog.review.known.facts_document import FactsDocument, read, write
from catalog.review.types import KnownAsset, KnownDomain, KnownReader, Rule
from catalog.words import MODES, ROLES
from foundation.errors import BadInput

SCHEMA = Draft202012Validator(
    json.loads((Path(__file__).parents[3] / "docs" / "schemas" / "facts-1.json").read_bytes()),
    format_checker=Draft202012Validator.FORMAT_CHECKER,
)
WHOLE = FactsDocument(
    taken_at=datetime(2026, 9, 28, 5, 13, tzinfo=UTC),
    installation="https://spellbook.example.com",
    graph_version=7,
    domains=(KnownDomain("growth", "Growth", "Ada", ("Ada", "Grace")),),
    assets=(
        KnownAsset("dev.main.orders", "model", "model.shop.orders", "growth", {"owner": ("Ada",)}, ("dev.raw.orders",)),
    ),
    readers=(
        KnownReader(
            name="Hourly mirror",
            kind="sync",
            reads=("dev.main.orders",),
            tool="copier",
            mode="mirror",
            delete_rule="gone here is deleted there",
            cron="0 * * * *",
            zone="Europe/Berlin",
            lead_seconds=900,
            consequence="The board is short of rows.",
            domain="growth",
            people={"operator": ("Sam",)},
            columns=frozenset({"id", "amount"}),
            source="declared here",
        ),
        KnownReader(name="A reader", kind="dashboard", reads=(), status="suggested", hidden=True),
    ),
    columns={("dev.main.orders", "amount"): ColumnFact(True, False, 3, 10, "2026-09-28 01:05 UTC", "DECIMAL")},
    keys={"dev.main.orders": (KeyFact(("id",), True), KeyFact(("id", "day"), False, 2, "yesterday"))},
    rules=(Rule("model.shop.orders", "it is billed"),),
)


def changed(**fields: Any) -> bytes:
    return json.dumps(json.loads(write(WHOLE)) | fields).encode()


def test_what_is_written_is_read_back() -> None:
    data = write(WHOLE)
    assert read(data, "facts.json") == WHOLE
    assert write(read(data, "facts.json")) == data
    SCHEMA.validate(json.loads(data))


def test_facts_of_a_table_that_is_not_described_are_kept() -> None:
    found = read(write(replace(WHOLE, assets=())), "facts.json")
    assert (found.columns, found.keys) == (WHOLE.columns, WHOLE.keys)


NAMES = st.text(st.characters(codec="utf-8", exclude_categories=["C"]), min_size=1, max_size=9).filter(str.strip)
NAMES = NAMES.map(str.strip)
LISTS = st.lists(NAMES, max_size=3, unique=True).map(tuple)
PEOPLE = st.dictionaries(st.sampled_from(ROLES), st.lists(NAMES, min_size=1, max_size=2, unique=True).map(tuple))
COUNTS = st.none() | st.integers(0, 2**53)
READERS = st.builds(
    KnownReader,
    name=NAMES,
    kind=NAMES,
    reads=LISTS,
    tool=NAMES,
    mode=st.sampled_from(("", *MODES)),
    cron=NAMES,
    zone=NAMES,
    triggered_by_api=st.booleans(),
    lead_seconds=st.integers(0, 10**6),
    status=st.sampled_from(("standing", "suggested")),
    people=PEOPLE,
    columns=st.none() | st.frozensets(NAMES, max_size=3),
    hidden=st.booleans(),
)
FACTS = st.builds(ColumnFact, st.booleans(), st.none() | st.booleans(), COUNTS, COUNTS, NAMES, NAMES)
KEYS = st.builds(KeyFact, LISTS.filter(bool), st.booleans(), COUNTS, NAMES)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.builds(
        FactsDocument,
        taken_at=st.datetimes(timezones=st.just(UTC)),
        installation=NAMES,
        graph_version=st.integers(0, 2**53),
        domains=st.lists(st.builds(KnownDomain, NAMES, NAMES, NAMES, LISTS), max_size=2).map(tuple),
        readers=st.lists(READERS, max_size=3).map(tuple),
        columns=st.dictionaries(st.tuples(NAMES, NAMES), FACTS, max_size=3),
        keys=st.dictionaries(NAMES, st.lists(KEYS, min_size=1, max_size=2).map(tuple), max_size=2),
        rules=st.lists(st.builds(Rule, NAMES, NAMES), max_size=2).map(tuple),
    )
)
def test_any_document_fits_its_schema_and_is_read_back(document: FactsDocument) -> None:
    data = write(document)
    SCHEMA.validate(json.loads(data))
    assert replace(read(data, "x"), assets=()) == document


def test_what_a_newer_installation_says_besides_is_passed_over() -> None:
    assert read(changed(weather="fine", readers=[{"name": "a", "kind": "sync", "mood": 1}]), "x").readers == (
        KnownReader("a", "sync", ()),
    )


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"format": "spellbook.facts/2"}, "facts.json: the facts are of version 2, and this Spellbook reads version 1"),
        ({"format": None}, "facts.json: this is no facts document of a Spellbook"),
        ({"taken_at": "yesterday"}, "facts.json: taken_at is not a time as"),
        ({"taken_at": "2026-01-01T00:00:00"}, "facts.json: taken_at has no time zone"),
        ({"taken_at": None}, "facts.json: taken_at is missing or empty"),
        ({"readers": {}}, "facts.json: readers is not a list"),
        ({"readers": [1]}, r"facts.json, readers\[0\] is not an object"),
        (
            {"readers": [{"name": "Copy", "kind": "sync", "mode": "odd"}]},
            r"readers\[0\] \(Copy\): mode is one of mirror",
        ),
        ({"readers": [{"name": "Copy", "kind": "sync", "cron": 7}]}, r"readers\[0\] \(Copy\): cron is not a text"),
        ({"readers": [{"name": "Copy", "kind": "sync", "lead_seconds": -1}]}, "lead_seconds is not a whole number"),
        ({"readers": [{"name": "Copy", "kind": "sync", "hidden": "no"}]}, "hidden is neither true nor false"),
        ({"readers": [{"name": "Copy", "kind": "sync", "reads": "a"}]}, "reads is not a list"),
        ({"readers": [{"name": "Copy", "kind": "sync", "reads": [1]}]}, "reads is not a list of texts"),
        ({"readers": [{"name": "Copy", "kind": "sync", "people": {"owner": "Ada"}}]}, "people: owner is not a list"),
        ({"readers": [{"kind": "sync"}]}, r"readers\[0\]: name is missing or empty"),
        ({"assets": [{"name": "a", "columns": {"b": 1}}]}, r"assets\[0\] \(a\): columns is not an object of objects"),
        ({"assets": [{"name": "a", "columns": {"b": {"nulls": 1.5}}}]}, "columns.b: nulls is not a whole number"),
        ({"assets": [{"name": "a", "keys": [{}]}]}, r"assets\[0\] \(a\), keys\[0\]: columns is empty"),
        ({"domains": [{"name": "a\u202eb"}]}, "domains.0. .a\ufffdb.: key is missing"),
    ],
)
def test_what_is_wrong_is_refused_with_its_place(fields: dict[str, Any], why: str) -> None:
    with pytest.raises(BadInput, match=why) as refusal:
        read(changed(**fields), "facts.json")
    assert str(refusal.value).isprintable()
    assert not str(refusal.value).endswith("..")


@pytest.mark.parametrize("data", [b"", b"\x00\x01\xff", b"[]", b'{"format": ', b"null", b"<html>", b"\xff\xfe{"])
def test_what_is_no_document_is_refused_in_one_sentence(data: bytes) -> None:
    with pytest.raises(BadInput, match=r"^facts.json: .*[^.]\.$"):
        read(data, "facts.json")


def test_a_document_that_is_too_large_is_refused_unread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(facts_document, "LARGEST", 2**20)
    with pytest.raises(BadInput, match=r"facts.json: the facts are larger than 1 MB"):
        read(b" " * (2**20 + 1), "facts.json")
