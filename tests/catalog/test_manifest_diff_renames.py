"""What is gone and came back under another name, for every kind of entry."""

from __future__ import annotations

from typing import Any

import pytest

from catalog.diff.manifests import diff
from catalog.sources import manifest
from tests.catalog.dbt_files import as_bytes, document, model, source

A = "model.shop.a"


def entry(kind: str, name: str, **fields: Any) -> dict[str, Any]:
    return {"unique_id": f"{kind}.shop.{name}", "resource_type": kind, "name": name, "fqn": ["shop", name], **fields}


def generic(name: str, attached: str, **arguments: Any) -> dict[str, Any]:
    return entry(
        "test", name, test_metadata={"name": "even", "kwargs": {"model": f"ref({attached})", **arguments}},
        attached_node=attached, depends_on={"nodes": [attached]}, config={}, unrendered_config={},
    )  # fmt: skip


def macro(name: str, text: str) -> dict[str, Any]:
    return {"unique_id": f"macro.shop.{name}", "macro_sql": text, "depends_on": {"macros": []}}


def renamed(before: list[dict[str, Any]], after: list[dict[str, Any]], **macros: Any) -> list[tuple[str, str]]:
    kept = model("a", "select 'kept'")
    files = [document(kept, *entries) for entries in (before, after)]
    for found, side in zip(files, ("first", "second"), strict=True):
        found["macros"] = {one["unique_id"]: one for one in [macro("kept", "kept"), *macros.get(side, [])]}
    found_diff = diff(*(manifest.read(as_bytes(found)) for found in files))
    for pair in found_diff.renamed:
        assert pair.before in found_diff.removed
        assert pair.after in found_diff.added
    return [(pair.before, pair.after) for pair in found_diff.renamed]


PARAMS = {"measure": {"name": "total"}}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (model("old", "select 5 as five"), model("new", "select 5 as five")),
        (model("cased", "select 1"), model("CASED", "select 2")),
        (source("old", identifier="t"), source("new", identifier="t")),
        (
            entry("metric", "old", type="simple", type_params=PARAMS, label="Old"),
            entry("metric", "new", type="simple", type_params=PARAMS, label="New"),
        ),
        (
            entry("exposure", "old", type="dashboard", url="https://x.example/1", depends_on={"nodes": [A]}),
            entry("exposure", "new", type="dashboard", url="https://x.example/1", depends_on={"nodes": [A]}),
        ),
        (entry("test", "old", raw_code="select 1"), entry("test", "new", raw_code="select 1")),
        (
            entry("snapshot", "old", raw_code="select * from a", database="d", schema="s", config={}),
            entry("snapshot", "new", raw_code="select * from a", database="d", schema="s", config={}),
        ),
    ],
    ids=lambda one: f"{one['resource_type']} {one['name']}",
)
def test_an_entry_with_the_content_of_one_that_is_gone_is_renamed(
    before: dict[str, Any], after: dict[str, Any]
) -> None:
    assert renamed([before], [after]) == [(before["unique_id"], after["unique_id"])]


def test_a_seed_is_known_by_its_content_and_a_macro_by_its_text_without_its_name() -> None:
    seeds = [entry("seed", name, checksum={"name": "sha256", "checksum": "1"}) for name in ("old", "new")]
    assert renamed(seeds[:1], seeds[1:]) == [("seed.shop.old", "seed.shop.new")]
    macros = [macro(name, "{% macro " + name + "(x) %}{{ x }}{% endmacro %}") for name in ("old", "new")]
    assert renamed([], [], first=macros[:1], second=macros[1:]) == [("macro.shop.old", "macro.shop.new")]


def test_of_several_with_one_content_those_of_one_name_are_pairs() -> None:
    gone = [model("x", "select 7"), model("y", "select 7")]
    come = [{**one, "unique_id": one["unique_id"].replace("shop", "lib"), "package_name": "lib"} for one in gone]
    assert renamed(gone, come) == [("model.shop.x", "model.lib.x"), ("model.shop.y", "model.lib.y")]


def test_content_that_several_share_proves_nothing() -> None:
    assert renamed([model("x", "select 7"), model("y", "select 7")], [model("z", "select 7")]) == []


def test_a_generic_test_follows_its_renamed_model_and_one_with_other_arguments_is_another() -> None:
    gone = [model("old", "select 5"), generic("even_old.1", "model.shop.old", by=2)]
    come = [model("new", "select 5"), generic("even_new.2", "model.shop.new", by=2)]
    assert ("test.shop.even_old.1", "test.shop.even_new.2") in renamed(gone, come)
    assert renamed([generic("even.1", A, by=2)], [generic("even.2", A, by=3)]) == []
