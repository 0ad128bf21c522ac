"""The review of a filter that loses NULLs before a sync that deletes: what is known of the column decides."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime
from typing import Any

import pytest

from catalog.lints.types import ColumnFact, Facts
from catalog.review.engine import review
from catalog.review.types import DANGEROUS, LOOK, SAFE, Knowledge, KnownAsset, KnownDomain, Review
from foundation.errors import BadInput
from tests.catalog.review.pairs import AT, accounts, build, change_of, events, known, reviewed, sync

FILTER = "where not a.is_internal"


def seed(facts: Facts | None = None, join: str = "inner", **fields: Any) -> Review:
    """The change, with a sync that mirrors the table each hour."""
    knowledge = known(sync("Events sync", "shop.main.fct", people={"operator": ("Sam",)}), facts=facts or Facts())
    return reviewed(
        build(*accounts(**fields), events(join=join)), build(*accounts(**fields), events(FILTER, join)), knowledge
    )


def not_null(**config: Any) -> dict[str, Any]:
    return {
        "unique_id": "test.shop.not_null_acc_is_internal.1", "resource_type": "test",
        "name": "not_null_acc_is_internal",
        "package_name": "shop", "fqn": ["shop", "x"], "config": {"enabled": True, "severity": "ERROR", **config},
        "test_metadata": {"name": "not_null", "kwargs": {"column_name": "is_internal"}}, "column_name": "is_internal",
        "attached_node": "model.shop.acc", "depends_on": {"nodes": ["model.shop.acc"], "macros": []},
    }  # fmt: skip


def with_test(before: dict[str, Any] | None, after: dict[str, Any]) -> Review:
    first = [*accounts(), events()] + ([before] if before else [])
    return reviewed(build(*first), build(*accounts(), events(FILTER), after), known(sync("Events sync", "fct")))


def test_a_filter_that_may_drop_nulls_under_a_mirror_sync_is_dangerous_when_nothing_is_known_of_the_column() -> None:
    found = seed()
    change = change_of(found, "fct")
    assert (found.verdict, change.verdict, change.direction) == (DANGEROUS, DANGEROUS, "can_only_drop")
    first = " ".join(change.reasons[:3])
    for said in (
        "a.is_internal is NULL",
        "not known whether",
        "The NULL-safe form is coalesce(a.is_internal, false) = false.",
        "the Mirror sync Events sync (next read Mon 28 Sep 02:00 America/New_York (06:00 UTC))",
        "deleted in the tool as well",
    ):
        assert said.lower() in first.lower()
    (finding,) = [one for one in change.findings if one.rule == "null-rows-dropped"]
    assert (finding.rewrite, finding.place.line) == ("coalesce(a.is_internal, false) = false", 5)
    (reader,) = change.readers
    assert (reader.name, reader.next_read, reader.mode) == (
        "Events sync", datetime(2026, 9, 28, 6, tzinfo=UTC), "mirror"
    )  # fmt: skip
    assert found.reasons[:3] == change.reasons[:3]


def test_the_count_of_nulls_is_named_with_when_it_was_taken() -> None:
    fact = ColumnFact(nulls=3912, rows=10_000, measured_at="2026-09-27 05:00 UTC")
    for relation in ("prod.analytics.acc", "shop.main.acc"):
        facts = Facts({(relation, "is_internal"): fact})
        knowledge = known(
            sync("Events sync", "fct"), facts=facts,
            assets=(KnownAsset("prod.analytics.acc", unique_id="model.shop.acc"),),
        )  # fmt: skip
        found = reviewed(build(*accounts(), events()), build(*accounts(), events(FILTER)), knowledge)
        assert found.verdict == DANGEROUS
        assert "was NULL in 3,912 of 10,000 rows when measured at 2026-09-27 05:00 UTC" in found.reasons[0]
        kinds = [check.kind for check in change_of(found, "fct").checks]
        assert kinds == ["row_count"]  # a not_null test would fail at once


def test_nulls_that_were_counted_in_the_source_are_named_and_prove_nothing_of_the_column() -> None:
    fact = ColumnFact(nulls=3912, rows=10_000, measured_at="noon")
    found = seed(Facts({("shop.app.accounts", "is_internal"): fact}))
    assert found.verdict == DANGEROUS
    assert "accounts.is_internal, which is_internal comes from, was NULL in 3,912 of 10,000 rows" in found.reasons[0]
    none = seed(Facts({("shop.app.accounts", "is_internal"): ColumnFact(nulls=0, measured_at="noon")}))
    assert none.verdict == DANGEROUS
    assert "comes from, held no NULL when measured at noon" in none.reasons[0]


def test_nulls_that_were_counted_are_dangerous_without_any_reader_and_none_counted_are_not() -> None:
    def verdict(fact: ColumnFact) -> str:
        facts = Facts({("shop.main.acc", "is_internal"): fact})
        pair = build(*accounts(), events()), build(*accounts(), events(FILTER))
        return reviewed(*pair, known(facts=facts)).verdict

    assert verdict(ColumnFact(nulls=5)) == DANGEROUS
    assert verdict(ColumnFact(nulls=0)) == LOOK
    assert seed(Facts({("shop.main.acc", "is_internal"): ColumnFact(nulls=0)})).verdict == LOOK
    assert seed(Facts({("shop.main.acc", "is_internal"): ColumnFact(tested=True)})).verdict == LOOK


def test_a_condition_that_undoes_an_outer_join_is_dangerous_and_names_the_nulls_of_its_column() -> None:
    fact = ColumnFact(nulls=7, rows=9, measured_at="noon")
    found = seed(Facts({("shop.main.acc", "is_internal"): fact}), join="left")
    assert found.verdict == DANGEROUS
    assert "works as an inner one" in found.reasons[0]
    assert "was NULL in 7 of 9 rows when measured at noon" in found.reasons[0]
    assert found.reasons[2] == "The NULL-safe form is coalesce(a.is_internal, false) = false."
    assert seed(join="left").verdict == DANGEROUS


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        (not_null(), not_null(), LOOK),
        (None, not_null(), DANGEROUS),  # a test that is new has not held yet
        (not_null(severity="warn"), not_null(severity="warn"), DANGEROUS),
        (not_null(where="plan = 'x'"), not_null(where="plan = 'x'"), DANGEROUS),
        (not_null(error_if=">10"), not_null(error_if=">10"), DANGEROUS),
        (not_null(), not_null(enabled=False), DANGEROUS),
    ],
)
def test_a_not_null_test_counts_when_it_stands_before_and_after_for_all_rows(
    before: dict[str, Any] | None, after: dict[str, Any], verdict: str
) -> None:
    found = with_test(before, after)
    assert change_of(found, "fct").verdict == verdict
    suggested = [check.kind for check in change_of(found, "fct").checks]
    assert ("not_null" in suggested) == (verdict == DANGEROUS and after["config"] != not_null()["config"])


def test_facts_are_found_for_text_that_dbt_did_not_compile() -> None:
    def parsed(tail: str) -> Any:
        entry = events(tail)
        del entry["compiled_code"]
        return build(*accounts(), entry)

    facts = Facts({("shop.main.acc", "is_internal"): ColumnFact(nulls=4, rows=9, measured_at="noon")})
    found = reviewed(parsed(""), parsed(FILTER), known(sync("Events sync", "fct"), facts=facts))
    assert found.verdict == DANGEROUS
    assert "NULL in 4 of 9 rows when measured at noon" in found.reasons[0]
    (finding,) = [one for one in change_of(found, "fct").findings if one.rule == "null-rows-dropped"]
    assert finding.place.line == 5
    assert any("told from text with Jinja" in reason for reason in change_of(found, "fct").reasons)


def test_what_was_known_before_is_not_believed_of_a_test_that_goes_or_of_a_query_that_changes() -> None:
    facts = Facts({("shop.main.acc", "is_internal"): ColumnFact(tested=True, nullable=False, nulls=0)})
    sound = known(sync("Events sync", "fct"), facts=facts)
    assert reviewed(build(*accounts(), events()), build(*accounts(), events(FILTER)), sound).verdict == LOOK
    tested = known(sync("Events sync", "fct"), facts=Facts({("shop.main.acc", "is_internal"): ColumnFact(tested=True)}))
    gone = reviewed(build(*accounts(), events(), not_null()), build(*accounts(), events(FILTER)), tested)
    assert change_of(gone, "fct").verdict == DANGEROUS
    measured = known(
        sync("Events sync", "fct"), facts=Facts({("shop.main.acc", "is_internal"): ColumnFact(nullable=False)})
    )
    other = accounts()
    other[1]["raw_code"] = other[1]["raw_code"].replace("is_internal", "nullif(flag, true) as is_internal")
    other[1]["compiled_code"] = other[1]["compiled_code"].replace("is_internal", "nullif(flag, true) as is_internal")
    found = reviewed(build(*accounts(), events()), build(*other, events(FILTER)), measured)
    assert change_of(found, "fct").verdict == DANGEROUS


def test_an_enforced_contract_rules_nulls_out() -> None:
    columns: dict[str, Any] = {name: {"name": name, "data_type": "text"} for name in ("account_id", "plan")}
    columns["is_internal"] = {"name": "is_internal", "data_type": "boolean", "constraints": [{"type": "not_null"}]}
    assert seed(columns=columns, contract={"enforced": True}).verdict == LOOK
    assert seed(columns=columns).verdict == DANGEROUS  # dbt holds nobody to a constraint without a contract


@pytest.mark.parametrize(
    ("fields", "verdict"),
    [
        ({"mode": "append"}, LOOK),
        ({"mode": "activation"}, DANGEROUS),
        ({"mode": ""}, DANGEROUS),
        ({"mode": "unknown"}, DANGEROUS),
        ({"status": "withdrawn"}, LOOK),
        ({"status": "suggested"}, DANGEROUS),
    ],
)
def test_what_the_sync_does_with_rows_that_are_gone_decides(fields: dict[str, Any], verdict: str) -> None:
    pair = build(*accounts(), events()), build(*accounts(), events(FILTER))
    assert reviewed(*pair, known(sync("x", "fct", **fields))).verdict == verdict


def test_people_come_once_with_the_strongest_reason() -> None:
    knowledge = known(
        sync("Events sync", "fct", people={"operator": ("Sam", "Ann"), "business_owner": ("Bea",)}),
        assets=(KnownAsset("fct", domain="growth", people={"owner": ("Ann",)}),),
        domains=(KnownDomain("growth", "Growth", "Olga", ("Pat",)), KnownDomain("other", "Other", "", ("Nobody",))),
    )
    found = reviewed(build(*accounts(), events()), build(*accounts(), events(FILTER)), knowledge)
    assert [(one.name, one.why.split(",")[0]) for one in found.people] == [
        ("Pat", "approves changes in Growth"),
        ("Olga", "owns the domain Growth"),
        ("Ann", "owns fct"),
        ("Sam", "operates the Mirror sync Events sync"),
        ("Bea", "owns in the business the Mirror sync Events sync"),
    ]


def test_two_domains_are_both_asked_and_a_hidden_reader_keeps_its_name() -> None:
    knowledge = known(
        sync("Secret sync", "fct", hidden=True),
        assets=(KnownAsset("model.shop.fct", domain="a"), KnownAsset("shop.main.acc", domain="B")),
        domains=(KnownDomain("a", "Alpha", "", ("Al",)), KnownDomain("b", "Beta", "", ("Bo",))),
    )
    other = accounts()
    other[1]["compiled_code"] += " where plan <> 'x'"
    other[1]["raw_code"] += " where plan <> 'x'"
    found = reviewed(build(*accounts(), events()), build(*other, events(FILTER)), knowledge)
    assert {one.name for one in found.people} == {"Al", "Bo"}
    assert "Secret" not in repr(found)
    assert found.readers[0].hidden
    assert found.verdict == DANGEROUS


def test_the_same_file_twice_is_safe_because_nothing_changed() -> None:
    same = build(*accounts(), events())
    found = reviewed(same, same, Knowledge())
    assert (found.verdict, found.changes, found.reasons) == (
        SAFE, (), ("Nothing changed between the two manifests.",)
    )  # fmt: skip


def test_without_readers_the_review_says_that_they_are_not_known() -> None:
    found = reviewed(build(*accounts(), events()), build(*accounts(), events("where a.plan = 'x'")), Knowledge())
    assert (found.readers_known, found.verdict) == (False, LOOK)
    assert any("not known" in one for one in found.notes)
    assert any("readers of fct are not known" in one for one in change_of(found, "fct").reasons)


def test_the_moment_of_a_review_needs_a_zone() -> None:
    same = build(*accounts())
    with pytest.raises(BadInput, match="time zone"):
        review(same, same, Knowledge(), at=AT.replace(tzinfo=None))


def test_the_engine_needs_no_django() -> None:
    code = "import sys; sys.modules['django'] = None; import catalog.review.engine"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
