"""A change of some columns reaches what uses them, and all of what cannot be told."""

# ruff: noqa: S608 -- the queries are made of constants of this file

from __future__ import annotations

from typing import Any

import pytest

from catalog.review.types import DANGEROUS, LOOK, SAFE, Knowledge
from tests.catalog.review.pairs import build, change_of, known, node, reviewed, sync

BEFORE = "select id, plan, price from {raw}"
RAW = node("raw", "select 1 as id, 'x' as plan, 2 as price")


def reached(
    after: str, *below: dict[str, Any], before: str = BEFORE, columns: frozenset[str] | None = None, reads: str = "c"
) -> tuple[frozenset[str] | None, tuple[str, ...], list[tuple[str, ...] | None]]:
    """(columns that the change is confined to, what is reached, the columns that each reader reads of them)."""
    found = reviewed(
        build(RAW, node("a", before), *below),
        build(RAW, node("a", after), *below),
        known(sync("s", reads, columns=columns)),
    )
    change = change_of(found, "a")
    return change.only_columns, tuple(sorted(change.nearest)), [one.columns for one in change.readers]


PRICE = "select id, plan, price * 2 as price from {raw}"


def test_a_column_that_nothing_uses_reaches_nothing() -> None:
    below = node("b", "select id, plan from {a}"), node("c", "select id from {b}")
    assert reached(PRICE, *below) == (frozenset({"price"}), (), [])


def test_a_column_is_followed_under_its_new_names_and_readers_of_others_are_not_reached() -> None:
    below = (
        node("b", "select id, price as cost, plan from {a}"),
        node("c", "select id, cost + 1 as more, plan from {b}"),
    )
    for columns, expected in (
        (frozenset({"ID", "plan"}), []),
        (frozenset({"plan", "More"}), [("more",)]),
        (None, [None]),
    ):
        only, names, read = reached(PRICE, *below, columns=columns)
        assert (only, names, read) == (frozenset({"price"}), ("b", "c"), expected)


def test_a_column_that_decides_rows_downstream_changes_all_columns_there() -> None:
    for query in (
        "select id, plan from {a} where price > 3",
        "select id, plan from {a} group by id, plan, price",
        "select x.id, x.plan from {a} x join {raw} r on x.price = r.id",
        "select distinct price as id, 'x' as plan from {a}",
        "select id, plan from {a} qualify row_number() over (partition by id order by price) = 1",
    ):
        assert reached(PRICE, node("c", query), columns=frozenset({"plan"})) == (frozenset({"price"}), ("c",), [None])


def test_a_star_passes_a_column_on_and_an_exclusion_does_not() -> None:
    wanted = frozenset({"price", "id"})
    star = node("b", "select * from {a}"), node("c", "select * from {b}")
    assert reached(PRICE, *star, columns=wanted) == (frozenset({"price"}), ("b", "c"), [("price",)])
    assert reached(PRICE, *star, columns=frozenset({"id"})) == (frozenset({"price"}), ("b", "c"), [])
    without = node("b", "select * exclude (price) from {a}"), node("c", "select * from {b}")
    assert reached(PRICE, *without, columns=wanted) == (frozenset({"price"}), (), [])
    both = node("c", "select * from {a} join {raw} using (id)")
    assert reached(PRICE, both, columns=wanted)[1:] == (("c",), [("price",)])


def test_of_two_columns_of_one_name_none_is_left_out() -> None:
    """The warehouse keeps both under names of its own, or refuses them: which one a reader gets is not known."""
    for items in ("r.id, a.price as id", "r.*, a.price as id", "r.id, a.price as ID"):
        below = node("c", f"select {items} from {{a}} as a join {{raw}} as r on a.id = r.id")
        assert reached(PRICE, below, columns=frozenset({"id"}))[1:][0] == ("c",)
    below = node("c", "select r.id, a.price as id from {a} as a join {raw} as r on a.id = r.id")
    assert reached(PRICE, below, columns=frozenset({"id_1"}))[1:] == (("c",), [None])
    other = node("c", "select r.id, a.id as id, r.plan from {a} as a join {raw} as r on a.id = r.id")
    assert reached(PRICE, other, columns=frozenset({"plan"}))[1:] == ((), [])
    over = node("c", "select * from {b}")
    twice = node("b", "select r.id, a.price as id from {a} as a join {raw} as r on a.id = r.id")
    assert reached(PRICE, twice, over, columns=frozenset({"id"}))[1:] == (("b", "c"), [None])


def test_a_changed_column_that_shares_its_name_confines_nothing() -> None:
    for items in ("id, plan as price", "*"):
        before, after = (f"select {items}, price{one} as price from {{raw}}" for one in ("", " * 2"))
        below = node("c", "select id from {a}")
        assert reached(after, below, before=before, columns=frozenset({"id"})) == (None, ("c",), [None])


def test_what_cannot_be_traced_counts_as_reached_with_all_its_columns() -> None:
    for below in (
        node("c", "select id from {a}", compiled=False),
        node("c", "select id from from {a} ((", compiled=True),
        node("c", "select id from {a}", language="python"),
        node("c", "select id from {a}", config={"materialized": "incremental", "unique_key": "id"})
        | {"compiled_code": 'select price as id from "shop"."main"."a"'},
        node("c", "select id from {a}") | {"compiled_code": "select id from elsewhere"},
    ):
        assert reached(PRICE, below, columns=frozenset({"id"}))[1:] == (("c",), [None])


def test_what_is_not_traced_is_told() -> None:
    below = node("c", "select id from {a}", compiled=False)
    found = reviewed(build(RAW, node("a", BEFORE), below), build(RAW, node("a", PRICE), below))
    assert any("columns could not be followed through c" in note for note in found.notes)


def test_a_change_inside_a_cte_is_followed_to_the_last_select() -> None:
    def query(price: str, tail: str = "") -> str:
        return f"with f as (select id, plan, {price} as price from {{raw}}) select id, plan, price as cost from f{tail}"

    below = node("c", "select id, cost from {a}")
    found = reached(query("price * 2"), below, before=query("price"), columns=frozenset({"cost"}))
    assert found == (frozenset({"cost"}), ("c",), [("cost",)])
    assert reached(query("price * 2", " where price > 1"), below, before=query("price", " where price > 1"))[0] is None


def test_a_column_that_another_of_the_same_list_may_read_takes_that_along() -> None:
    before, after = (f"select id, price{one} as p, p * 2 as double from {{raw}}" for one in ("", " + 1"))
    below = node("c", "select id, double from {a}")
    assert reached(after, below, before=before, columns=frozenset({"double"})) == (
        frozenset({"p", "double"}), ("c",), [("double",)]
    )  # fmt: skip


def test_a_change_that_is_not_confined_reaches_everything() -> None:
    below = node("b", "select id from {a}"), node("c", "select id from {b}")
    assert reached(BEFORE + " where id > 1", *below, columns=frozenset({"id"})) == (None, ("b", "c"), [None])
    assert reached(PRICE + " where id > 1", *below, columns=frozenset({"id"}))[0] is None


def test_an_ephemeral_model_is_followed_as_the_model_that_it_is() -> None:
    middle = node("mid", "select id, price as cost from {a}", config={"materialized": "ephemeral"}, relation_name=None)
    pasted = (
        'with __dbt__cte__mid as (select id, price as cost from "shop"."main"."a") select id, {} from __dbt__cte__mid'
    )
    for column, expected in (("cost", [("cost",)]), ("1 as cost", [])):
        below = node("c", "select id, " + column + " from {mid}") | {"compiled_code": pasted.format(column)}
        assert reached(PRICE, middle, below, columns=frozenset({"cost"}))[2] == expected


def removal(*below: dict[str, Any], knowledge: Knowledge | None = None) -> Any:
    found = reviewed(
        build(RAW, node("a", BEFORE), *below),
        build(RAW, node("a", "select id, plan from {raw}"), *below),
        knowledge or known(),
    )
    return change_of(found, "a")


def test_a_removed_column_that_a_model_or_a_reader_still_reads_is_dangerous() -> None:
    assert removal(node("c", "select price from {a}")).verdict == DANGEROUS
    assert removal(node("c", "select id from {a} where price > 2")).verdict == DANGEROUS
    assert removal(node("c", "select id from {a}")).verdict == LOOK
    direct = removal(knowledge=known(sync("s", "a", columns=frozenset({"PRICE"}), mode="append")))
    assert direct.verdict == DANGEROUS
    assert "still read by the sync s" in direct.reasons[0]
    assert removal(knowledge=known(sync("s", "a", columns=frozenset({"id"}), mode="append"))).verdict == LOOK


def test_a_removed_column_that_is_read_through_a_star_is_dangerous_and_names_the_way() -> None:
    reader = sync("s", "c", columns=frozenset({"price"}), mode="append")
    change = removal(node("c", "select * from {a}"), knowledge=known(reader))
    assert change.verdict == DANGEROUS
    assert "The column price of a is removed, and the append sync s" in change.reasons[0]
    assert "reads it through c" in change.reasons[0]
    other = sync("s", "c", columns=frozenset({"id"}), mode="append")
    assert removal(node("c", "select * from {a}"), knowledge=known(other)).verdict == LOOK


@pytest.mark.parametrize(
    ("below", "knowledge", "verdict"),
    [
        ([node("c", "select id from {a}")], known(), SAFE),
        ([node("c", "select id from {a}")], Knowledge(), LOOK),
        ([node("c", "select * from {a}")], known(), LOOK),
        ([], known(sync("s", "a")), LOOK),
        ([], known(sync("s", "a", mode="append", columns=frozenset({"id"}))), SAFE),
    ],
)
def test_a_new_column_is_safe_when_it_is_known_that_nothing_reads_it(
    below: list[dict[str, Any]], knowledge: Knowledge, verdict: str
) -> None:
    after = "select id, plan, price, 1 as one from {raw}"
    found = reviewed(build(RAW, node("a", BEFORE), *below), build(RAW, node("a", after), *below), knowledge)
    assert change_of(found, "a").verdict == verdict
