"""Each kind of change with its verdict and its reason: unknown is never safe, and cosmetics are no danger."""

from __future__ import annotations

from typing import Any

import pytest

from catalog.review.types import DANGEROUS, LOOK, SAFE, Knowledge, Policy, Rule
from tests.catalog.dbt_files import model, source
from tests.catalog.review.pairs import accounts, build, change_of, events, known, node, reviewed, sync

SQL = "select id from {raw}"
RAW = node("raw", "select 1 as id")


def verdict(fields: dict[str, Any], *, sql: str = SQL, knowledge: Knowledge | None = None) -> tuple[str, str]:
    """(verdict, first reason) of a change of the model `a`."""
    found = reviewed(
        build(RAW, node("a", SQL)), build(RAW, {**node("a", sql), **fields}), knowledge or known(sync("s", "a"))
    )
    change = change_of(found, "a")
    return change.verdict, change.reasons[0]


CONFIG = {"materialized": "table", "enabled": True}


def test_words_and_form_are_safe() -> None:
    described = {**CONFIG, "persist_docs": {"relation": True}}
    for fields, sql in (
        ({"fqn": ["shop", "folder", "a"]}, SQL),
        ({"config": described, "description": "new"}, SQL),
        ({"unrendered_config": {"meta": {"x": 1}}, "config": {**CONFIG, "meta": {"x": 1}}}, SQL),
        ({}, "select id -- the id\nfrom {raw}"),
        ({}, "SELECT id\n  FROM {raw} AS raw"),
    ):
        found = verdict(fields, sql=sql)
        assert found[0] == SAFE, found


@pytest.mark.parametrize(
    ("fields", "expected", "words"),
    [
        ({"unrendered_config": {"materialized": "view"}, "config": {"materialized": "view"}}, DANGEROUS, "view"),
        ({"unrendered_config": {"full_refresh": True}, "config": {**CONFIG, "full_refresh": True}}, DANGEROUS, "bills"),
        ({"unrendered_config": {"alias": "other"}, "alias": "other"}, LOOK, "under another name"),
        (
            {"unrendered_config": {"alias": "b"}, "alias": "b", "relation_name": '"shop"."main"."b"'},
            DANGEROUS, "bills every row",
        ),
        ({"contract": {"enforced": True, "checksum": "x"}}, LOOK, "contract"),
        ({"unrendered_config": {"cluster_by": "x"}, "config": {**CONFIG, "cluster_by": "x"}}, LOOK, "cluster_by"),
        ({"unrendered_config": {"+meta": 1, "tags": []}}, SAFE, "its configuration"),
    ],
)  # fmt: skip
def test_configuration_is_judged_by_what_it_does_to_readers(fields: dict[str, Any], expected: str, words: str) -> None:
    found, reason = verdict(fields)
    assert found == expected
    assert words in reason


def test_another_unique_key_of_an_incremental_model_is_dangerous_when_it_goes_and_to_be_looked_at_else() -> None:
    def with_key(*key: str) -> dict[str, Any]:
        config = {"materialized": "incremental", **({"unique_key": list(key)} if key else {})}
        return {"config": config, "unrendered_config": config}

    for key, expected in (((), DANGEROUS), (("id", "x"), LOOK)):
        before, after = (build(RAW, node("a", SQL, **with_key(*one))) for one in (("id",), key))
        assert change_of(reviewed(before, after), "a").verdict == expected


def test_a_branch_that_no_build_compiled_is_not_called_cosmetic() -> None:
    def built(branch: str) -> Any:
        raw = "select id from x {% if is_incremental() %} BRANCH {% endif %}".replace("BRANCH", branch)
        return build(model("a", raw, compiled_code="select id from x"))

    for branch in ("where id > 2", "{{ more() }}"):
        change = change_of(reviewed(built("where id > 1"), built(branch)), "a")
        assert change.verdict == LOOK, change
    assert change_of(reviewed(built("where id > 1"), built("where id > 1 -- why")), "a").verdict == SAFE


def test_a_table_that_is_built_under_another_name_is_dangerous_for_any_reader_of_the_old_one() -> None:
    fields = {"unrendered_config": {"alias": "b"}, "alias": "b", "relation_name": '"shop"."main"."b"'}
    reader = sync("s", "shop.main.a", mode="extract")
    found, reason = verdict(fields, knowledge=known(reader))
    assert found == DANGEROUS
    assert "the table that the extract sync s" in reason
    assert verdict(fields, knowledge=known())[0] == LOOK


def test_text_that_was_not_compiled_is_said_to_be_so() -> None:
    before, after = build(model("a", "select id from {{ ref('x') }}")), build(
        model("a", "select id from {{ ref('x') }} where id > 1")
    )  # fmt: skip
    change = change_of(reviewed(before, after), "a")
    assert change.verdict == LOOK
    assert "told from text with Jinja" in change.reasons[0]


def test_new_models_are_safe_when_nothing_old_reads_them_and_their_findings_are_shown() -> None:
    new = node("new", "select r.id from {raw} r join {a} x on r.id = x.id where x.plan <> 3")
    found = reviewed(build(RAW, node("a", SQL)), build(RAW, node("a", SQL), new), Knowledge())
    change = change_of(found, "new")
    assert (found.verdict, change.verdict, change.action) == (SAFE, SAFE, "added")
    assert {one.rule for one in change.findings} == {"fan-out-join", "null-rows-dropped"}
    read = reviewed(build(RAW, node("a", SQL)), build(RAW, node("a", SQL), new), known(sync("s", "new")))
    assert change_of(read, "new").verdict == DANGEROUS  # a sync that deletes reads it already


def test_removed_models_are_dangerous_where_somebody_reads_them() -> None:
    before = build(RAW, node("a", SQL), node("b", "select id from {a}"))
    still = build(RAW, node("b", "select id from {a}"))
    change = change_of(reviewed(before, still), "a")
    assert (change.verdict, change.reasons[0]) == (DANGEROUS, "a is removed, and b still reads it.")
    gone = build(RAW, node("b", "select 1 as id"))
    assert change_of(reviewed(before, gone), "a").verdict == LOOK
    assert change_of(reviewed(before, gone, known(sync("s", "shop.main.a"))), "a").verdict == DANGEROUS


def test_a_renamed_model_is_dangerous_for_those_who_read_its_old_table_and_not_when_the_table_stays() -> None:
    text = "select id, 'only here' as x from {raw}"
    before, after = build(RAW, node("old", text)), build(RAW, node("new", text))
    change = change_of(reviewed(before, after, known(sync("s", "main.old"))), "new")
    assert (change.action, change.was, change.verdict) == ("renamed", "model.shop.old", DANGEROUS)
    assert "no longer built under its old name" in change.reasons[0]
    assert change_of(reviewed(before, after), "new").verdict == LOOK
    kept = build(RAW, node("new", text, alias="old", relation_name='"shop"."main"."old"'))
    change = change_of(reviewed(before, kept, known(sync("s", "main.old"))), "new")
    assert (change.verdict, [one.certain for one in change.readers]) == (LOOK, [True])
    assert "the table in the warehouse is the same" in change.reasons[0]


def test_a_model_that_is_renamed_and_changed_has_its_rows_classified() -> None:
    before = build(RAW, node("a", SQL))
    after = build(RAW, node("A", SQL + " where id > 1"))
    change = change_of(reviewed(before, after), "A")
    assert (change.action, change.direction, change.kinds) == ("renamed", "can_only_drop", ("body",))


def judged(name: str, column: str = "id", **fields: Any) -> dict[str, Any]:
    return {
        "unique_id": f"test.shop.{name}_{column}.1", "resource_type": "test", "name": f"{name}_{column}",
        "package_name": "shop", "fqn": ["shop"], "config": {"enabled": True}, "unrendered_config": {},
        "test_metadata": {"name": name, "kwargs": {"column_name": column}}, "column_name": column,
        "attached_node": "model.shop.a", "depends_on": {"nodes": ["model.shop.a"], "macros": []}, **fields,
    }  # fmt: skip


def test_tests_are_one_change_a_table_and_those_that_go_or_weaken_are_to_be_looked_at() -> None:
    with_tests = build(RAW, node("a", SQL), judged("not_null"), judged("unique"), judged("unique", "x"))
    without = build(RAW, node("a", SQL))
    added = change_of(reviewed(without, with_tests), "3 tests of a")
    assert (added.action, added.verdict, added.resource_type) == ("added", SAFE, "test")
    gone = change_of(reviewed(with_tests, without), "3 tests of a")
    assert gone.verdict == LOOK
    assert "not_null(id), unique(id), unique(x)" in gone.reasons[0]
    weak = judged("not_null", unrendered_config={"severity": "warn"}, config={"severity": "warn"})
    weaker = reviewed(build(RAW, node("a", SQL), judged("not_null")), build(RAW, node("a", SQL), weak))
    assert change_of(weaker, "not_null(id)").verdict == LOOK


def test_a_macro_reaches_what_it_changed_and_has_its_verdict() -> None:
    def built(text: str, *calls: str) -> Any:
        macros = {
            f"macro.shop.{name}": {"unique_id": f"macro.shop.{name}", "macro_sql": text} for name in ("m", "idle")
        }
        entry = node("a", SQL + (" where not flag" if text == "2" else ""))
        entry["raw_code"] = "select {{ m() }}"
        entry["depends_on"]["macros"] = list(calls)
        return build(RAW, entry, macros=macros)

    found = reviewed(built("1", "macro.shop.m"), built("2", "macro.shop.m"), known(sync("s", "a")))
    macro, idle = change_of(found, "m"), change_of(found, "idle")
    assert (macro.verdict, macro.nearest, [one.name for one in macro.readers]) == (DANGEROUS, ("a",), ["s"])
    assert (idle.verdict, idle.readers) == (SAFE, ())
    assert change_of(found, "a").kinds == ("macro",)


def test_a_macro_that_dbt_calls_by_itself_is_never_safe() -> None:
    def built(text: str) -> Any:
        key = "macro.shop.generate_schema_name"
        return build(RAW, macros={key: {"unique_id": key, "macro_sql": text}})

    assert change_of(reviewed(built("1"), built("2")), "generate_schema_name").verdict == LOOK


def test_seeds_sources_and_exposures() -> None:
    def seed(digest: str) -> dict[str, Any]:
        return {**model("s", "", checksum={"name": "sha256", "checksum": digest}), "unique_id": "seed.shop.s",
                "resource_type": "seed"}  # fmt: skip

    board = {"unique_id": "exposure.shop.board", "resource_type": "exposure", "name": "board", "package_name": "shop",
             "type": "dashboard", "depends_on": {"nodes": ["seed.shop.s"], "macros": []}}  # fmt: skip
    found = reviewed(build(seed("1"), source("t"), board), build(seed("2"), source("t", identifier="u")))
    assert change_of(found, "s").verdict == LOOK
    assert change_of(found, "t").verdict == LOOK
    gone = change_of(found, "board")
    assert (gone.verdict, gone.reasons) == (
        LOOK, ("The exposure board is removed: nothing here says any more that it reads s.",)
    )  # fmt: skip


def test_an_analysis_is_safe_and_a_hook_is_not() -> None:
    def built(kind: str, text: str) -> Any:
        return build({**model("x", text), "unique_id": f"{kind}.shop.x", "resource_type": kind})

    for kind, expected in (("analysis", SAFE), ("operation", LOOK)):
        assert change_of(reviewed(built(kind, "select 1"), built(kind, "select 2")), "x").verdict == expected


def test_a_rule_of_the_team_is_said_and_one_that_means_nothing_is_told() -> None:
    policy = Policy((Rule("shop.main.a", "auditors read it"), Rule("elsewhere"), Rule("s"), Rule("raw")))
    before, after = build(RAW, node("a", SQL)), build(RAW, node("a", "select id from {raw} limit 3"))
    found = reviewed(before, after, known(sync("s", "a")), policy)
    assert found.verdict == LOOK
    assert found.required == ("A change of shop.main.a has to be acknowledged: auditors read it.",
                              "A change of s has to be acknowledged.")  # fmt: skip
    assert change_of(found, "a").verdict == LOOK
    assert any("the rule of elsewhere was not applied" in note for note in found.notes)
    words = build(RAW, node("a", "select id from {raw} -- why"))
    found = reviewed(before, words, known(sync("s", "a")), policy)
    assert (found.verdict, len(found.required), found.readers) == (LOOK, 1, ())
    found = reviewed(build(RAW, node("a", SQL), judged("unique")), before, known(), policy)
    assert len(found.required) == 1


def test_checks_fit_the_findings_and_none_that_stands_is_offered() -> None:
    before, after = build(*accounts(), events(join="right")), build(*accounts(), events("where a.plan <> 'x'", "inner"))
    change = change_of(reviewed(before, after), "fct")
    checks = {(check.kind, check.table, check.columns): check for check in change.checks}
    assert ("not_null", "acc", ("plan",)) in checks
    assert ("unique", "acc", ("account_id",)) in checks
    assert checks["unique", "acc", ("account_id",)].yaml == (
        "models:\n  - name: acc\n    columns:\n      - name: account_id\n        data_tests:\n          - unique"
    )
    stands = judged("unique", "account_id", attached_node="model.shop.acc")
    stands["depends_on"] = {"nodes": ["model.shop.acc"], "macros": []}
    left, inner = (build(*accounts(), events(join=join), stands) for join in ("left", "inner"))
    assert not [one for one in change_of(reviewed(left, inner), "fct").checks if one.kind == "unique"]


def test_changes_come_the_gravest_first_and_then_by_time_to_damage() -> None:
    def built(tail: str) -> Any:
        return build(*(node(name, "select 1 as id" + tail) for name in "abc"))

    readers = sync("late", "a", cron="0 9 * * *", zone="UTC"), sync("soon", "c", cron="20 5 * * *", zone="UTC")
    found = reviewed(built(""), built(" where 1 = 0"), known(*readers))
    assert [change.name for change in found.changes] == ["c", "a", "b"]
    assert [one.name for one in found.readers] == ["soon", "late"]
