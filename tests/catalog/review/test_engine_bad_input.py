"""Wrong, strange and huge pairs of manifests: a sentence, never a stack trace, and never safe for what was not seen."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from catalog.lints.types import ColumnFact, Facts, KeyFact
from catalog.review.engine import review
from catalog.review.types import (
    LOOK,
    VERDICTS,
    Knowledge,
    KnownAsset,
    KnownDomain,
    KnownReader,
    Policy,
    Rule,
)
from catalog.sources import manifest
from foundation.errors import BadInput
from tests.catalog.dbt_files import CORPUS, as_bytes, document, model, needs_corpus
from tests.catalog.review.pairs import AT, build, change_of, known, node, reviewed, sync

pytestmark = pytest.mark.real

STRANGE: tuple[object, ...] = (None, 5, "", "x", [], [5], {}, {"x": 5}, [[]], True, 10**30)
EVERYTHING = known(
    sync("s", "m3", "model.shop.a", columns=frozenset({"id"})),
    KnownReader("t", "dashboard", ("s", "", ".", '"', "{{ ref('a') }}", "a" * 3000)),
    assets=(KnownAsset("x", reads=("a", "x")), KnownAsset("", domain="d")),
    domains=(KnownDomain("d", "D", "", ("P",)),),
    facts=Facts({("a", "id"): ColumnFact(nulls=1)}, {"a": (KeyFact(("id",), duplicates=2),)}),
)


def named(project: str, *entries: dict[str, Any]) -> manifest.Manifest:
    found = document(*entries)
    found["metadata"]["project_name"] = project
    return manifest.read(as_bytes(found))


def test_a_manifest_of_another_project_is_refused_with_both_names_unless_they_share_nodes() -> None:
    with pytest.raises(BadInput, match=r"project one, the head one of two"):
        reviewed(named("one", model("a")), named("two", model("b")))
    found = reviewed(named("one", model("a")), named("two", model("a")))
    assert any("two projects, one (base) and two (head)" in note for note in found.notes)


def test_a_base_that_is_newer_than_the_head_is_told() -> None:
    entries = document(model("a")), document(model("a", "select 2 as id"))
    for entry, at in zip(entries, ("2026-02-02T00:00:00Z", "2026-01-01T00:00:00Z"), strict=True):
        entry["metadata"]["generated_at"] = at
    base, head = (manifest.read(as_bytes(entry)) for entry in entries)
    found = reviewed(base, head)
    assert any("after the head" in note and "exchanged" in note for note in found.notes)


def test_a_node_of_fifty_megabytes_is_looked_at_in_no_time_and_said_to_be_unread() -> None:
    huge = "select '" + "x" * 50_000_000 + "' as id"
    found = reviewed(build(node("a", "select 1 as id")), build(node("a", huge)), known(sync("s", "a")))
    change = change_of(found, "a")
    assert change.verdict == LOOK
    assert any("could not be read" in reason for reason in change.reasons)
    assert len(repr(change.reasons)) < 10_000
    other = [node("b", "select 1 as id"), node("b", "select 1 as id where not flag")]
    both = reviewed(
        build(node("a", "select 1 as id"), other[0]), build(node("a", huge), other[1]), known(sync("s", "b"))
    )
    assert change_of(both, "b").verdict == "dangerous"  # the other models are looked through all the same


def test_binary_and_unparsable_sql_is_to_be_looked_at() -> None:
    for text in ("\x00\x01\ufffd", "select from from where ((", "{% if %}", "drop table x; select 1", ""):
        for before, after in ((text, "select 1 as id"), ("select 1 as id", text)):
            found = reviewed(build(node("a", before)), build(node("a", after)), known(sync("s", "a")))
            assert found.verdict != "safe", (text, found)


def test_sql_that_is_nested_a_thousand_deep_is_reviewed() -> None:
    for deep in (100, 1000, 20_000):
        inner = "(" * deep + "1" + ")" * deep
        query = "with f as (select 1 as id, 2 as x) select id, ONE as x from f"
        pair = [build(node("a", query.replace("ONE", one)), node("b", "select x from {a}")) for one in (inner, "2")]
        for before, after in (pair, pair[::-1]):
            assert reviewed(before, after, known(sync("s", "b"))).verdict != "safe"


def test_two_thousand_changed_models_are_all_listed_and_what_was_not_looked_at_is_told() -> None:
    def built(tail: str) -> manifest.Manifest:
        return build(*(node(f"m{one}", f"select {one} as id{tail}") for one in range(2000)))

    found = reviewed(built(""), built(" where 1 = 0"), known(sync("s", *(f"m{one}" for one in range(0, 2000, 100)))))
    assert (len(found.changes), found.verdict) == (2000, LOOK)
    assert any("500 models only" in note for note in found.notes)
    assert any("2,000 nodes changed" in note for note in found.notes)
    assert len(found.reasons) <= 6


def test_too_much_to_be_followed_is_told_and_never_safe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("catalog.review.estate.estate.MOST_STEPS", 1)
    monkeypatch.setattr("catalog.review.linting.MOST_LINTED", 1)
    monkeypatch.setattr("catalog.review.columns.traces.MOST_TRACED", 1)
    below = [node("b", "select id from {a}"), node("c", "select id from {b}")]
    before = build(node("a", "select 1 as id, 2 as x"), *below)
    found = reviewed(before, build(node("a", "select 1 as id, 2 as x where 1 = 0"), *below))
    assert any("too much to be followed" in reason for reason in change_of(found, "a").reasons)
    assert any("were not looked through" in note for note in found.notes)
    only = reviewed(before, build(node("a", "select 1 as id, 3 as x"), *below))
    assert any("there is too much SQL" in note for note in only.notes)
    assert only.verdict == LOOK


def test_nodes_that_read_themselves_and_columns_that_go_round_end() -> None:
    def built(extra: str) -> manifest.Manifest:
        a = node("a", "select id, x PLUS as y from {b}".replace("PLUS", extra))
        return build(a, node("b", "select id, y as x from {a}"), node("c", "select * from {c}"))

    found = reviewed(built(""), built(" + 1"), known(sync("s", "b")))
    assert [one.name for one in found.readers] == ["s"]


def rich(code: str, **fields: Any) -> dict[str, Any]:
    """A manifest in which most kinds of entries stand."""
    test = {"unique_id": "test.shop.t", "resource_type": "test", "name": "t", "column_name": "id", "config": {},
            "test_metadata": {"name": "not_null", "kwargs": {}}, "attached_node": "model.shop.a",
            "depends_on": {"nodes": ["model.shop.a"]}}  # fmt: skip
    board = {"unique_id": "exposure.shop.e", "resource_type": "exposure", "name": "e", "owner": {"name": "x"},
             "label": "E", "type": "dashboard", "depends_on": {"nodes": ["model.shop.b"]}}  # fmt: skip
    metric = {"unique_id": "metric.shop.m", "resource_type": "metric", "name": "m", "depends_on": {"nodes": []}}
    seed = {**model("s", ""), "unique_id": "seed.shop.s", "resource_type": "seed"}
    a = node("a", code, contract={"enforced": False}, columns={"id": {"name": "id", "data_type": "int"}}, **fields)
    macros = {"macro.shop.m": {"unique_id": "macro.shop.m", "macro_sql": code, "depends_on": {"macros": []}}}
    groups = {"group.shop.g": {"name": "g", "owner": {"name": code}}}
    return document(a, node("b", "select * from {a}"), seed, test, board, metric, macros=macros, groups=groups)


def fields_of(found: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    for collection in ("nodes", "exposures", "metrics", "macros", "groups"):
        for key, entry in found.get(collection, {}).items():
            yield from ((collection, key, field) for field in entry)


def test_a_strange_value_in_any_field_of_either_side_ends_in_a_review() -> None:
    first, second = rich("select 1 as id, 2 as x"), rich("select 1 as id, 3 as x where not flag")
    sound = manifest.read(as_bytes(first)), manifest.read(as_bytes(second))
    policy = Policy((Rule("a"), Rule("")))
    for number, (collection, key, field) in enumerate(fields_of(second)):
        for value in (STRANGE[number % len(STRANGE)], STRANGE[(number * 7 + 3) % len(STRANGE)]):
            broken = copy.deepcopy(second)
            broken[collection][key][field] = value
            strange = manifest.read(as_bytes(broken))
            for pair in ((sound[0], strange), (strange, sound[0])):
                found = review(*pair, EVERYTHING, policy, at=AT)
                assert found.verdict in VERDICTS
                assert all(change.reasons for change in found.changes)


@needs_corpus
@pytest.mark.parametrize("pair", sorted(path.name for path in Path(CORPUS or "/x").glob("pairs/*") if path.is_dir()))
def test_public_pairs_are_reviewed(pair: str) -> None:
    folder = Path(CORPUS) / "pairs" / pair
    base, head = (manifest.read_file(folder / f"{side}.json") for side in ("base", "head"))
    found = reviewed(base, head, Knowledge())
    listed = {change.unique_id for change in found.changes if change.resource_type == "model"}
    assert listed == set((folder / "modified_models.txt").read_text().split())
    assert found.verdict == LOOK
    downstream = [one for one in (folder / "modified_plus.txt").read_text().split() if one.startswith("model.")]
    reached = [change.reached.get("model", 0) for change in found.changes]
    assert max(reached) <= len(set(downstream) - listed) <= sum(reached)


@needs_corpus
@pytest.mark.parametrize("path", sorted(Path(CORPUS or "/x").glob("manifests/*.json")), ids=lambda path: path.stem)
def test_every_public_manifest_compared_with_itself_is_safe(path: Path) -> None:
    found = manifest.read_file(path)
    assert (reviewed(found, found).verdict, reviewed(found, found).changes) == ("safe", ())
