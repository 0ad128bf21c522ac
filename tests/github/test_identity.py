"""Who we are for GitHub: tokens, an App's installation, and what is said when they are not accepted."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime, timedelta

import pytest
from pytest_django import Settings

from catalog.code_hosts.github import auth
from foundation.errors import BadInput, NotAllowed, NotFound, Unavailable
from tests.github.asking import probed, refused
from tests.github.double import Double
from tests.github.fixtures import APP_KEY, TOKEN, by_app, by_token, open_github
from tests.github.world import ALL, PEM

BUY = "POST /app/installations"


def test_an_installation_token_is_bought_once_for_many_uses(github: Double) -> None:
    for _ in range(3):
        assert probed(by_app(github)) == "acme/shop.models"
    [bought] = github.asked(BUY)
    assert json.loads(bought.body) == {"repositories": ["shop.models"]}
    other = by_app(github, repository="acme/other")
    refused(other, BadInput, "not accessible")  # another repository's token is another one
    assert len(github.asked(BUY)) == 2


def test_an_installation_token_is_bought_anew_before_it_ends(github: Double) -> None:
    probed(by_app(github))
    [(key, (token, until))] = auth._tokens.items()
    assert until > datetime.now(UTC) + timedelta(days=300)
    auth._tokens[key] = (token, datetime.now(UTC) + timedelta(minutes=4))
    probed(by_app(github))
    assert len(github.asked(BUY)) == 2


def test_an_installation_token_that_github_revoked_is_bought_anew_for_reads_and_writes(github: Double) -> None:
    github.world.commit("main", {"a": "1"})
    github.world.open_pull({"a": "2"})
    with open_github(by_app(github)) as client:
        client.repository()
        github.world.tokens.clear()
        client.create_comment(1, "x")
        github.world.tokens.clear()
        client.repository()
    assert len(github.asked(BUY)) == 3
    assert len(github.world.comments) == 1


def test_an_app_that_is_no_longer_installed_is_said(github: Double) -> None:
    probed(by_app(github))
    github.world.installed = False
    github.world.tokens.clear()
    refused(by_app(github), NotAllowed, "App 4711 is not installed as 815, or no longer")
    refused(by_app(github, installation_id="816"), NotAllowed, "not installed as 816")


def test_a_wrong_app_or_key_is_refused_and_never_shown(github: Double, monkeypatch: pytest.MonkeyPatch) -> None:
    refused(by_app(github, app_id="1"), NotAllowed, "Integration not found")
    for value in ("not a key", PEM[:200], "-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----"):
        monkeypatch.setenv(APP_KEY, value)
        said = refused(by_app(github), BadInput, f"{APP_KEY} is not an RSA private key")
        assert value not in said


def test_a_key_in_one_line_is_a_key(github: Double, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(APP_KEY, PEM.strip().replace("\n", "\\n"))
    assert probed(by_app(github)) == "acme/shop.models"


@pytest.mark.parametrize(("off", "takes"), [(-45, True), (45, True), (-600, False), (600, False)])
def test_a_clock_a_little_off_does_no_harm_and_more_is_said(
    github: Double, monkeypatch: pytest.MonkeyPatch, off: int, takes: bool
) -> None:
    monkeypatch.setattr("catalog.code_hosts.github.auth.time", Clock(off))
    monkeypatch.setattr("catalog.code_hosts.github.answers.time", Clock(off))
    if takes:
        assert probed(by_app(github)) == "acme/shop.models"
    else:
        refused(by_app(github), NotAllowed, r"This machine's clock differs from GitHub's by (599|600|601) s\.")


class Clock:
    """A clock that is off by some seconds."""

    def __init__(self, off: int) -> None:
        self.off = off

    def time(self) -> float:
        return time.time() + self.off


def test_a_wrong_token_is_refused_without_being_shown(github: Double, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TOKEN, "github_pat_wrong")
    said = refused(by_token(github), NotAllowed, "does not accept the credential for repository acme/shop.models")
    assert "github_pat" not in said
    assert "Bad credentials" in said
    assert len(github.seen) == 1
    with open_github(by_token(github)) as client:
        assert "github_pat" not in f"{client.__dict__} {client._api.credential!r} {client.settings!r}"


def test_a_repository_that_the_token_does_not_see_is_not_found(github: Double, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TOKEN, github.world.token(may=frozenset()))
    refused(by_token(github), NotFound, "has no repository acme/shop.models, or does not show it")
    monkeypatch.setenv(TOKEN, github.world.token(may=ALL - {"contents:read"}))
    refused(by_token(github), NotAllowed, "Resource not accessible by personal access token")
    refused(by_token(github, repository="acme/none"), NotFound, "acme/none")


@pytest.mark.parametrize("value", ["two words", "zwei\nzeilen", "tökén"])
def test_a_token_that_cannot_be_one_is_not_sent(github: Double, monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv(TOKEN, value)
    said = refused(by_token(github), BadInput, f"{TOKEN} is not a token")
    assert value not in said
    monkeypatch.delenv(TOKEN)
    refused(by_token(github), Unavailable, f"{TOKEN} is not set")
    assert github.seen == []


def test_a_host_that_is_not_on_the_list_is_not_asked(github: Double, settings: Settings) -> None:
    settings.SPELLBOOK_OUTBOUND_ALLOW = []
    refused(by_token(github), NotAllowed, "SPELLBOOK_OUTBOUND_ALLOW")
    refused(by_app(github), NotAllowed, "SPELLBOOK_OUTBOUND_ALLOW")
    assert github.seen == []
