"""A connection to GitHub is added and tried from the command line."""

from __future__ import annotations

import pytest

from catalog.code_hosts.github.connection import read_settings
from catalog.sources.file_map import FileRule
from foundation.models import Connection
from tests.github.double import Double
from tests.github.fixtures import HOOK, TOKEN
from tests.spellbook.commands import Ran, manage, refused

pytestmark = pytest.mark.django_db


def added(github: Double, *more: str, repository: str = "acme/shop.models") -> Ran:
    params = ["--param", f"repository={repository}", "--param", f"api={github.api}"]
    return manage(
        "connection", "add", "code", "--kind", "github", "--purpose", "code", *params, "--secret", TOKEN,
        "--secret", HOOK, *more,
    )  # fmt: skip


def test_it_is_added_with_its_files_and_tried(github: Double) -> None:
    ran = added(
        github,
        "--file",
        "models/*.yaml=db.a",
        "--file",
        "x=y/*.yaml=db.b",
        "--file",
        "docs/=",
        "--param",
        "dbt_project=shop",
    )
    assert ran.code == 0, ran.err
    found = read_settings(Connection.objects.get(name="code"))
    assert (found.dbt_project, found.webhook_names) == ("shop", (HOOK,))
    assert found.files == (
        FileRule("models/*.yaml", ("db.a",)),
        FileRule("x=y/*.yaml", ("db.b",)),
        FileRule("docs/", ()),
    )
    assert manage("connection", "test", "code").code == 0
    assert Connection.objects.get(name="code").tested_ok


def test_one_that_does_not_work_is_said_and_noted(github: Double, monkeypatch: pytest.MonkeyPatch) -> None:
    added(github)
    monkeypatch.setenv(TOKEN, "github_pat_wrong")
    assert "does not accept the credential" in refused(manage("connection", "test", "code"))
    assert Connection.objects.get(name="code").tested_ok is False


def test_one_that_cannot_work_is_not_added(github: Double) -> None:
    assert "owner/name" in refused(added(github, repository="shop"))
    assert "GLOB=ASSET" in refused(added(github, "--file", "models"))
    assert not Connection.objects.exists()
