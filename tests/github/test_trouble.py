"""What is said when GitHub refuses, fails, is slow, or says something odd."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from catalog.code_hosts.github import api
from catalog.code_hosts.github.answers import RateLimited, refusal
from catalog.code_hosts.github.client import GitHub
from foundation.errors import BadInput, NotAllowed, Unavailable
from tests.github.asking import probed, refused
from tests.github.double import Double, Trouble
from tests.github.fixtures import by_token, open_github

LIMITS: list[tuple[Trouble, float, float]] = [
    (Trouble(403, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(int(time.time()) + 1800)}), 1700, 1810),
    (Trouble(429, {"Retry-After": "120"}), 110, 130),
    (Trouble(403, {"Retry-After": "30", "x-ratelimit-remaining": "17"}), 20, 40),
    (Trouble(403, body=b'{"message": "You have exceeded a secondary rate limit. Wait."}'), 50, 70),
    (Trouble(429), 50, 70),
    (Trouble(429, {"Retry-After": "9" * 9}), 86_000, 86_410),
    (Trouble(429, {"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}), 50, 70),
    (Trouble(403, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "12"}), -10, 10),
    (Trouble(403, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "soon"}), 50, 70),
]


@pytest.mark.parametrize(("trouble", "least", "most"), LIMITS)
def test_a_rate_limit_is_unavailable_until_a_time(github: Double, trouble: Trouble, least: float, most: float) -> None:
    trouble.times = 1
    github.troubles.append(trouble)
    started = datetime.now(UTC)
    said = r"before 20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC"
    with open_github(by_token(github)) as client, pytest.raises(RateLimited, match=said) as found:
        client.repository()
    assert least <= (found.value.until - started).total_seconds() <= most
    assert isinstance(found.value, Unavailable)
    assert len(github.seen) == 1


def test_a_limit_is_read_by_githubs_clock(github: Double) -> None:
    """Its clock is three hours ahead of ours: half an hour there is half an hour here."""
    there = datetime.now(UTC) + timedelta(hours=3)
    headers = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(int(there.timestamp()) + 1800)}
    dated = {**headers, "date": f"{there:%a, %d %b %Y %H:%M:%S} GMT"}
    error = refusal(403, dated, b"", "x")
    assert isinstance(error, RateLimited)
    assert 1790 < (error.until - datetime.now(UTC)).total_seconds() < 1810


@pytest.mark.parametrize("status", [500, 502, 503, 504, 0])
def test_a_read_is_tried_three_times_and_a_write_once(github: Double, status: int) -> None:
    github.world.commit("main", {"a": "1"})
    github.world.open_pull({"a": "2"})
    github.troubles.append(Trouble(status, times=2, body=b"<html>unicorn</html>"))
    assert probed(by_token(github)) == "acme/shop.models"
    assert len(github.seen) == 3
    github.troubles.append(Trouble(status, times=3))
    refused(by_token(github), Unavailable, rf"\({status}\)" if status else "cannot be reached")
    assert len(github.seen) == 6
    github.troubles.append(Trouble(status))
    with open_github(by_token(github)) as client, pytest.raises(Unavailable, match="not known whether it was done"):
        client.create_comment(1, "x")
    assert len(github.seen) == 7
    assert github.world.comments == {}


def test_an_answer_that_does_not_come_is_too_slow(github: Double, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "SECONDS", 0.1)
    github.troubles.append(Trouble(200, wait=0.4, times=9))
    refused(by_token(github), Unavailable, "did not answer in time for repository")
    with open_github(by_token(github)) as client, pytest.raises(Unavailable, match=r"in time .* not known whether"):
        client.create_comment(1, "x")
    time.sleep(0.5)  # the double's own threads end


def test_an_answer_that_never_ends_is_cut(github: Double, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "LARGEST", 2**20)
    github.troubles.append(Trouble(200, body=b"x" * (2**20 + 1)))
    refused(by_token(github), BadInput, "is larger than 1 MB")
    monkeypatch.setattr(api, "WHOLE_SECONDS", 0.0)
    github.troubles.append(Trouble(200, body=b"x" * 100))
    with pytest.raises(Unavailable, match="takes longer than"):
        list(api.whole(Slow(), 1000, "x", 0.0))  # type: ignore[arg-type]


class Slow:
    def iter_bytes(self) -> Any:
        time.sleep(0.01)
        yield b"x"


def test_a_server_that_is_not_there_cannot_be_reached(github: Double) -> None:
    refused(by_token(github, api="http://127.0.0.1:9"), Unavailable, "cannot be reached for repository")


def test_a_redirect_to_another_host_is_not_followed_with_our_token(github: Double) -> None:
    github.world.commit("main", {"a": "1"})
    github.world.open_pull({"a": "2"})
    for status in (301, 302, 307, 308):
        away = {"Location": f"{github.storage}/repos/acme/shop.models"}
        github.troubles += [Trouble(status, away), Trouble(status, away, on="POST")]
        refused(by_token(github), NotAllowed, "redirects to another host")
        with open_github(by_token(github)) as client, pytest.raises((NotAllowed, Unavailable)):
            client.create_comment(1, "x")
    assert [seen for seen in github.seen if seen.host == "storage"] == []
    assert github.world.comments == {}


def test_a_renamed_repository_is_followed_on_the_same_host(github: Double) -> None:
    github.world.commit("main", {"a": "1"})
    github.world.open_pull({"a": "2"})
    here = f"{github.api}/repos/acme/shop.models"
    comments = {"Location": f"{here}/issues/1/comments"}
    github.troubles.append(Trouble(301, {"Location": here}, on="GET /repos/acme/old"))
    assert probed(by_token(github, repository="acme/old")) == "acme/shop.models"
    github.troubles.append(Trouble(307, comments, on="POST /repos/acme/old"))
    with open_github(by_token(github, repository="acme/old")) as client:
        made = client.create_comment(1, "once")
    assert [comment.id for comment in github.world.comments.values()] == [made]
    github.troubles.append(Trouble(301, comments, on="POST /repos/acme/old"))
    with open_github(by_token(github, repository="acme/old")) as client, pytest.raises(Unavailable, match="renamed"):
        client.create_comment(1, "twice")
    assert len(github.world.comments) == 1


Call = Callable[[GitHub], object]
ODD: list[tuple[bytes, Call, str]] = [
    (b"<html>", lambda client: client.repository(), "is not JSON"),
    (b"[]", lambda client: client.repository(), "is not an object"),
    (b"{}", lambda client: client.repository(), "lacks full_name"),
    (b'{"full_name": 1}', lambda client: client.repository(), "lacks full_name"),
    (b'{"full_name": "a/b", "id": "9"}', lambda client: client.repository(), "lacks id"),
    (b'{"full_name": "a/b", "id": true}', lambda client: client.repository(), "lacks id"),
    (b'{"full_name": "a/b", "id": 1e3}', lambda client: client.repository(), "lacks id"),
    (b'{"full_name": "a/b", "id": 99999999999999999999999}', lambda client: client.repository(), "lacks id"),
    (b'{"base": {"sha": "main"}, "head": {}}', lambda client: client.pull_request(1), "lacks number"),
    (b'{"number": 1, "title": "", "state": "open", "base": {"sha": "main"}, "head": {}}',
     lambda client: client.pull_request(1), "sha that is no commit id"),
    (b'{"number": 1, "title": "", "state": "open", "head": {}}', lambda client: client.pull_request(1), "lacks base"),
    (b"{}", lambda client: client.changed_files(1), "is not a list"),
    (b"[1]", lambda client: client.changed_files(1), "is not an object"),
    (b'{"total_count": 1}', lambda client: client.artifacts("1" * 40), "is not a list"),
    (b'{"merge_base_commit": null}', lambda client: client.merge_base("a", "b"), "lacks merge_base_commit"),
    (b"null", lambda client: client.create_comment(1, "x"), "is not an object"),
    (b"[" * 5000, lambda client: client.repository(), "is not JSON"),
    (b'{"full_name": "\\ud800"}', lambda client: client.repository(), "is not JSON"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "call", "words"), ODD)
def test_an_odd_answer_is_said_in_words(github: Double, body: bytes, call: Call, words: str) -> None:
    github.troubles.append(Trouble(200, body=body))
    with open_github(by_token(github)) as client, pytest.raises(Unavailable, match=words):
        call(client)


def test_githubs_own_words_are_shortened_and_on_one_line(github: Double) -> None:
    errors = [
        {"resource": "Issue", "field": "body", "code": "invalid"},
        "two\nlines\x1b[31m",
        {"message": "m" * 500},
        7,
    ]
    body = json.dumps({"message": "Validation Failed", "errors": errors}).encode()
    github.troubles.append(Trouble(422, body=body))
    said = refused(by_token(github), BadInput, "GitHub says: Validation Failed; body invalid; two lines")
    assert len(said) < 400
    assert said.isprintable()
    for odd in (b'{"message": 1}', b"[]", b'{"errors": {"a": 1}}', b"\xff", b'{"errors": [[[]]]}'):
        github.troubles.append(Trouble(418, body=odd))
        refused(by_token(github), BadInput, r"refuses repository acme/shop.models \(418\)\.$")
