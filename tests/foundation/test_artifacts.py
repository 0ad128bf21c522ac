from __future__ import annotations

import errno
from pathlib import Path

import pytest
from pytest_django import Settings

from foundation import artifacts
from foundation.canonical import sha256_hex
from foundation.errors import BadInput, NotFound, Unavailable


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, settings: Settings) -> Path:
    settings.ARTIFACTS_DIR = tmp_path / "artifacts"
    return tmp_path / "artifacts"


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def test_bytes_are_kept_under_their_digest_once(folder: Path) -> None:
    assert artifacts.store(b"data") == artifacts.store(b"data") == sha256_hex(b"data")
    assert artifacts.load(sha256_hex(b"data")) == b"data"
    assert len(files(folder)) == 1


def test_what_was_never_stored_is_not_found() -> None:
    with pytest.raises(NotFound):
        artifacts.load("0" * 64)


@pytest.mark.parametrize("digest", ["", "../../etc/passwd", "0" * 63, "Z" * 64])
def test_only_a_digest_names_a_file(digest: str) -> None:
    with pytest.raises(BadInput):
        artifacts.load(digest)


def test_a_damaged_file_is_noticed_and_mended_by_storing_it_again(folder: Path) -> None:
    digest = artifacts.store(b"data")
    files(folder)[0].write_bytes(b"dat")
    with pytest.raises(Unavailable, match="damaged"):
        artifacts.load(digest)
    artifacts.store(b"data")
    assert artifacts.load(digest) == b"data"


def test_a_full_disk_leaves_nothing_half_written(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("foundation.artifacts.os.fsync", full)
    with pytest.raises(Unavailable, match="disk is full"):
        artifacts.store(b"data")
    assert files(folder) == []
