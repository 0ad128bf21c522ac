"""The comment on a pull request: what stands in it, and in which order."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from catalog.diff.row_set_types import CAN_MULTIPLY, UNKNOWN, RowSetChange
from catalog.lints.types import Finding, Place
from catalog.review.comment.markdown import render
from catalog.review.types import Person, Review
from tests.catalog.review.comments import assert_whole, links, shown, tags, tokens
from tests.catalog.review.reviews import AT, BOARD, FILTER, FINDING, REVIEW, SYNC, TEXT


def in_order(text: str, *parts: str) -> None:
    """All parts are there, one after the other."""
    at = 0
    for part in parts:
        found = text.find(part, at)
        assert found >= 0, f"{part!r} is not there, or not behind what was before it:\n{text}"
        at = found + len(part)


def test_the_verdict_comes_first_then_why_then_who_reads_next_then_whom_to_ask() -> None:
    in_order(
        render(REVIEW),
        "## ⛔ Dangerous\n",
        "3 changes: 1 dangerous, 1 to look at, 1 safe.",
        "3,912 when last measured",
        "**Next reader:** Mirror sync `account events` (Mixpanel) reads **Mon 28 Sep 02:00 America/New\\_York "
        "(06:00 UTC)**, 47 min after this review. A repair is in time until Mon 28 Sep 01:45 (05:45 UTC).",
        "**Ask**\n\n- Dana Reyes: approves changes in Growth\n- Sam Okafor",
        "### Changes",
        "| ⛔\u00a0Dangerous | `stg_app__accounts` | Can only drop rows | 2 |",
        "| ⚠️\u00a0Look | `dim_plan` | Keeps the same rows | 1 |",
        "| ✅\u00a0Safe | `dim_calendar` | Keeps the same rows | none known |",
        "<details open>",
        "<details>",
        "### What could not be told",
        "### What this rests on",
        "Readers are known from: dbt exposures, spellbook.yml.",
        "Reviewed at 2026-09-28 05:13 UTC",
    )


def test_a_grave_change_says_what_changed_where_with_evidence_and_the_null_safe_form() -> None:
    text = render(REVIEW)
    in_order(
        text,
        "**What changed** in `models/staging/stg_app__accounts.sql`",
        "- A filter was added: `NOT a.is_internal`. This can only drop rows. It hangs on `a.is_internal`.",
        "⛔ **Dangerous, shown by a fact** in `models/staging/stg_app__accounts.sql:14`:",
        "- 3,912 of 48,210 rows",
        "```diff\n- not a.is_internal\n+ a.is_internal is distinct from true\n```",
        "| Mirror sync `account events` (Mixpanel) | Mon 28 Sep 02:00",
        "| Sam Okafor | `fct_account_events` |",
        "| dashboard `Activation board` | time not known | Growth PM (owns it in the business) |",
        "**Downstream:** 12 models, 1 dashboard",
        "```yaml\nmodels:",
    )
    assert_whole(text)
    assert links(text) == []


def test_only_the_grave_ones_are_explained_and_only_dangerous_ones_are_open() -> None:
    found = tags(render(REVIEW))
    assert found.count("<details open>") == 1
    assert found.count("<details>") == 1


def test_the_fourth_dangerous_change_is_folded() -> None:
    many = [replace(FILTER, name=f"m{number}") for number in range(5)]
    found = tags(render(replace(REVIEW, changes=tuple(many))))
    assert (found.count("<details open>"), found.count("<details>")) == (3, 2)


def test_readers_that_nobody_told_of_are_unknown_and_never_none() -> None:
    lonely = replace(FILTER, readers=())
    text = render(replace(REVIEW, changes=(lonely, TEXT), readers=(), readers_known=False, sources=()))
    assert "**Readers unknown.** Nothing told which syncs" in text
    assert "| Can only drop rows | unknown |" in text
    assert "**Readers unknown**: nothing told who reads this table." in text
    assert "none" not in text
    assert "Readers are known from" not in text


def test_known_readers_of_which_none_is_reached_are_said_to_be_so() -> None:
    text = render(replace(REVIEW, changes=(TEXT,), readers=(), verdict="safe", people=()))
    assert "No reader that was declared is reached." in text
    assert "**Ask**" not in text


def test_who_reads_first_is_said_by_time_and_unknown_times_are_counted() -> None:
    later = replace(SYNC, name="later", next_read=AT + timedelta(days=1))
    timeless = replace(BOARD, name="some time")
    text = render(replace(REVIEW, readers=(timeless, later, SYNC)))
    assert "**Next reader:** Mirror sync `account events`" in text
    assert "Besides it, 2 more readers are reached; when 1 of them reads is not known." in text


def test_a_reader_whose_time_nobody_knows_is_not_given_one() -> None:
    api = replace(BOARD, name="job", kind="sync", mode="append", triggered_by_api=True)
    text = render(replace(REVIEW, readers=(api,)))
    assert "**Next reader:** append sync `job` is reached; when a program starts it; the time is not known." in text


def test_a_read_that_can_no_longer_be_helped_is_said_to_be_so() -> None:
    late = replace(SYNC, last_useful_minute=AT - timedelta(minutes=1))
    assert "It is too late to change what this read finds." in render(replace(REVIEW, readers=(late,)))


def test_the_name_of_a_hidden_reader_is_nowhere() -> None:
    hidden = replace(SYNC, name="secret thing", hidden=True)
    plain = replace(FILTER, readers=(hidden,), reasons=("A reader is hurt.",))
    text = render(replace(REVIEW, changes=(plain,), readers=(hidden,), reasons=("A reader is hurt.",)))
    assert "secret thing" not in text
    assert "Mirror sync of a restricted domain" in text


def test_doubts_about_a_reader_stand_beside_its_name() -> None:
    doubted = replace(SYNC, certain=False, status="suggested")
    words = "(perhaps: its declaration names a table that could be several; suggested, nobody has confirmed it)"
    assert render(replace(REVIEW, readers=(doubted,), changes=())).count(words) == 1


def test_rules_and_acknowledgements_stand_in_the_summary() -> None:
    text = render(
        replace(REVIEW, required=("dim_plan has to be reviewed: finance bills from it",)),
        acknowledged="Dana Reyes, 2026-09-28 05:20 UTC: backfill is planned, cc @everyone",
    )
    in_order(
        text, "**Acknowledged:** Dana Reyes", "**Has to be acknowledged:**\n\n- dim\\_plan has", "**Next reader:**"
    )
    assert "@everyone" not in text


def test_nothing_changed_is_said() -> None:
    text = render(Review("safe", (), ()))
    in_order(text, "## ✅ Safe", "No change was found.", "**Readers unknown.**")
    assert "|" not in text


def test_new_removed_and_renamed_tables_and_mere_settings_have_words_of_their_own() -> None:
    changes = (
        replace(TEXT, name="new_one", action="added", direction="", verdict="look"),
        replace(TEXT, name="old_one", action="removed", direction="", verdict="look"),
        replace(TEXT, name="moved", action="renamed", was="model.shop.before", direction="", verdict="look"),
        replace(TEXT, name="set", direction="", kinds=("config", "fqn"), verdict="look"),
    )
    text = render(replace(REVIEW, changes=changes))
    assert "| `new_one` (new) | The whole table is new |" in text
    assert "| `old_one` (removed) | The whole table goes |" in text
    assert "| `moved` (renamed) | The table has another name |" in text
    assert "<code>moved</code> renamed from <code>before</code>" in text
    assert "Not compared; changed: its configuration, its folder in the project" in text


def test_a_change_of_one_column_names_it_and_its_way_of_being_made() -> None:
    text = render(REVIEW)
    assert "- A column is made of something else, `tier`: `p.tier` became `CASE WHEN p.seats" in text
    assert "Only this column is touched: `tier`. Who reads other columns is not counted." in text


def test_several_differences_are_told_one_by_one_and_together() -> None:
    join = RowSetChange(
        kind="join_added", direction=CAN_MULTIPLY, relation="shop.plans", join_kind="left", predicate="a.id = p.id",
        basis="raw", note="every row stays, and comes once for each match",
    )  # fmt: skip
    text = render(replace(REVIEW, changes=(replace(FILTER, row_set=(*FILTER.row_set, join), direction=UNKNOWN),)))
    in_order(
        text,
        "- A filter was added:",
        "- A join was added: `shop.plans` (left join) on `a.id = p.id`. This can repeat rows: none goes, some may come "
        "several times. Every row stays, and comes once for each match. It hangs on" if join.columns else
        "- A join was added: `shop.plans` (left join) on `a.id = p.id`. This can repeat rows: none goes, some may come "
        "several times. Every row stays, and comes once for each match. Compared as it is written",
        "All together: not known what it does to the rows.",
    )  # fmt: skip


def test_a_finding_without_a_clear_rewrite_offers_none() -> None:
    bare = Finding("fan-out-join", "look", Place(None, "join x"), "Rows may come twice.")
    text = render(replace(REVIEW, changes=(replace(FILTER, findings=(bare,)),)))
    assert "⚠️ **Look, possible, nothing known rules it out** in `models/staging/stg_app__accounts.sql`: Rows" in text
    assert "```diff" not in text


def test_what_is_left_out_of_one_change_is_counted() -> None:
    crowd = tuple(replace(SYNC, name=f"sync {number}") for number in range(40))
    long = replace(FILTER, readers=crowd, findings=(FINDING,) * 30, row_set=FILTER.row_set * 30,
                   people=tuple(Person(f"p{number}", "") for number in range(9)))  # fmt: skip
    text = render(replace(REVIEW, changes=(long,)))
    for words in ("28 more readers left out", "18 more findings left out", "18 more differences", "and 3 more"):
        assert words in text
    assert_whole(text)


def test_a_person_without_a_name_in_any_role_is_said_to_be_missing() -> None:
    text = render(replace(REVIEW, people=(), changes=(replace(FILTER, readers=(replace(SYNC, people={}),)),)))
    assert "**Ask**: nobody is named as owner or approver of what this touches." in text
    assert "| nobody is named |" in text


def test_the_link_is_the_only_one_and_is_used_only_if_it_is_an_address() -> None:
    assert links(render(REVIEW, link="https://spell.example.com/reviews/3?a=b c>)\n[x](y)")) == [
        "https://spell.example.com/reviews/3?a=b%20c%3E)%5Bx%5D(y)"
    ]
    for wrong in ("javascript:alert(1)", "nonsense", "http://[bad", "https://x.example/" + "a" * 400, ""):
        assert links(render(REVIEW, link=wrong)) == []


def test_every_word_that_is_shown_is_a_word_for_people() -> None:
    text = shown(render(REVIEW))
    for ours in ("can_only", "same_rows", "filter_added", "null-rows-dropped", "business_owner", "hops", "None"):
        assert ours not in text


def test_lists_are_lists_and_tables_are_tables() -> None:
    types = [token.type for token in tokens(render(REVIEW))]
    assert types.count("table_open") == 3
    assert types.count("fence") == 2


def test_whom_to_ask_is_said_of_a_change_only_where_the_summary_said_others() -> None:
    others = replace(FILTER, people=(Person("Kim Lund", "owns stg_app__accounts"),))
    assert render(replace(REVIEW, changes=(FILTER,))).count("**Ask**") == 1
    in_order(render(replace(REVIEW, changes=(others,))), "**Ask**", "</summary>", "**Ask**\n\n- Kim Lund: owns stg")


def test_a_reader_of_unknown_mode_and_one_without_a_kind_have_words_all_the_same() -> None:
    for reader, words in (
        (replace(SYNC, mode="unknown"), "sync of unknown mode `account events`"),
        (replace(SYNC, mode="", kind=""), "reader `account events`"),
        (replace(SYNC, mode="merge"), "merge sync `account events`"),
    ):
        assert f"**Next reader:** {words}" in render(replace(REVIEW, readers=(reader,)))


def test_the_way_to_a_reader_is_cut_when_it_is_long_and_counted_when_it_is_not_known() -> None:
    for reader, words in (
        (replace(SYNC, through=("a", "b", "c", "d", "e", "f")), "| `a` → `b` → `c` → `d` → 2 more |"),
        (replace(SYNC, through=(), hops=3), "| 3 steps |"),
        (replace(SYNC, through=(), hops=1), "| directly |"),
    ):
        assert words in render(replace(REVIEW, changes=(replace(FILTER, readers=(reader,)),)))
