"""One spelling of a dataset's name, by the rules of its adapter."""

from __future__ import annotations

import pytest

from catalog.sources.naming import adapter_of, canonical, canonical_namespace, of_relation, parts_of, spellings
from foundation.errors import BadInput


@pytest.mark.parametrize(
    ("namespace", "name", "expected"),
    [
        ("postgres://db:5432", "Shop.Public.Orders", "shop.public.orders"),
        ("postgres://db:5432", 'shop.public."Orders"', "shop.public.Orders"),
        ("postgres://db:5432", '"shop"."a.b"."or""d"', 'shop.a.b.or"d'),
        ("snowflake://org-acct", "analytics.marts.orders", "ANALYTICS.MARTS.ORDERS"),
        ("snowflake://org-acct", 'analytics.marts."orders"', "ANALYTICS.MARTS.orders"),
        ("oracle://db:1521", "orcl.hr.employees", "ORCL.HR.EMPLOYEES"),
        ("redshift://c.eu:5439", '"Dev"."Public"."T"', "dev.public.t"),
        ("databricks://host", "`Main`.`Sales`.`T`", "main.sales.t"),
        ("awsathena://athena.eu-west-1.amazonaws.com", "AwsDataCatalog.Sales.T", "awsdatacatalog.sales.t"),
        ("arn:aws:glue:eu-west-1:1", "table/Sales/T", "table/sales/t"),
        ("mssql://db:1433", "[Shop].[dbo].[Orders]", "shop.dbo.orders"),
        ("bigquery", "Proj.Set.Orders", "Proj.Set.Orders"),
        ("mysql://db:3306", "Shop.Orders", "Shop.Orders"),
        ("duckdb:///data/Shop.duckdb", "Shop.Main.Orders", "shop.main.orders"),
        ("s3://Bucket", "In/Orders.CSV", "In/Orders.CSV"),
        ("kafka://broker:9092", "Orders.v1", "Orders.v1"),
        ("postgres://db:5432", 'a."unclosed', 'a."unclosed'),
        ("postgres://db:5432", "a..b", "a..b"),
    ],
)
def test_unquoted_parts_are_folded_as_the_adapter_does_and_quoted_ones_kept(
    namespace: str, name: str, expected: str
) -> None:
    assert canonical(namespace, name) == (canonical_namespace(namespace), expected)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("postgresql://user:pw@DB.Example.com:5432/", "postgres://db.example.com:5432"),
        ("POSTGRES://db:5432", "postgres://db:5432"),
        ("sqlserver://DB:1433", "mssql://db:1433"),
        ("snowflake://ORG-Acct", "snowflake://org-acct"),
        ("duckdb:///Data/Shop.duckdb", "duckdb:///Data/Shop.duckdb"),
        ("duckdb://Shop", "duckdb://Shop"),
        ("s3://Bucket/", "s3://Bucket"),
        (" bigquery ", "bigquery"),
        ("file", "file"),
        ("hdfs:///", "hdfs:///"),
    ],
)
def test_a_namespace_has_one_spelling_without_password_and_with_its_host_in_lower_case(
    written: str, expected: str
) -> None:
    assert canonical_namespace(written) == expected
    assert canonical_namespace(expected) == expected


def test_the_default_port_and_the_words_for_one_server_are_spellings_of_one_namespace() -> None:
    every = ["postgres://db:5432", "postgres://db", "postgresql://db:5432", "postgresql://db"]
    assert spellings("postgresql://DB:5432/") == every
    assert set(spellings("postgres://db")) == set(every)
    assert spellings("postgres://db:6000") == ["postgres://db:6000", "postgresql://db:6000"]
    assert spellings("duckdb://shop") == ["duckdb://shop"]


@pytest.mark.parametrize("text", ["", "  ", "a\0b", "a\ud800b", "x" * 501, None, 7])
def test_what_no_table_can_hold_is_refused_in_a_sentence(text: object) -> None:
    with pytest.raises(BadInput, match="of a dataset"):
        canonical("postgres://db", text)  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="of a dataset"):
        canonical(text, "a.b")  # type: ignore[arg-type]


def test_a_name_that_grows_by_folding_is_measured_after_it() -> None:
    with pytest.raises(BadInput, match="500 characters"):
        canonical("postgres://db", "İ" * 500)


def test_quotes_that_hold_nothing_are_no_name() -> None:
    assert parts_of('""') == [('""', False)]
    assert parts_of('a."b"c.d') == [("a", False), ('"b"c', False), ("d", False)]


def test_what_a_warehouse_tells_is_exact_but_for_those_that_never_tell_case_apart() -> None:
    assert of_relation(("Shop", "Main", "Orders"), "postgres", "p").name == "Shop.Main.Orders"
    assert of_relation((None, "Main", "Orders"), "duckdb", "d").name == "main.orders"
    assert adapter_of("postgresql://x") == "postgres"
    assert adapter_of("https://x") == ""
