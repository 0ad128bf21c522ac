"""Artifacts of workflow runs: which there are, and one file out of one, however it was packed."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import httpx
import pytest
from pytest_django import Settings

from catalog.code_hosts.github import artifacts, zips
from catalog.code_hosts.github.types import Artifact
from foundation.errors import BadInput, NotAllowed, NotFound, Unavailable
from tests.github.double import Double, Trouble
from tests.github.fixtures import by_app, by_token, open_github
from tests.github.world import Kept, zipped

MANIFEST = json.dumps({"metadata": {"project_name": "shop"}, "nodes": {"名": 1}}).encode()
LARGEST = 500 * 1024 * 1024
NAME = "spellbook-manifest"


def kept(github: Double, blob: bytes | None, **more: int | bool) -> Kept:
    sha = github.world.commit("main", {"a": "1"})
    return github.world.keep(github.world.run(sha), NAME, blob, **more)


def fetched(github: Double, blob: bytes | None, member: str = "manifest.json", largest: int = LARGEST) -> bytes:
    kept(github, blob)
    with open_github(by_token(github)) as client:
        [artifact] = client.artifacts(github.world.git.tip("main"))
        return client.artifact_file(artifact, member, largest)


def test_artifacts_of_a_commit_come_the_newest_run_first(github: Double) -> None:
    world = github.world
    sha, other = world.commit("main", {"a": "1"}), world.commit("main", {"a": "2"})
    old = world.run(sha, created_at="2026-11-01T00:00:00Z")
    new = world.run(sha, head_repository="stranger/shop.models", conclusion="failure")
    gone = world.run(sha, head_repository=None, created_at="2026-10-01T00:00:00Z")
    going = world.run(sha, status="in_progress")
    for run in (old, new, gone, going, world.run(other)):
        world.keep(run, NAME, b"", size=10)
    world.keep(new, "logs", b"")
    world.keep(old, NAME, b"", expired=True)
    with open_github(by_app(github)) as client:
        found = client.artifacts(sha, NAME)
        assert [one.name for one in client.artifacts(sha)] == ["logs", NAME, NAME, NAME, NAME]
        assert client.artifacts("1" * 40) == []
        with pytest.raises(BadInput):
            client.artifacts("main")
    assert [(one.run_id, one.expired) for one in found] == [
        (new.id, False), (old.id, True), (old.id, False), (gone.id, False),
    ]  # fmt: skip
    assert found[0].created_at is not None


def test_a_file_comes_out_of_the_zip_and_our_token_stays_with_github(github: Double) -> None:
    assert fetched(github, zipped({"target/manifest.json": MANIFEST, "readme": b""})) == MANIFEST
    assert fetched(github, zipped({"manifest.json": MANIFEST}, zipfile.ZIP_STORED)) == MANIFEST
    [first, second] = [seen for seen in github.seen if seen.host == "storage"]
    for seen in (first, second):
        assert "authorization" not in seen.headers
        assert "github_pat" not in str(seen)
    assert all("authorization" in seen.headers for seen in github.seen if seen.host == "api")


def test_the_exact_path_wins_and_two_that_would_do_are_refused(github: Double) -> None:
    both = zipped({"manifest.json": MANIFEST, "old/manifest.json": b"{}"})
    assert fetched(github, both) == MANIFEST


def test_two_members_of_the_name_in_folders_are_refused(github: Double) -> None:
    with pytest.raises(BadInput, match=r"holds 2 files manifest\.json"):
        fetched(github, zipped({"a/manifest.json": MANIFEST, "b/manifest.json": b"{}"}))


def test_a_host_that_is_not_on_the_list_is_not_asked(github: Double, settings: Settings) -> None:
    settings.SPELLBOOK_OUTBOUND_ALLOW = ["127.0.0.1"]
    with pytest.raises(NotAllowed, match=r"127\.0\.0\.2.*SPELLBOOK_OUTBOUND_ALLOW") as error:
        fetched(github, zipped({"manifest.json": MANIFEST}))
    assert "sig=" not in str(error.value)
    assert [seen for seen in github.seen if seen.host == "storage"] == []


def test_a_member_that_is_missing_is_said(github: Double) -> None:
    with pytest.raises(NotFound, match=r"artifact spellbook-manifest .* holds no file manifest\.json"):
        fetched(github, zipped({"manifest.json.txt": MANIFEST, "xmanifest.json": MANIFEST}))


@pytest.mark.parametrize("blob", [b"", b"not a zip", MANIFEST, zipped({"manifest.json": MANIFEST})[:-30], b"PK\5\6"])
def test_what_is_no_zip_is_refused(github: Double, blob: bytes) -> None:
    with pytest.raises(BadInput, match="not a whole zip"):
        fetched(github, blob)


def test_a_zip_with_broken_bytes_inside_is_refused(github: Double) -> None:
    blob = bytearray(zipped({"manifest.json": MANIFEST}, zipfile.ZIP_STORED))
    blob[blob.index(b"project_name")] ^= 1
    with pytest.raises(BadInput, match="not a whole zip"):
        fetched(github, bytes(blob))


def test_a_bomb_is_refused_by_what_it_says_and_by_what_comes_out(github: Double) -> None:
    bomb = zipped({"manifest.json": b"\0" * (30 * 2**20)})
    with pytest.raises(BadInput, match="200 times"):
        fetched(github, bomb)
    with pytest.raises(BadInput, match=r"'manifest\.json' in .* is larger than 20 MB"):
        fetched(github, bomb, largest=20 * 2**20)


def test_a_zip_that_lies_about_a_members_size_gives_no_more_than_the_largest() -> None:
    blob = bytearray(zipped({"manifest.json": b"1" * 5000}))
    size = (5000).to_bytes(4, "little")
    for _ in range(2):  # in the member's head and in the directory
        at = blob.index(size)
        blob[at : at + 4] = (10).to_bytes(4, "little")
    with pytest.raises(BadInput):
        zips.member(io.BytesIO(bytes(blob)), "manifest.json", 100, "The zip")


def test_too_many_members_an_odd_packing_and_a_password_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zips, "MOST_MEMBERS", 2)
    with pytest.raises(BadInput, match="more than 2 files"):
        zips.member(io.BytesIO(zipped({"a": b"", "b": b"", "c": b""})), "a", 10, "The zip")
    with pytest.raises(BadInput, match="deflate"):
        zips.member(io.BytesIO(zipped({"a": b"x"}, zipfile.ZIP_LZMA)), "a", 10, "The zip")
    blob = bytearray(zipped({"a": b"x"}))
    blob[blob.index(b"PK\1\2") + 8] |= 1
    with pytest.raises(BadInput, match="encrypted"):
        zips.member(io.BytesIO(bytes(blob)), "a", 10, "The zip")


def test_an_artifact_that_has_expired_is_not_found_before_and_after_asking(github: Double) -> None:
    one = kept(github, None)
    with open_github(by_token(github)) as client:
        [artifact] = client.artifacts(github.world.git.tip("main"))
        with pytest.raises(NotFound, match="storage no longer has"):
            client.artifact_file(artifact, "manifest.json", LARGEST)
        one.expired = True
        with pytest.raises(NotFound, match="Artifact has expired"):
            client.artifact_file(artifact, "manifest.json", LARGEST)
        [artifact] = client.artifacts(github.world.git.tip("main"))
        asked = len(github.seen)
        with pytest.raises(NotFound, match="it has expired"):
            client.artifact_file(artifact, "manifest.json", LARGEST)
    assert len(github.seen) == asked


def test_an_artifact_larger_than_allowed_is_refused_before_and_while_it_comes(github: Double) -> None:
    big = kept(github, zipped({"manifest.json": b"1" * 2**20}, zipfile.ZIP_STORED))
    with open_github(by_token(github)) as client:
        [artifact] = client.artifacts(github.world.git.tip("main"))
        with pytest.raises(BadInput, match="The zip of the artifact"):
            client.artifact_file(artifact, "manifest.json", 1000)
        big.size = 10  # GitHub's word for it is not relied on
        [artifact] = client.artifacts(github.world.git.tip("main"))
        with pytest.raises(BadInput, match=r"answer on artifact .* is larger than"):
            client.artifact_file(artifact, "manifest.json", 1000)


@pytest.mark.parametrize(
    ("trouble", "error", "words"),
    [
        (Trouble(500, on="/kept/"), Unavailable, r"storage fails on .* \(500\)"),
        (Trouble(on="/kept/"), Unavailable, "cannot be reached"),
        (Trouble(302, {"Location": "http://127.0.0.3/x?sig=y"}, on="/kept/"), NotAllowed, "redirects to another host"),
        (Trouble(200, on="/zip"), Unavailable, "not what was asked for"),
        (Trouble(302, on="/zip"), Unavailable, "leads nowhere"),
        (Trouble(302, {"Location": "http://169.254.169.254/meta"}, on="/zip"), NotAllowed, "never allowed"),
        (Trouble(302, {"Location": "file:///etc/passwd"}, on="/zip"), Unavailable, "leads nowhere"),
        (Trouble(302, {"Location": "http://a:x/"}, on="/zip"), Unavailable, "cannot be reached"),
    ],
)
def test_a_storage_that_fails_is_said_in_words(
    github: Double, trouble: Trouble, error: type[Exception], words: str
) -> None:
    github.troubles.append(trouble)
    trouble.times = 9
    with pytest.raises(error, match=words) as found:
        fetched(github, zipped({"manifest.json": MANIFEST}))
    assert "sig=" not in str(found.value)


def test_an_api_of_https_leads_to_no_storage_without_it(github: Double, tmp_path: Path) -> None:
    artifact = Artifact(1, NAME, 1, False, 1, None)

    class Fake:
        settings = type("S", (), {"api": "https://api.github.com"})()

        def repo(self, *parts: str) -> str:
            return ""

        def redirected(self, path: str, what: str) -> object:
            return httpx.URL("http://storage.example.org/x")

    with pytest.raises(Unavailable, match="without https"):
        artifacts.artifact_file(Fake(), artifact, "manifest.json", 10)  # type: ignore[arg-type]
