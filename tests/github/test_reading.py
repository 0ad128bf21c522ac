"""What is read of a repository on GitHub, against the double."""

from __future__ import annotations

import pytest

from catalog.code_hosts.github import api, pulls
from catalog.code_hosts.github.types import Repository
from foundation.errors import BadInput, NotFound
from tests.github.double import Double
from tests.github.fixtures import by_app, by_token, open_github


def test_the_repository_says_what_it_is(github: Double) -> None:
    for connection in (by_token(github), by_app(github)):
        with open_github(connection) as client:
            assert client.repository() == Repository("acme/shop.models", 99, "main", True)


def test_a_pull_request_is_read_with_both_ends(github: Double) -> None:
    base = github.world.commit("main", {"models/a.sql": "select 1"})
    pull = github.world.open_pull({"models/a.sql": "select 2"}, head="dev/ümläut-分支", title="Größer\0 als `1`")
    with open_github(by_token(github)) as client:
        found = client.pull_request(pull.number)
    assert (found.number, found.state, found.merged) == (1, "open", False)
    assert (found.base_sha, found.base_ref) == (base, "main")
    assert (found.head_sha, found.head_ref) == (github.world.head_of(pull), "dev/ümläut-分支")
    assert (found.head_repository, found.from_fork, found.author) == ("acme/shop.models", False, "dev")
    assert found.title == "Größer\ufffd als `1`"
    assert found.url == "https://github.com/acme/shop.models/pull/1"


def test_a_pull_request_of_a_fork_says_so_even_when_the_fork_was_deleted(github: Double) -> None:
    github.world.commit("main", {"a": "1"})
    pull = github.world.open_pull({"a": "2"}, fork="stranger/shop.models", author="stranger")
    with open_github(by_token(github)) as client:
        present = client.pull_request(pull.number)
        assert (present.head_repository, present.from_fork) == ("stranger/shop.models", True)
        pull.head_repository = None
        gone = client.pull_request(pull.number)
    assert (gone.head_repository, gone.from_fork, gone.head_sha) == ("", True, present.head_sha)


def test_a_merged_pull_request_is_merged_in_both_ways_of_reading(github: Double) -> None:
    github.world.commit("main", {"a": "1"})
    pull = github.world.open_pull({"a": "2"})
    pull.state, pull.merged = "closed", True
    with open_github(by_token(github)) as client:
        assert client.pull_request(1).merged
        assert client.open_pull_requests() == []


def test_open_pull_requests_are_read_to_the_last_page_and_found_by_their_head(
    github: Double, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api, "PAGE", 3)
    github.world.commit("main", {"a": "1"})
    made = [github.world.open_pull({"a": str(index)}, head=f"b{index}", fork="x/y") for index in range(6)]
    with open_github(by_token(github)) as client:
        assert [one.number for one in client.open_pull_requests()] == [6, 5, 4, 3, 2, 1]
        assert len(github.seen) == 2
        head = github.world.head_of(made[1])
        assert [one.number for one in client.pull_requests_of(head)] == [2]
        assert client.pull_requests_of("0" * 40) == []


def test_too_many_open_pull_requests_are_refused(github: Double, monkeypatch: pytest.MonkeyPatch) -> None:
    github.world.commit("main", {"a": "1"})
    for index in range(3):
        github.world.open_pull({"a": str(index)}, head=f"b{index}")
    monkeypatch.setattr(pulls, "MOST_OPEN", 2)
    with open_github(by_token(github)) as client, pytest.raises(BadInput, match="more than 2 open"):
        client.open_pull_requests()


def test_changed_files_have_names_and_what_they_were_called(github: Double) -> None:
    github.world.commit("main", {"models/a.sql": "select 1\nfrom t\n", "b.md": "x\n" * 20, "c.bin": b"\0\1", "d": "d"})
    files: dict[str, str | bytes | None] = {
        "models/a.sql": "select 2\nfrom t\n", "b.md": None, "docs/ümläut 名.md": "x\n" * 20, "c.bin": b"\0\2",
        "d": None, "models/neu.sql": "select 3\n",
    }  # fmt: skip
    pull = github.world.open_pull(files)
    with open_github(by_token(github)) as client:
        found = client.changed_files(pull.number)
    by_path = {one.path: one for one in found}
    assert {path: one.status for path, one in by_path.items()} == {
        "models/a.sql": "modified", "docs/ümläut 名.md": "renamed", "c.bin": "modified", "d": "removed",
        "models/neu.sql": "added",
    }  # fmt: skip
    assert by_path["docs/ümläut 名.md"].previous_path == "b.md"
    assert not found.truncated
    assert len(found) == 5


@pytest.mark.parametrize(("count", "truncated"), [(3000, False), (3001, True)])
def test_files_beyond_three_thousand_are_said(github: Double, count: int, truncated: bool) -> None:
    github.world.commit("main", {"a": "1"})
    github.world.open_pull({f"seeds/{index:05}.csv": "a\n1\n" for index in range(count)})
    with open_github(by_token(github)) as client:
        found = client.changed_files(1)
    assert (len(found), found.truncated) == (3000, truncated)


def test_the_difference_is_gits_own(github: Double) -> None:
    github.world.commit("main", {"models/a.sql": "select 1\n"})
    pull = github.world.open_pull({"models/a.sql": "select 2\n", "latin": b"caf\xe9\n"})
    with open_github(by_token(github)) as client:
        text = client.diff(pull.number)
    assert "diff --git a/models/a.sql b/models/a.sql\n" in text
    assert "\n-select 1\n+select 2\n" in text
    assert "+caf\ufffd\n" in text


def test_a_difference_too_large_for_github_is_refused_in_words(github: Double) -> None:
    github.world.commit("main", {"a": "1"})
    github.world.open_pull({"a": "x\n" * 20_001})
    with open_github(by_token(github)) as client, pytest.raises(BadInput, match=r"\(406\).*maximum number of lines"):
        client.diff(1)


def test_a_name_of_a_commit_that_is_none_is_refused(github: Double) -> None:
    sha = github.world.commit("main", {"models/a.sql": "x"})
    with open_github(by_token(github)) as client:
        for ref in ("", "a..b", "-x", "a b", "a\nb", "x" * 301):
            with pytest.raises(BadInput, match="branch or commit"):
                client.merge_base(ref, sha)


def test_the_common_ancestor_is_gits_own(github: Double) -> None:
    first = github.world.commit("main", {"a": "1"})
    github.world.commit("feature/x", {"a": "2"}, parent=first)
    tip = github.world.commit("main", {"b": "1"})
    github.world.git.commit("refs/heads/lonely", {"z": "1"})
    with open_github(by_token(github)) as client:
        assert client.merge_base("main", "feature/x") == first
        assert client.merge_base(tip, first) == first
        with pytest.raises(NotFound, match="No common ancestor"):
            client.merge_base("main", "lonely")
        with pytest.raises(NotFound):
            client.merge_base("main", "1" * 40)
        with pytest.raises(BadInput):
            client.merge_base("main", "a...b")


def test_numbers_that_are_none_are_refused_before_anything_is_sent(github: Double) -> None:
    with open_github(by_token(github)) as client:
        for number in (0, -1, 2**63):
            for call in (client.pull_request, client.changed_files, client.diff):
                with pytest.raises(BadInput):
                    call(number)
        with pytest.raises(NotFound, match=r"pull request 7 of acme/shop\.models"):
            client.pull_request(7)
    assert len(github.seen) == 1
