"""The fix classes on real manifests: the night's filter becomes null-safe, the fan-out goes back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from approvals.fixes import FIXES, null_safe_filter, revert
from approvals.fixes.base import Case, FixDraft
from approvals.services.draft import _case
from catalog.code_hosts.local_git import apply_patch, checkout, patched_tree, unified_diff
from examples.mixpanel_night.night.repo import commit_all
from incidents.models import Cause
from tests.approvals.acting_builders import Built, diagnosed
from tests.estates import Estate
from tests.estates.night import FIX, Night

pytestmark = [pytest.mark.django_db, pytest.mark.dbt, pytest.mark.timeout(300)]
FACT = "models/marts/fct_account_events.sql"


def found(case: Case) -> FixDraft | None:
    return next((fix for propose in FIXES if (fix := propose(case))), None)


def facts(**changed: Any) -> None:
    cause = Cause.objects.get()
    Cause.objects.update(facts={**cause.facts, **changed})


@pytest.fixture
def case(night_built: Built, night: Estate) -> Case:
    return _case(diagnosed(night_built, night))


def test_the_nights_filter_is_rewritten_as_its_owner_would(case: Case, tmp_path: Path) -> None:
    fix = found(case)
    assert fix is not None
    assert fix.step_class == null_safe_filter.CLASS
    patch = unified_diff(fix.before, fix.after)
    trees = [patched_tree(case.code.path, case.code.base, one) for one in (patch, FIX.read_text(encoding="utf-8"))]
    assert trees[0] == trees[1]
    checkout(case.code.path, case.code.base, tmp_path / "tree")
    apply_patch(tmp_path / "tree", patch)
    assert (tmp_path / "tree" / FACT).read_text().endswith("where coalesce(a.is_internal, false) = false\n")


def test_the_filter_is_found_in_a_project_below_the_root(case: Case, night: Estate) -> None:
    below = night.repo / "warehouse"
    below.mkdir()
    for name in ("models", "dbt_project.yml", "profiles.yml"):
        (night.repo / name).rename(below / name)
    code = case.code
    moved = type(code)(code.connection, code.path, code.branch, commit_all(night.repo, "Move"), "warehouse")
    fix = found(Case(case.incident, case.cause, case.asset, case.base, case.head, moved))
    assert fix is not None
    assert set(fix.after) == {f"warehouse/{path}" for path in (FACT, "models/staging/_staging.yml",
                                                                "models/staging/stg_app__accounts.sql")}  # fmt: skip


def test_a_flag_whose_place_is_not_a_bare_column_gets_no_default(case: Case, night: Estate) -> None:
    staging = night.repo / "models/staging/stg_app__accounts.sql"
    staging.write_text(staging.read_text().replace("    is_internal\n", "    upper(is_internal) as is_internal\n"))
    code = case.code
    moved = type(code)(code.connection, code.path, code.branch, commit_all(night.repo, "Move"), "")
    fix = null_safe_filter.propose(Case(case.incident, case.cause, case.asset, case.base, case.head, moved))
    assert fix is not None
    assert set(fix.after) == {FACT}
    assert [one.kind for one in fix.assertions] == ["row_count"]


def test_only_a_flag_gets_a_default(case: Case) -> None:
    assert null_safe_filter._defaults_flag("COALESCE(a, FALSE) = FALSE", "duckdb")
    assert not null_safe_filter._defaults_flag("a IS DISTINCT FROM 'x'", "duckdb")


def test_a_predicate_that_stands_there_twice_is_left_to_a_person(case: Case, night: Estate) -> None:
    fact = night.repo / FACT
    fact.write_text(fact.read_text() + "    and not a.is_internal\n")
    code = case.code
    moved = type(code)(code.connection, code.path, code.branch, commit_all(night.repo, "Twice"), "")
    assert found(Case(case.incident, case.cause, case.asset, case.base, case.head, moved)) is None


def test_rows_that_came_since_are_counted_in(case: Case) -> None:
    case.cause.facts["proof"]["total"] = "21000"
    fix = null_safe_filter.propose(case)
    assert fix is not None
    assert fix.assertions[0].params == {"equals": str(21_000 - int(case.cause.facts["proof"]["removed_false"]))}
    assert "the 21,000 that it reads by now" in fix.assertions[0].sentence


def test_a_filter_that_meant_what_it_removed_is_taken_back(case: Case) -> None:
    case.cause.facts["proof"]["removed_null"] = "0"
    fix = found(case)
    assert fix is not None
    assert fix.step_class == revert.CLASS
    assert not fix.after[FACT].rstrip().endswith("is_internal")


def test_a_join_that_fans_out_goes_back_byte_for_byte(fanout_built: Built, fanout: Estate) -> None:
    incident = diagnosed(fanout_built, fanout)
    case = _case(incident)
    fix = found(case)
    assert fix is not None
    assert fix.step_class == revert.CLASS
    (path,) = fix.after
    assert fix.after[path] == case.code.read(path, fanout_built.commits[0])
    assert fix.assertions[0].params == {"equals": str(fanout.rows)}
    assert "as at the last good build" in fix.assertions[0].sentence
    merged = fanout.mend()
    assert merged
    assert fanout.repo.joinpath(path).read_text() == fix.after[path]


def test_a_file_that_has_moved_on_is_not_taken_back(fanout_built: Built, fanout: Estate) -> None:
    case = _case(diagnosed(fanout_built, fanout))
    node = case.node
    assert node is not None
    file = fanout.repo / node.path
    file.write_text(file.read_text() + "-- a later thought\n")
    code = case.code
    moved = type(code)(code.connection, code.path, code.branch, commit_all(fanout.repo, "Later"), "")
    assert revert.propose(Case(case.incident, case.cause, case.asset, case.base, case.head, moved)) is None


def test_estates_are_what_these_tests_think(night: Estate) -> None:
    assert isinstance(night, Night)
    assert night.unmarked > night.internal > 0
