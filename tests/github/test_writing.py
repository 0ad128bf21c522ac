"""What is written to GitHub: one comment."""

from __future__ import annotations

from typing import Any

import pytest

from catalog.code_hosts.github import comments
from catalog.code_hosts.github.types import Annotation
from foundation.errors import BadInput, NotAllowed, NotFound
from tests.github.double import Double
from tests.github.fixtures import TOKEN, by_app, by_token, open_github
from tests.github.world import ALL

MARKER = "<!-- spellbook:review -->"
NOTE = Annotation("models/ümläut 名.sql", 3, "warning", "Rows vanish", "`is_internal` is NULL in 3 rows.")
ZERO = "0" * 40


@pytest.fixture
def sha(github: Double) -> str:
    """The head of pull request 1."""
    github.world.commit("main", {"a": "1"})
    return github.world.head_of(github.world.open_pull({"a": "2"}))


@pytest.mark.parametrize("connection", [by_token, by_app])
def test_a_comment_is_made_found_and_changed(github: Double, sha: str, connection: Any) -> None:
    with open_github(connection(github)) as client:
        assert client.find_comment(1, MARKER) is None
        made = client.create_comment(1, f"{MARKER}\n# Größe 名")
        assert client.find_comment(1, MARKER) == made
        client.update_comment(made, f"{MARKER}\nnew")
    assert github.world.comments[made].body == f"{MARKER}\nnew"
    assert [comment.id for comment in github.world.comments.values()] == [made]


@pytest.mark.parametrize("connection", [by_token, by_app])
def test_the_marker_counts_in_our_own_comments_alone(github: Double, sha: str, connection: Any) -> None:
    for login in ("stranger", "spellbook-test", "machine2", "other[bot]", ""):
        github.world.say(1, login, f"{MARKER} copied")
    with open_github(connection(github)) as client:
        assert client.find_comment(1, MARKER) is None
        made = client.create_comment(1, MARKER)
        github.world.say(1, "stranger", MARKER)
        assert client.find_comment(1, MARKER) == made


def test_our_comment_is_found_on_a_later_page(github: Double, sha: str) -> None:
    for index in range(120):
        github.world.say(1, "stranger", f"{index}")
    with open_github(by_token(github)) as client:
        made = client.create_comment(1, MARKER)
        assert client.find_comment(1, MARKER) == made
    assert len(github.asked("GET /repos/acme/shop.models/issues/1/comments")) == 2


def test_where_comments_may_be_left_unread_it_is_said(
    github: Double, sha: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comments, "MOST", 100)
    for index in range(100):
        github.world.say(1, "stranger", f"{index}")
    with open_github(by_token(github)) as client, pytest.raises(BadInput, match="100 comments or more"):
        client.find_comment(1, MARKER)


def test_a_comment_deleted_meanwhile_is_not_found(github: Double, sha: str) -> None:
    with open_github(by_token(github)) as client:
        made = client.create_comment(1, MARKER)
        del github.world.comments[made]
        with pytest.raises(NotFound, match=f"comment {made}"):
            client.update_comment(made, "new")
        with pytest.raises(NotFound):
            client.create_comment(7, "no such pull request")


def test_a_comment_that_github_would_refuse_is_not_sent(github: Double, sha: str) -> None:
    with open_github(by_token(github)) as client:
        client.create_comment(1, "x" * 65_536)
        sent = len(github.seen)
        for body in ("", " \n", "x" * 65_537):
            with pytest.raises(BadInput):
                client.create_comment(1, body)
            with pytest.raises(BadInput):
                client.update_comment(1, body)
        with pytest.raises(BadInput):
            client.find_comment(1, "")
    assert len(github.seen) == sent


def test_a_token_that_may_only_read_is_told_so_in_githubs_words(
    github: Double, sha: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(TOKEN, github.world.token(may=ALL - {"pulls:write"}))
    with open_github(by_token(github)) as client, pytest.raises(NotAllowed, match="not accessible by personal access"):
        client.create_comment(1, MARKER)
    assert len(github.asked("POST ")) == 1
