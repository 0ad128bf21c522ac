"""Fixtures around the double, for every folder of tests that talks to it (import them into its conftest.py)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pytest_django import Settings

from catalog.code_hosts.github import api, auth
from catalog.code_hosts.github.client import GitHub, open_github
from foundation.models import Connection
from tests.github.double import Double, running
from tests.github.judge import Judge
from tests.github.world import APP_ID, INSTALLATION_ID, PEM

TOKEN, APP_KEY, HOOK = "SPELLBOOK_CONN_GITHUB", "SPELLBOOK_CONN_GITHUB_KEY", "SPELLBOOK_CONN_GITHUB_HOOK"


@pytest.fixture(scope="session")
def judge() -> Judge:
    return Judge()


@pytest.fixture
def github(judge: Judge, tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Double]:
    """A double whose two hosts are allowed, its secrets set; the test fails when a request did not fit GitHub's
    description."""
    settings.SPELLBOOK_OUTBOUND_ALLOW = ["127.0.0.1", "127.0.0.2"]
    monkeypatch.setattr(api, "PAUSES", (0.01, 0.01))
    monkeypatch.setattr(auth, "_tokens", {})  # no token of another test
    with running(tmp_path, judge) as double:
        monkeypatch.setenv(TOKEN, double.world.token())
        monkeypatch.setenv(APP_KEY, PEM)
        monkeypatch.setenv(HOOK, "a webhook's secret")
        yield double
    double.check()


def by_token(double: Double, **params: Any) -> Connection:
    """A connection, not saved, that uses a token."""
    params = {"repository": double.world.full_name, "api": double.api, **params}
    return Connection(name="code", kind="github", purpose="code", params=params, secret_names=[TOKEN, HOOK])


def by_app(double: Double, **params: Any) -> Connection:
    """A connection, not saved, that uses the App."""
    connection = by_token(double, **{"app_id": str(APP_ID), "installation_id": str(INSTALLATION_ID), **params})
    connection.secret_names = [APP_KEY, HOOK]
    return connection


__all__ = ["APP_KEY", "HOOK", "TOKEN", "GitHub", "by_app", "by_token", "github", "judge", "open_github"]
