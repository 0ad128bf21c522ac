"""What was merged is compared with what was approved, on real branches."""

from __future__ import annotations

from pathlib import Path

import pytest

from approvals.models import Plan, Receipt
from approvals.services import merges
from catalog.code_hosts import local_git
from foundation.audit import sentence
from foundation.errors import Conflict, NotAllowed, NotFound
from foundation.models import AuditRow, Person
from tests.approvals.builders import House, as_actor, conductor, house
from tests.approvals.code_builders import MODEL, NEW, OLD, Repo, acting, make_repo, step

pytestmark = pytest.mark.django_db


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return make_repo(tmp_path / "repo")


@pytest.fixture
def built() -> House:
    return house()


@pytest.fixture
def plan(built: House, repo: Repo) -> Plan:
    return acting(built, repo)


def look(plan: Plan) -> bool:
    return merges.look(step(plan, 1), actor=conductor())


def said() -> list[str]:
    rows = AuditRow.objects.filter(action__in=["plan.step_waits", "plan.step_done"]).order_by("pk")
    return [sentence(row) for row in rows]


def test_nothing_merged_is_nothing_said_and_looked_at_again_soon(plan: Plan) -> None:
    before = step(plan, 1).due_at
    assert not look(plan)
    assert said() == []
    after = step(plan, 1).due_at
    assert before is not None
    assert after is not None
    assert after > before


def test_the_approved_change_is_found_and_its_receipt_names_the_commit_and_nobody(plan: Plan, repo: Repo) -> None:
    commit = repo.write(MODEL, NEW, "Fix, by Ada Lovelace")
    assert look(plan)
    done = step(plan, 1)
    assert (done.state, done.facts, done.due_at) == ("done", {"commit": commit}, None)
    assert said() == [f"step 1: merged as approved in {commit[:10]}"]
    statement = bytes(Receipt.objects.get(type="step").statement).decode()
    assert commit in statement
    assert "Lovelace" not in statement
    assert "Analytics" not in statement
    assert not look(plan)


def test_a_merge_commit_is_named_rather_than_the_branch_it_brings(plan: Plan, repo: Repo) -> None:
    repo.git("switch", "--quiet", "--create", "fix")
    repo.write(MODEL, NEW)
    repo.git("switch", "--quiet", "main")
    repo.git("merge", "--quiet", "--no-ff", "--message", "Merge", "fix")
    assert look(plan)
    assert step(plan, 1).facts["commit"] == repo.head()


def test_the_change_in_two_commits_is_the_same_change(plan: Plan, repo: Repo) -> None:
    repo.write(MODEL, NEW.replace("= false", ""))
    assert not look(plan)
    second = repo.write(MODEL, NEW)
    assert look(plan)
    assert step(plan, 1).facts["commit"] == second


def test_what_came_after_the_approved_merge_is_not_built(plan: Plan, repo: Repo) -> None:
    commit = repo.write(MODEL, NEW)
    repo.write("models/other.sql", "select 3 as id\n")
    assert look(plan)
    assert step(plan, 1).facts["commit"] == commit


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (MODEL, NEW + "limit 10\n"),  # an extra line
        (MODEL, NEW.replace("false) = false", "true) = false")),  # another line
        ("models/m2.sql", NEW),  # another file
    ],
)
def test_anything_else_is_said_once_and_waits(plan: Plan, repo: Repo, name: str, text: str) -> None:
    commit = repo.write(name, text)
    for _ in range(3):
        assert not look(plan)
    assert said() == [f"step 1 waits: {commit[:10]} on the branch is not the approved change"]
    assert step(plan, 1).state == "waiting"
    assert not Receipt.objects.filter(type="step").exists()


def test_the_change_beside_another_one_is_not_what_was_approved(plan: Plan, repo: Repo) -> None:
    """Even though a commit of the side branch, alone, is exactly the change."""
    repo.git("switch", "--quiet", "--create", "fix")
    repo.write(MODEL, NEW)
    repo.git("switch", "--quiet", "main")
    repo.write("models/other.sql", "select 3 as id\n")
    assert not look(plan)
    repo.git("merge", "--quiet", "--no-ff", "--message", "Merge", "fix")
    assert not look(plan)
    assert len(said()) == 2
    assert step(plan, 1).state == "waiting"


def test_a_branch_that_was_pushed_over_is_said_once(plan: Plan, repo: Repo) -> None:
    repo.git("checkout", "--quiet", "--orphan", "fresh")
    repo.write(MODEL, NEW)
    repo.git("branch", "--quiet", "--force", "main", "fresh")
    for _ in range(2):
        assert not look(plan)
    assert said() == ["step 1 waits: the branch no longer contains the commit that the plan was drafted on"]


def test_a_change_that_came_and_went_is_not_done(plan: Plan, repo: Repo) -> None:
    repo.write(MODEL, NEW)
    repo.write(MODEL, OLD)
    assert not look(plan)
    assert "changes the same files again" in said()[0]


def press(plan: Plan, who: Person, *, actor: Person | None = None) -> bool:
    return merges.merged(step(plan, 1).pk, person=who, actor=as_actor(actor or who))


def test_the_owner_presses_merged_once_or_twice(plan: Plan, built: House, repo: Repo) -> None:
    with pytest.raises(Conflict, match="nothing was merged yet"):
        press(plan, built.owner)
    repo.write(MODEL, NEW)
    Plan.objects.update(due_at=None)
    assert press(plan, built.owner)
    assert press(plan, built.owner)
    assert step(plan, 1).state == "done"
    assert Plan.objects.get().due_at is not None
    assert Receipt.objects.filter(type="step").count() == 1


def test_nobody_else_presses_it_and_the_attempt_is_kept(plan: Plan, built: House, repo: Repo) -> None:
    repo.write(MODEL, NEW)
    with pytest.raises(NotAllowed, match="somebody else"):
        press(plan, built.approver)
    with pytest.raises(NotAllowed, match="signed-in person"):
        merges.merged(step(plan, 1).pk, person=built.owner, actor=conductor())
    with pytest.raises(NotAllowed, match="in their own name"):
        press(plan, built.owner, actor=built.stranger)
    assert step(plan, 1).state == "waiting"
    rows = AuditRow.objects.filter(action="plan.merge_refused")
    assert rows.count() == 3
    assert all(row.refused and row.correlation_id == built.incident.pk for row in rows)


def test_a_wrong_merge_is_refused_in_words(plan: Plan, built: House, repo: Repo) -> None:
    repo.write(MODEL, NEW + "limit 1\n")
    with pytest.raises(Conflict, match="is not the approved change"):
        press(plan, built.owner)


def test_a_step_that_was_not_approved_waits_for_no_merge(built: House, repo: Repo) -> None:
    plan = acting(built, repo, steps=[3])
    repo.write(MODEL, NEW)
    with pytest.raises(Conflict, match="Nobody waits"):
        press(plan, built.owner)
    with pytest.raises(NotFound):
        merges.merged(step(plan, 3).pk, person=built.owner, actor=as_actor(built.owner))


def test_the_change_is_found_where_its_lines_repeat_and_git_shows_them_elsewhere(built: House, tmp_path: Path) -> None:
    """The writer of the plan and git's own diff put a block among equal ones at different lines."""
    entry = "      - name: c{0}\n        data_tests:\n          - not_null\n"
    columns = "models:\n  - name: m\n    columns:\n" + "".join(entry.format(one) for one in (1, 2, 4))
    more = columns.replace(entry.format(4), entry.format(3) + entry.format(4))
    repo = make_repo(tmp_path / "yaml")
    base = repo.write("models/m.yml", columns)
    patch = local_git.unified_diff({"models/m.yml": columns}, {"models/m.yml": more})
    commit = repo.write("models/m.yml", more)
    assert local_git.patched_tree(repo.path, base, patch) == local_git.tree_of(repo.path, commit)
