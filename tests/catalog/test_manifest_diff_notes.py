"""What a comparison of two manifests says aloud: what it could not tell, and that the two files look wrong."""
# ruff: noqa: S608 -- nobody runs these queries

from __future__ import annotations

import copy
from typing import Any

import pytest

from catalog.diff import code_pair
from catalog.diff.manifests import ManifestDiff, diff
from catalog.sources import manifest
from tests.catalog.dbt_files import as_bytes, document, model, source

A = "model.shop.a"
READS = "select * from x where v > {{ var('v') }}"
BY_TARGET = "select * from x where v > {% if target.name == 'prod' %}1{% else %}2{% endif %}"


def compare(before: dict[str, Any], after: dict[str, Any]) -> ManifestDiff:
    return diff(manifest.read(as_bytes(before)), manifest.read(as_bytes(after)))


def shop(*entries: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    found = document(*(entries or (model("a"), model("b", "select 2", A))))
    found["macros"] = {"macro.shop.m": {"unique_id": "macro.shop.m", "macro_sql": "m", "depends_on": {"macros": []}}}
    found["metadata"] |= metadata
    return found


def test_two_files_of_one_project_that_only_differ_in_their_code_need_no_word() -> None:
    early, late = {"generated_at": "2026-01-01T00:00:00Z"}, {"generated_at": "2026-01-02T00:00:00Z"}
    assert compare(shop(**early), shop(model("a", "select 9"), model("b", "select 2", A), **late)).notes == ()


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (shop(), shop(project_name="elsewhere"), "of two projects, shop (base) and elsewhere (head)"),
        (shop(), shop(model("z", "select 8")), "no node in common"),
        (
            shop(generated_at="2026-01-02T00:00:00Z"),
            shop(generated_at="2026-01-01T00:00:00Z"),
            "the base was written at 2026-01-02T00:00:00Z, after the head at 2026-01-01T00:00:00Z",
        ),
        (shop(invocation_id="i"), shop(invocation_id="i"), "of one run of dbt"),
        (shop(dbt_version="1.5.0"), shop(dbt_version="1.5.9"), None),
        (shop(dbt_version="1.7.0"), shop(dbt_version="1.8.0"), "dbt 1.7.0 wrote the base and 1.8.0 the head"),
        ({**shop(), "macros": {}}, shop(), "changed macros could not be told"),
        (shop(model("a", unrendered_config=None)), shop(model("a")), "leaves out the configuration as written"),
        (shop(model("a", READS)), shop(model("a", READS)), f"the compiled SQL of {A}, where variables are read"),
        (
            shop(model("a", READS, compiled_code="select 1")),
            shop(model("a", READS, compiled_code="select 1")),
            None,
        ),
        ({**shop(), "exposures": []}, shop(), "base: exposures is not an object and was left out"),
        (shop(), {**shop(), "sources": {"source.shop.app.x": 5}}, "head: source.shop.app.x could not be read"),
    ],
)
def test_each_doubt_is_one_sentence(before: dict[str, Any], after: dict[str, Any], said: str | None) -> None:
    notes = compare(before, after).notes
    assert [said in note for note in notes] == [True] if said else notes == ()


def test_a_disabled_node_is_called_removed_and_the_reason_is_said() -> None:
    after = shop(model("b", "select 2"))
    after["disabled"] = {A: [model("a", config={"enabled": False})]}
    found = compare(shop(model("a"), model("b", "select 2")), after)
    assert found.removed == (A,)
    assert found.notes == (f"{A} is disabled in the head, and therefore called removed",)


def test_a_seed_that_is_too_large_for_dbt_is_said_to_be_unseen() -> None:
    seed = model("s", "", checksum={"name": "path", "checksum": "seeds/s.csv"})
    big = shop({**seed, "unique_id": "seed.shop.s", "resource_type": "seed"})
    found = compare(big, copy.deepcopy(big))
    assert (found.modified, found.notes[0][:28]) == ((), "dbt reads no content of a se")
    assert "seed.shop.s" in found.notes[0]


def test_other_sql_that_may_come_from_another_target_is_a_change_and_said_to_be_doubtful() -> None:
    def built(schema: str, value: int) -> dict[str, Any]:
        return shop(model("a", BY_TARGET, compiled_code=f"select * from x where v > {value}", schema=schema))

    found = compare(built("prod", 1), built("dev", 2))
    assert [one.changes for one in found.modified] == [("compiled",)]
    assert any("may come from there and not from a change" in note for note in found.notes)
    assert compare(built("prod", 1), built("prod", 2)).notes == ()


def test_a_diff_of_two_thousand_models_is_answered_and_said_to_be_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code_pair, "MOST", 3)
    before = shop(*(model(f"m{number:04d}", f"select {number} as x from t") for number in range(2000)))
    after = shop(*(model(f"m{number:04d}", f"select {number} as x from t where y") for number in range(2000)))
    found = compare(before, after)
    assert (len(found.modified), len(found.downstream)) == (2000, 2000)
    assert [one.row_set[0].direction for one in found.modified[:4]] == ["can_only_drop"] * 3 + ["unknown"]
    assert "not looked at" in found.modified[-1].row_set[0].note
    assert found.notes == (
        "2,000 nodes changed or are new: look whether the base is the manifest that you meant",
        "what the change does to rows was worked out for 3 models only; for the rest it reads unknown",
    )


def test_a_node_that_is_only_named_in_one_file_is_neither_added_nor_removed_elsewhere() -> None:
    before = shop(model("a", "select 1", "source.shop.app.raw"))
    found = compare(before, shop(source("raw"), model("a", "select 1", "source.shop.app.raw")))
    assert (found.added, found.removed, found.modified) == (("source.shop.app.raw",), (), ())
