"""A text that both builds compiled to one query may become another for another target: order and place of its Jinja."""

from __future__ import annotations

import pytest

from catalog.review.cosmetics import doubt_of_form
from catalog.sources.manifest_types import Node

OF_FORM = [
    ("SELECT id\nfrom {{ ref('t') }}", "select id from {{ref('t')}} -- the same"),
    ("select id as a from {{ ref('t') }}", "select id a from {{ ref('t') }}"),
    ("{{ config(a=1) }} select 1", "select 1"),
    ("{# x #} select 1 {% if x %} {% endif %}", "select 1 {%  if x %}\n{% endif  %}"),
    ("select id from t {% if is_incremental() %} where id > 1 {% endif %}",
     "select id -- the key\nfrom t\n{% if is_incremental() %}\nwhere id > 1\n{% endif %}"),
    ("select id from t {% if a %} where n {% endif %}", "select id from t {% if a %} where n -- why {% endif %}"),
]  # fmt: skip
DOUBTFUL = [
    ("select id from t {% if target.name != 'prod' %} where day > 3 {% endif %}",
     "select id from t {% if target.name != 'prod' %} {% endif %} where day > 3"),
    ("select id from t {% if target.name == 'prod' %} {% else %} where n {% endif %}",
     "select id from t {% if target.name == 'prod' %} where n {% else %} {% endif %}"),
    ("select id from t {% if is_incremental() %} where u > 1 {% endif %} limit 10",
     "select id from t {% if is_incremental() %} {% endif %} where u > 1 limit 10"),
    ("select id from t {% if is_incremental() %} where note <> '--' and u > 1 {% endif %}",
     "select id from t {% if is_incremental() %} where note <> '--' and u > 1 and not flag {% endif %}"),
    ("select id from t {% if is_incremental() %} where a = 'a  b' {% endif %}",
     "select id from t {% if is_incremental() %} where a = 'a b' {% endif %}"),
    ("select id from t where p = '{{ var(\"a b\") }}'", "select id from t where p = '{{ var(\"ab\") }}'"),
    ("select id from t {% if a %} where n {% endif %}", "select id from t {% if not a %} where n {% endif %}"),
    ("select id from t {% if a %} where n -- why {% endif %} and y",
     "select id from t {% if a %} where n -- why\n{% endif %} and y"),
    ("select id from t {% if a %} where n {% endif %} -- x", "select id from t -- {% if a %} where n {% endif %} x"),
]  # fmt: skip


def doubt(before: str, after: str) -> str:
    old, new = (Node("model.shop.m", "model", {"raw_code": text, "language": "sql"}) for text in (before, after))
    return doubt_of_form(old, new, "duckdb", compiled=True)


@pytest.mark.parametrize(("before", "after"), OF_FORM)
def test_white_space_comments_and_letters_of_keywords_are_form(before: str, after: str) -> None:
    assert doubt(before, after) == doubt(after, before) == ""


@pytest.mark.parametrize(("before", "after"), DOUBTFUL)
def test_text_that_moves_over_jinja_or_changes_in_a_branch_is_never_form_alone(before: str, after: str) -> None:
    assert doubt(before, after)
    assert doubt(after, before)
