"""What a change is compared with: the nearest manifest that is known, said exactly, never one of another project."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from pytest_django import Settings

from catalog.models import Build, PullRequest
from catalog.services.reviewing import bases
from foundation import connections
from foundation.clock import now
from tests.github.double import Double
from tests.github.fixtures import github, judge  # noqa: F401
from tests.spellbook.machines import command_line
from tests.spellbook.review_world import ReviewWorld, built, manifest_of, review_world


@pytest.fixture
def world(committing: str, settings: Settings, tmp_path: Path, github: Double) -> ReviewWorld:  # noqa: F811
    settings.ARTIFACTS_DIR = tmp_path / "artifacts"
    return review_world(github)


@pytest.fixture
def row(world: ReviewWorld) -> PullRequest:
    return PullRequest.objects.create(connection=world.connection, number=1, head_sha="a" * 40, seen_at=now())


def test_the_build_of_the_merge_base_goes_before_a_newer_one(world: ReviewWorld, row: PullRequest) -> None:
    built("b" * 40, manifest_of(stamp="newer"), key="night-2")
    found = bases.find(row, "shop", world.base)
    assert found is not None
    assert (found.commit, "night-1" in found.sentence) == (world.base, True)


def test_git_on_this_machine_tells_which_build_the_merge_base_contains(world: ReviewWorld, row: PullRequest) -> None:
    git = world.github.world
    side = git.commit("side", {"x.txt": "x"}, parent=world.base)
    merge_base = git.commit("main", {"y.txt": "y"})
    built(side, manifest_of(stamp="side"), key="night-side")
    unknown = bases.find(row, "shop", merge_base)
    assert unknown is not None
    assert "it is not known whether" in unknown.sentence
    connections.save(
        "clone", kind="git", purpose="code", namespace="", secret_names=[], actor=command_line(),
        params={"path": str(git.git.path), "branch": "main", "repository": git.full_name},
    )  # fmt: skip
    found = bases.find(row, "shop", merge_base)
    assert found is not None
    assert (found.commit, "contains" in found.sentence) == (world.base, True)


@pytest.mark.parametrize("repository", ["clone", "acme/shop.models", "https://github.com/acme/shop.models.git"])
def test_a_build_may_call_the_repository_by_any_of_its_names(
    repository: str, world: ReviewWorld, row: PullRequest
) -> None:
    Build.objects.update(repository="elsewhere")
    assert bases.find(row, "shop", "c" * 40) is None
    if repository == "clone":
        params = {"path": "/nowhere", "branch": "main", "repository": "Acme/shop.models"}
        connections.save(
            "clone", kind="git", purpose="code", namespace="", secret_names=[], actor=command_line(), params=params
        )
    built("c" * 40, manifest_of(stamp="other"), key="night-3", repository=repository)
    found = bases.find(row, "shop", "c" * 40)
    assert found is not None
    assert found.commit == "c" * 40


def test_a_build_of_another_project_that_failed_or_was_not_read_is_no_base(
    world: ReviewWorld, row: PullRequest
) -> None:
    assert bases.find(row, "another", world.base) is None
    Build.objects.update(status="failed")
    assert bases.find(row, "shop", world.base) is None
    Build.objects.update(status="succeeded", processed_at=None)
    assert bases.find(row, "shop", world.base) is None
    assert "no processed build of the project shop" in bases.missing(row, "shop")


def test_each_manifest_is_read_once_and_git_is_asked_a_few_times_however_many_builds_there_are(
    world: ReviewWorld, row: PullRequest, tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    git = world.github.world
    connections.save(
        "clone", kind="git", purpose="code", namespace="", secret_names=[], actor=command_line(),
        params={"path": str(git.git.path), "branch": "main", "repository": git.full_name},
    )  # fmt: skip
    for number in range(6):
        side = git.commit(f"side{number}", {"x.txt": str(number)}, parent=world.base)
        built(side, manifest_of(stamp=f"side {number}"), key=f"night-{number}-side")
    merge_base = git.commit("main", {"y.txt": "y"})
    asked = tmp_path / "asked.txt"
    real = shutil.which("git")
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "git"
    program.write_text(f'#!/bin/sh\necho "$*" >> {asked}\nexec {real} "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    found = bases.find(row, "shop", merge_base)
    assert found is not None
    assert found.commit == world.base
    assert len(asked.read_text().splitlines()) <= 5
    settings.ARTIFACTS_DIR = tmp_path / "where nothing lies"
    assert bases.find(row, "shop", merge_base) == found  # what was read is remembered
