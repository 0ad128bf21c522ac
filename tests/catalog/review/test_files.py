"""Changes of files that no manifest describes: an identity-stitching project, from file to asset to reader."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from catalog.review.as_document import as_dict
from catalog.review.by_files.review import FileChange, assets_of, review_files
from catalog.review.comment.markdown import render
from catalog.review.types import (
    Knowledge,
    KnownAsset,
    KnownDomain,
    KnownReader,
    Policy,
    Review,
    Rule,
)
from catalog.sources.file_map import FileRule
from foundation.errors import BadInput

AT = datetime(2026, 10, 3, 2, 55, tzinfo=UTC)
NAMESPACE = "databricks://host"
SYNC = KnownReader(
    "Top tier to mail", "sync", ("profiles.top_tier",), tool="mailer", mode="activation", cron="0 6 * * *",
    consequence="Members get a credit.", people={"operator": ("Lee Park",)}, source="Spellbook",
)  # fmt: skip
BOARD = KnownReader("Liability board", "dashboard", ("marts.liability",), cron="0 9 * * 1", source="Spellbook")
KNOWN = Knowledge(
    readers=(SYNC, BOARD),
    assets=(
        KnownAsset("events.identifies", "source"),
        KnownAsset("profiles.id_graph", "view", reads=("events.identifies",), domain="customer"),
        KnownAsset(
            "profiles.user_features", "feature_view", reads=("profiles.id_graph",), people={"owner": ("Ana Ruiz",)}
        ),
        KnownAsset("profiles.top_tier", "cohort", reads=("profiles.user_features",)),
        KnownAsset("marts.liability", "model", "model.shop.liability", reads=("profiles.user_features",)),
        KnownAsset("profiles.unread", "table"),
    ),
    domains=(KnownDomain("customer", "Customer data", "Ana Ruiz", ("Kim Weber",)),),
    sources=("facts of https://spellbook.example.com",),
)
MAP = (
    FileRule("pb_project.yaml", ("profiles.id_graph",)),
    FileRule("models/*.yaml", ("profiles.user_features",)),
    FileRule("models/cohorts.yaml", ("profiles.top_tier",)),
    FileRule("models/unread.yaml", ("profiles.unread",)),
    FileRule("sql/lost.sql", ("profiles.nobody",)),
    FileRule("activations/mail.yaml", ("Top tier to mail",)),
    FileRule("docs/", ()),
    FileRule("**/*.md", ()),
)
PROJECT = FileChange("pb_project.yaml", "modified")


def look(*changed: FileChange, known: Knowledge = KNOWN, rules: tuple[Rule, ...] = (), complete: bool = True) -> Review:
    return review_files(changed, MAP, known, Policy(rules), at=AT, compared="Compared.", complete=complete)


def test_a_changed_file_reaches_what_is_made_of_its_asset_with_the_next_reads() -> None:
    found = look(PROJECT)
    (change,) = found.changes
    assert (found.verdict, change.unique_id, change.resource_type, change.kinds) == (
        "look", "file:pb_project.yaml", "file", ("file",),
    )  # fmt: skip
    assert found.reasons == ("pb_project.yaml makes profiles.id_graph; what its change does to the rows is not known.",)
    assert change.reasons[1] == (
        "It reaches the activation sync Top tier to mail (next read Sat 3 Oct 06:00 UTC), and 1 more reader."
    )
    first, second = found.readers
    assert (first.name, first.hops, first.through) == (
        "Top tier to mail", 4, ("profiles.id_graph", "profiles.user_features", "profiles.top_tier"),
    )  # fmt: skip
    assert (second.name, second.next_read) == ("Liability board", datetime(2026, 10, 5, 9, 0, tzinfo=UTC))
    assert dict(change.reached) == {
        "view": 1, "feature_view": 1, "cohort": 1, "model": 1, "sync": 1, "dashboard": 1,
    }  # fmt: skip
    assert change.nearest[:2] == ("profiles.id_graph", "profiles.user_features")
    assert (found.readers_known, found.sources, found.compared, found.at) == (True, KNOWN.sources, "Compared.", AT)


def test_people_are_asked_the_approver_first() -> None:
    (change,) = look(PROJECT).changes
    assert [one.name for one in change.people] == ["Kim Weber", "Ana Ruiz", "Lee Park"]
    assert change.people[0].why == "approves changes in Customer data"


def test_all_matching_patterns_count() -> None:
    (change,) = look(FileChange("models/cohorts.yaml", "modified")).changes
    assert "makes profiles.user_features, profiles.top_tier" in change.reasons[0]
    sync = next(one for one in change.readers if one.name == "Top tier to mail")
    assert (sync.hops, sync.through) == (2, ("profiles.top_tier",))  # the nearest of the two ways


def test_a_file_that_no_pattern_matches_is_never_safe() -> None:
    found = look(FileChange("sql/new.sql", "added"), FileChange("docs/a.md", "modified"))
    said = "1 changed file belongs to no known asset, so that nothing is known of what the change does: sql/new.sql."
    assert (found.verdict, found.reasons, found.notes) == ("look", (said,), (said,))
    assert [one.verdict for one in found.changes] == ["look", "safe"]
    assert found.changes[0].direction == "unknown"


def test_many_unknown_files_are_one_note() -> None:
    found = look(PROJECT, *(FileChange(f"sql/{number:03}.sql", "added") for number in range(200)))
    assert len(found.changes) == 201
    assert found.reasons == look(PROJECT).reasons
    assert found.notes[0].startswith("200 changed files belong to no known asset")
    assert found.notes[0].endswith("sql/000.sql, sql/001.sql, sql/002.sql, sql/003.sql, sql/004.sql and 195 more.")


def test_it_is_safe_only_where_every_file_is_declared_harmless() -> None:
    found = look(FileChange("docs/deep/x.yaml", "removed"), FileChange("README.md", "renamed", "docs/README.md"))
    assert (found.verdict, found.reasons) == ("safe", ("Every changed file is declared to make no table.",))
    assert found.changes[0].reasons == ("The pattern **/*.md says that README.md makes no table.",)
    assert look().reasons == ("No file is changed.",)


def test_a_list_that_the_host_cut_is_not_safe() -> None:
    found = look(FileChange("README.md", "modified"), complete=False)
    assert (found.verdict, found.notes) == (
        "look", ("More files are changed than the code host lists; those were not looked at.",),
    )  # fmt: skip
    assert found.reasons == found.notes


def test_a_removed_file_whose_asset_has_readers_is_dangerous() -> None:
    found = look(FileChange("models/cohorts.yaml", "removed"), PROJECT)
    assert [one.verdict for one in found.changes] == ["dangerous", "look"]
    assert found.verdict == "dangerous"
    assert found.reasons == (
        "models/cohorts.yaml is removed, and makes profiles.user_features, profiles.top_tier no more. That feeds the "
        "activation sync Top tier to mail (next read Sat 3 Oct 06:00 UTC), and 1 more reader. Whether another file "
        "still does is not known.",
    )


def test_a_removed_file_without_known_readers_is_looked_at() -> None:
    only = replace(KNOWN, assets=KNOWN.assets[-1:])
    rules = MAP[3:4]
    found = review_files([FileChange("models/unread.yaml", "removed")], rules, only, at=AT)
    assert found.reasons == (
        "models/unread.yaml is removed, and makes profiles.unread no more; no reader of it is known.",
    )
    blind = review_files([FileChange("models/unread.yaml", "removed")], rules, replace(only, sources=()), at=AT)
    assert (blind.verdict, blind.readers_known) == ("look", False)
    assert blind.changes[0].reasons == (
        "models/unread.yaml is removed, and makes profiles.unread no more; its readers are not known.",
        "The readers of profiles.unread are not known: nothing told of readers.",
    )


def test_a_file_that_is_renamed_away_goes_and_one_that_keeps_its_assets_does_not() -> None:
    away = look(FileChange("old/project.yaml", "renamed", "pb_project.yaml"))
    assert away.verdict == "dangerous"
    assert away.reasons[0].startswith("pb_project.yaml is now called old/project.yaml, and makes profiles.id_graph no")
    (change,) = away.changes
    assert (change.action, change.was) == ("renamed", "file:pb_project.yaml")
    kept = look(FileChange("models/new.yaml", "renamed", "models/old.yaml"))
    assert (kept.verdict, kept.changes[0].action) == ("look", "renamed")
    half = look(FileChange("models/new.yaml", "renamed", "models/cohorts.yaml"))
    assert half.verdict == "dangerous"
    assert "makes profiles.top_tier no more. That feeds the activation sync" in half.reasons[0]


def test_a_copy_leaves_its_original_where_it_was() -> None:
    found = look(FileChange("docs/copy.yaml", "copied", "pb_project.yaml"))
    assert (found.verdict, found.changes[0].action) == ("safe", "added")


def test_an_asset_that_nobody_knows_is_said_and_looked_at() -> None:
    found = look(FileChange("sql/lost.sql", "modified"))
    assert found.verdict == "look"
    assert found.changes[0].reasons[1] == (
        "sql/lost.sql is said to make profiles.nobody, which nobody here knows: no change was followed from there."
    )


def test_a_name_that_may_mean_several_counts_as_all_of_them_and_is_dangerous_to_nobody_for_certain() -> None:
    two = replace(
        KNOWN,
        assets=(KnownAsset("a.tier", reads=()), KnownAsset("b.tier")),
        readers=(replace(SYNC, reads=("b.tier",)),),
    )
    found = review_files([FileChange("x.sql", "removed")], [FileRule("x.sql", ("tier",))], two, at=AT)
    assert found.verdict == "look"
    assert found.reasons[0].startswith("x.sql is removed, and makes tier no more. That may feed the activation sync")
    assert not found.readers[0].certain
    assert found.notes == ("tier may mean a.tier, b.tier; a change of its files counts as one of all of them",)


def test_a_file_may_make_a_reader_itself() -> None:
    found = look(FileChange("activations/mail.yaml", "removed"))
    assert found.verdict == "dangerous"
    (reader,) = found.readers
    assert (reader.name, reader.hops, reader.through) == ("Top tier to mail", 1, ())
    assert [one.name for one in found.people] == ["Lee Park"]


def test_a_rule_is_touched_by_the_files_of_its_asset_and_by_what_reaches_its_reader() -> None:
    rules = (Rule("profiles.id_graph", "Finance closes the books."), Rule("Liability board"), Rule("profiles.unread"))
    found = look(PROJECT, rules=rules)
    assert found.required == (
        "A change of profiles.id_graph has to be acknowledged: Finance closes the books.",
        "A change of Liability board has to be acknowledged.",
    )
    assert found.changes[0].reasons[-2:] == found.required
    assert look(FileChange("models/x.yaml", "modified"), rules=rules[:1]).required == ()  # it only reads that table
    assert look(PROJECT, rules=(Rule("marts.gone"),)).notes == (
        "the rule of marts.gone was not applied: no table here has this name",
    )


def test_the_name_of_a_hidden_reader_is_in_no_word() -> None:
    secret = replace(SYNC, name="Secret sale", hidden=True)
    found = look(FileChange("pb_project.yaml", "removed"), known=replace(KNOWN, readers=(secret, BOARD)))
    assert "Secret" not in json.dumps(as_dict(found))
    assert found.readers[0].hidden


def test_a_table_of_a_dbt_project_is_known_by_its_id_too() -> None:
    rules = [FileRule("x.yaml", ("model.shop.liability",))]
    policy = Policy((Rule("model.shop.liability", "Audited."),))
    found = review_files([FileChange("x.yaml", "modified")], rules, KNOWN, policy, at=AT)
    assert [one.name for one in found.readers] == ["Liability board"]
    assert found.required == ("A change of model.shop.liability has to be acknowledged: Audited.",)


def test_an_unchanged_file_is_no_change_and_an_unknown_word_is_one() -> None:
    assert look(FileChange("pb_project.yaml", "unchanged")).changes == ()
    assert look(FileChange("pb_project.yaml", "changed")).changes[0].action == "modified"
    assert look(FileChange("pb_project.yaml", "teleported")).verdict == "look"


def test_a_moment_without_a_zone_is_refused() -> None:
    with pytest.raises(BadInput, match="time zone"):
        review_files([PROJECT], MAP, KNOWN, at=datetime(2026, 10, 3))


def test_the_assets_of_a_file_are_told() -> None:
    assert assets_of(FileChange("models/new.yaml", "renamed", "models/cohorts.yaml"), MAP) == (
        "profiles.user_features", "profiles.top_tier",
    )  # fmt: skip
    assert assets_of(FileChange("models/x.yaml", "removed"), MAP) == ("profiles.user_features",)


def test_three_thousand_files_and_a_thousand_patterns_take_seconds() -> None:
    rules = [*MAP, *(FileRule(f"team_{number}/**/*.yaml", ("profiles.user_features",)) for number in range(990))]
    changed = [FileChange(f"team_{number % 1200}/deep/er/m{number}.yaml", "modified") for number in range(3000)]
    started = time.monotonic()
    found = review_files(changed, rules, KNOWN, at=AT)
    assert time.monotonic() - started < 10
    assert len(found.changes) == 3000
    assert len(render(found)) < 65_536


def test_it_is_rendered_as_a_comment() -> None:
    said = render(look(PROJECT, FileChange("sql/new.sql", "added"), FileChange("README.md", "added")))
    assert "⚠️ Look" in said
    assert "`pb_project.yaml`" in said
    assert "Not known what it does to the rows" in said
    assert "whole table" not in said


def test_no_part_of_django_is_needed() -> None:
    code = "import sys; sys.modules['django'] = None; import catalog.review.by_files.review"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
