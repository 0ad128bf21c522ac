"""Finding a compiled condition again in a model's own text, and changing just that."""

from __future__ import annotations

import pytest

from catalog.diff.locate import coalesce_column, locate, replace

MODEL = """{{ config(materialized='table') }}
-- where not a.flag would lose rows
select e.*, '{{ var("x") }}' as x {# not a.flag #}
from {{ ref('events') }} e
join {{ ref('accounts') }} a on a.id = e.account_id
where  NOT  a.Flag
  and e.kind not in ('x', 'Y')
  {% if is_incremental() %} and e.at > (select max(at) from {{ this }}) {% endif %}
"""


@pytest.mark.parametrize(
    ("condition", "found"),
    [
        ("NOT a.flag", "NOT  a.Flag"),
        ("a.id = e.account_id", "a.id = e.account_id"),
        ("NOT e.kind IN ('x', 'Y')", "e.kind not in ('x', 'Y')"),
    ],
)
def test_the_one_place_is_found_whatever_its_case_and_blanks(condition: str, found: str) -> None:
    span = locate(MODEL, condition, "duckdb")
    assert span is not None
    assert MODEL[span[0] : span[1]] == found
    assert replace(MODEL, span, "true") == MODEL.replace(found, "true")


@pytest.mark.parametrize(
    ("raw", "condition"),
    [
        (MODEL, "NOT e.kind IN ('X', 'Y')"),
        (MODEL, "z = 1"),
        (MODEL, ""),
        ("select 1 from t where x = 1 union all select 1 from t where x = 1", "x = 1"),
        ("select 1 from b where b.x = 1", "x = 1"),
        ("select 1 from b where not x = 1", "x = 1"),
        ("select 1 from b where x = 1 or y", "x = 1"),
        ("select 1 from b where x = 1 + y", "x = 1"),
        ("select 1 from b where f(x = 1)", "x = 1"),
        ("select 1 from b where x = {{ var('n') }}", "x = 1"),
        ("select 'unfinished", "x = 1"),
    ],
)
def test_no_place_is_named_where_there_is_none_or_more_than_one(raw: str, condition: str) -> None:
    assert locate(raw, condition, "duckdb") is None


STAGING = """with source as (select * from {{ source('app', 'accounts') }})

select
    id,
    s.is_test, -- is_test may be unknown
    upper(name) as name
    , "Quoted" as "Quoted"
from source s
"""


def test_a_bare_column_of_a_staging_model_gets_its_default() -> None:
    assert coalesce_column(STAGING, "is_test", "FALSE", "duckdb") == STAGING.replace(
        "s.is_test,", "coalesce(s.is_test, false) as is_test,"
    )
    assert coalesce_column(STAGING, "id", "0", "duckdb") == STAGING.replace("    id,", "    coalesce(id, 0) as id,")
    quoted = coalesce_column(STAGING, "Quoted", "'-'", "duckdb")
    assert quoted == STAGING.replace('"Quoted" as "Quoted"', """coalesce("Quoted", '-') as "Quoted\"""")


@pytest.mark.parametrize(
    ("raw", "column", "default"),
    [
        (STAGING, "name", "''"),
        (STAGING, "missing", "0"),
        (STAGING, "id", "1); drop table x --"),
        (STAGING, "id", "other_column"),
        (STAGING.replace("from source s", "from source s group by all"), "id", "0"),
        ("select id from a union all select id from b", "id", "0"),
        ("select id as other from a", "id", "0"),
        ("select distinct id from a", "id", "0"),
        ("select {{ column }} from a", "column", "0"),
    ],
)
def test_nothing_is_rewritten_where_it_is_not_one_bare_column(raw: str, column: str, default: str) -> None:
    assert coalesce_column(raw, column, default, "duckdb") is None
