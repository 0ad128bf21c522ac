"""Files with something strange in any field are compared all the same: what cannot be read reads as empty."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest

from catalog.diff.manifests import diff
from catalog.sources import manifest
from foundation.errors import BadInput
from tests.catalog.dbt_files import as_bytes
from tests.catalog.test_manifest_diff_versions import shop

STRANGE: tuple[object, ...] = (None, 5, "", "x", [], [5], {}, {"x": 5}, [[]], True, 10**30)


def rich() -> dict[str, Any]:
    found = shop(constraints=[{"type": "check"}], compiled_code="select 1 as id")
    found["saved_queries"] = {
        "saved_query.shop.q": {
            "unique_id": "saved_query.shop.q", "resource_type": "saved_query", "name": "q",
            "query_params": {"metrics": ["m"]}, "exports": [{"name": "e", "unrendered_config": {"schema": "s"}}],
        },
    }  # fmt: skip
    found["metrics"] = {
        "metric.shop.m": {"unique_id": "metric.shop.m", "resource_type": "metric", "name": "m", "type_params": {"x": 1}}
    }
    found["macros"] = {
        "macro.shop.m": {"unique_id": "macro.shop.m", "macro_sql": "{% macro m() %}", "depends_on": {"macros": []}}
    }
    found["groups"] = {"group.shop.g": {"name": "g", "owner": {"name": "G"}}}
    return found


def fields(document: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    """The path of every field of every entry, and of what stands in objects below."""
    for collection, entries in document.items():
        for key, entry in entries.items():
            yield collection, key
            for name, value in entry.items() if isinstance(entry, dict) else ():
                yield collection, key, name
                yield from ((collection, key, name, below) for below in (value if isinstance(value, dict) else ()))


def put(document: dict[str, Any], path: tuple[str, ...], value: object) -> None:
    *above, last = path
    for word in above:
        document = document[word]
    document[last] = value


@pytest.mark.parametrize("strange", STRANGE, ids=repr)
def test_no_strange_value_in_any_field_of_either_file_ends_the_comparison(strange: object) -> None:
    plain = manifest.read(as_bytes(rich()))
    gone = copy.deepcopy(rich())
    gone["nodes"] = {key.replace("shop", "lib"): entry for key, entry in gone["nodes"].items()}
    elsewhere = manifest.read(as_bytes(gone))
    for path in fields(rich()):
        document = rich()
        put(document, path, strange)
        odd = manifest.read(as_bytes(document))
        assert diff(odd, odd).modified == ()
        for other in (plain, elsewhere):
            there, back = diff(other, odd), diff(odd, other)
            assert (there.added, there.removed) == (back.removed, back.added), path


def test_a_field_that_is_nested_too_deep_is_refused_in_one_sentence() -> None:
    files = []
    for leaf in ("1", "2"):
        text = (
            as_bytes(rich())
            .decode()
            .replace('"type_params": {"x": 1}', '"type_params": ' + "[" * 900 + leaf + "]" * 900)
        )
        files.append(manifest.read(text.encode()))
    with pytest.raises(BadInput, match=r"nested too deep to be compared"):
        diff(*files)
