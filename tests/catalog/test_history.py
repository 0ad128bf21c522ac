"""What one claim says otherwise than the one before it, in words."""

from __future__ import annotations

from typing import Any

import pytest

from catalog.graph.differences import differences


@pytest.mark.parametrize(
    ("before", "now", "said"),
    [
        ({}, {}, ()),
        ({"a": 1}, {"a": 1}, ()),
        ({"checksum": "a"}, {"checksum": "b"}, ("its code changed",)),
        ({}, {"materialized": "view"}, ("materialized: nothing, now view",)),
        ({"tags": ["a", "b"]}, {"tags": ["b", "c"]}, ("tags: with c, no more a",)),
        ({"tags": ["a", "b"]}, {"tags": ["b", "a"]}, ("tags: in another order",)),
        ({"columns": [["a", "int", ""]]}, {"columns": [["a", "int", "key"]]},
         ("what is said of the column a changed",)),
        ({"columns": [["a", "int", ""], ["b", "int", ""]]}, {"columns": [["b", "int", ""], ["a", "int", ""]]},
         ("the order of its columns changed",)),
        ({}, {"columns": [["a", "int", ""]]}, ("new column a",)),
        ({"columns": "odd"}, {"columns": [["a"]]}, ("columns: odd, now ['a']",)),
        ({"relation": {"database": "d", "schema": "s", "identifier": "a"}}, {"relation": None},
         ("table in the warehouse: d.s.a, now nothing",)),
        ({"depends_on": ["x"]}, {"depends_on": ["y"]}, ("what it depends on changed",)),
    ],
)  # fmt: skip
def test_each_difference_is_a_sentence(before: dict[str, Any], now: dict[str, Any], said: tuple[str, ...]) -> None:
    assert differences(before, now) == said


def test_many_columns_are_counted_and_long_values_cut() -> None:
    found = differences({"columns": []}, {"columns": [[f"c{number}", "int", ""] for number in range(20)]})
    assert (len(found), found[-1]) == (13, "and 8 more columns")
    assert len(differences({"path": "x" * 999}, {"path": ""})[0]) < 200
