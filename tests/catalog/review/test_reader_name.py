"""What a reader is called: one way for reasons, people and the comment."""

from __future__ import annotations

from dataclasses import replace

import pytest

from catalog.review.comment.escape import plain
from catalog.review.comment.reader_words import called
from catalog.review.estate.reached import said
from catalog.review.reader_name import named
from catalog.review.types import Reached
from tests.catalog.review.comments import shown


@pytest.mark.parametrize(
    ("kind", "mode", "name"),
    [
        ("sync", "mirror", "Mirror sync Orders"),
        ("sync", "one_time", "one-time sync Orders"),
        ("sync", "full", "full copy sync Orders"),
        ("sync", "unknown", "sync of unknown mode Orders"),
        ("sync", "", "sync of unknown mode Orders"),
        ("dashboard", "", "dashboard Orders"),
        ("data_product", "", "data product Orders"),
    ],
)
def test_a_reader_is_called_the_same_everywhere(kind: str, mode: str, name: str) -> None:
    one = Reached("Orders", kind, 1, mode=mode)
    assert (named(one), said(one), shown(called(one))) == (name, f"the {name}", name)


def test_a_hidden_reader_has_no_name_anywhere() -> None:
    one = Reached("whose name is not shown", "sync", 1, mode="mirror", hidden=True)
    assert named(one) == "Mirror sync of a restricted domain"
    assert said(one) == "the Mirror sync of a restricted domain"
    assert called(one) == plain(named(one))
    assert "tool" not in called(replace(one, tool="tool"))
