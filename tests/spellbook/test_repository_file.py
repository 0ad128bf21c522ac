"""The file in the dbt repository: read at the built commit, withdrawn when it says less, never above people's words."""

from __future__ import annotations

from pathlib import Path

import pytest

from catalog.models import Build, Consumer, Domain, EdgeClaim, Note
from catalog.selectors import find_asset, people
from catalog.services.builds import announce
from catalog.services.declare import declare
from foundation import connections
from foundation.audit import Actor
from foundation.clock import now
from foundation.models import AuditRow, Person
from foundation.people import create_person
from spellbook import repository_file, tasks
from tests.catalog.test_local_git import Repo
from tests.spellbook.machines import command_line, make_shop

pytestmark = pytest.mark.django_db
FILE = """
assets:
  - {asset: main.orders, domain: sales, owner: owner@example.com, on_call: {schedule: primary rota}}
consumers:
  - asset: Nightly copy
    tool: copier
    mode: mirror
    reads: main.orders
    schedule: {cron: "0 2 * * *", zone: Europe/Berlin}
notes:
  - {asset: main.orders, text: Returns are negative.}
"""


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    make_shop()
    Domain.objects.create(key="sales", name="Sales")
    made = Repo(tmp_path / "code")
    params = {"path": str(made.path), "branch": "main", "project_subdir": "dbt"}
    connections.save(
        "code", kind="git", purpose="code", namespace="", params=params, secret_names=[], actor=command_line()
    )
    made.write("dbt/dbt_project.yml", "name: shop\n")
    made.commit("start")
    return made


@pytest.fixture
def owner(db: None) -> Person:
    return create_person("owner@example.com", "The owner")


def built(repo: Repo, text: str | None, *, commit: str = "", key: str = "") -> Build:
    """The build of a commit in which the file holds `text`, processed as the worker does."""
    if not commit:
        (repo.path / "dbt" / "spellbook.yml").unlink(missing_ok=True)
        if text is not None:
            repo.write("dbt/spellbook.yml", text)
        repo.write("dbt/count", str(Build.objects.count()))
        commit = repo.commit("a change")
    build, _ = announce(key=key or commit, kind="dbt", commit=commit, repository="code", actor=command_line())
    tasks.process_builds()
    build.refresh_from_db()
    return build


def test_a_build_brings_what_the_file_says(repo: Repo, owner: Person) -> None:
    build = built(repo, FILE)
    assert build.due_at is None
    orders, copy = find_asset("main.orders"), Consumer.objects.get(asset__name="Nightly copy")
    assert (orders.domain, people(orders, "owner")) == (Domain.objects.get(), [owner])
    assert (copy.origin, copy.status, copy.cron, copy.sync.mode) == ("repository", "standing", "0 2 * * *", "mirror")
    assert Note.objects.get().text == "Returns are negative."
    row = AuditRow.objects.get(action="repository.read")
    assert row.target_id == str(build.pk)
    built(repo, FILE)
    assert AuditRow.objects.filter(action="repository.read").count() == 1  # the same again changes nothing


def test_what_the_file_says_no_more_is_withdrawn(repo: Repo, owner: Person) -> None:
    built(repo, FILE)
    built(repo, "notes:\n  - {asset: main.orders, text: Another.}\n")
    orders = find_asset("main.orders")
    assert (orders.domain, people(orders, "owner")) == (None, [])
    assert Consumer.objects.get(asset__name="Nightly copy").status == "withdrawn"
    assert not EdgeClaim.objects.filter(source__key="repository:code", removed_in__isnull=True).exists()
    assert dict(Note.objects.values_list("text", "status")) == {
        "Returns are negative.": "withdrawn", "Another.": "standing",
    }  # fmt: skip
    built(repo, None)
    assert not Note.objects.filter(status="standing").exists()


def test_peoples_words_go_before_the_file(repo: Repo, owner: Person) -> None:
    built(repo, FILE)
    Domain.objects.update(owner=owner)
    mine = {"asset": "Nightly copy", "mode": "append"}
    declare({"consumers": [mine]}, actor=Actor(owner.principal, "web"))
    built(repo, FILE.replace("0 2 * * *", "0 3 * * *"))
    copy = Consumer.objects.get(asset__name="Nightly copy")
    assert (copy.sync.mode, copy.cron, copy.origin) == ("append", "0 3 * * *", "declared")
    built(repo, None)
    copy.refresh_from_db()
    assert (copy.status, copy.sync.mode, copy.cron) == ("standing", "append", "")


@pytest.mark.parametrize(
    "text",
    ["consumers: [", "- a list", "consumers:\n- {asset: x, kind: sync}\n", "notes: {a: b}", "\x00", "x: [\n" * 3000],
)
def test_a_file_that_cannot_be_used_is_told_and_the_last_good_one_stands(repo: Repo, owner: Person, text: str) -> None:
    built(repo, FILE)
    build = built(repo, text)
    assert build.due_at is None
    assert AuditRow.objects.get(action="repository.refused").refused
    assert Consumer.objects.get(asset__name="Nightly copy").status == "standing"


def test_a_merge_gives_nobody_the_right_to_decide(repo: Repo, owner: Person) -> None:
    text = (
        FILE
        + "people:\n- {email: new@example.com, roles: [admin]}\ndomains:\n- {name: sales, owner: owner@example.com}\n"
    )
    built(repo, text)
    assert not Person.objects.filter(email="new@example.com").exists()
    assert Domain.objects.get().owner is None
    assert "not read from a repository" in str(AuditRow.objects.get(action="repository.read").detail.body)
    assert Consumer.objects.filter(asset__name="Nightly copy").exists()


def test_a_branch_that_was_not_merged_and_an_older_commit_say_nothing(repo: Repo, owner: Person) -> None:
    first = repo.git("rev-parse", "HEAD").strip()
    repo.git("checkout", "--quiet", "-b", "side")
    repo.write("dbt/spellbook.yml", FILE)
    side = repo.commit("on a branch")
    repo.git("checkout", "--quiet", "main")
    built(repo, None, commit=side)
    assert not Consumer.objects.filter(asset__name="Nightly copy").exists()
    built(repo, FILE)
    built(repo, None, commit=first, key="late")  # announced after the build of a later commit
    assert Consumer.objects.get(asset__name="Nightly copy").status == "standing"


def test_a_commit_that_is_not_there_and_a_repository_without_connection_say_nothing(repo: Repo, owner: Person) -> None:
    built(repo, FILE)
    assert built(repo, None, commit="0" * 40).due_at is None
    announce(key="x", kind="dbt", commit="1" * 40, repository="https://elsewhere.example/code", actor=command_line())
    tasks.process_builds()
    assert Consumer.objects.get(asset__name="Nightly copy").status == "standing"
    assert repository_file.read_of(Build(key="y", announced_at=now()), actor=command_line()) is None
