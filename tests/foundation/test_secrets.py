from __future__ import annotations

import os
from pathlib import Path

import pytest
from pytest_django import Settings

from foundation.errors import BadInput, Unavailable
from foundation.secrets import secret


@pytest.fixture
def folder(tmp_path: Path, settings: Settings) -> Path:
    inside = tmp_path / "secrets"
    inside.mkdir()
    settings.SPELLBOOK_SECRETS_DIR = inside
    (tmp_path / "outside").write_text("s3cr3t")
    return inside


def test_a_variable_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPELLBOOK_CONN_HOUSE", "s3cr3t")
    assert secret("SPELLBOOK_CONN_HOUSE") == "s3cr3t"


def test_a_file_is_read_without_its_last_line_break(folder: Path) -> None:
    (folder / "house.password").write_text("s3cr3t\n")
    assert secret("house.password") == "s3cr3t"


def test_a_link_inside_the_folder_is_followed(folder: Path) -> None:
    (folder / "..data").mkdir()
    (folder / "..data" / "house").write_text("s3cr3t")
    (folder / "house").symlink_to("..data/house")
    assert secret("house") == "s3cr3t"


def test_a_link_out_of_the_folder_is_refused(folder: Path) -> None:
    (folder / "house").symlink_to("../outside")
    with pytest.raises(BadInput, match="leads out"):
        secret("house")


@pytest.mark.parametrize(
    "name", ["../outside", "a/b", "..", ".", "", "/etc/passwd", "SPELLBOOK_SECRET_KEY", "a\0b", "a\n"]
)
def test_a_name_that_leads_elsewhere_is_refused(folder: Path, name: str) -> None:
    with pytest.raises(BadInput):
        secret(name)


def test_what_is_not_there_is_said_by_name(folder: Path) -> None:
    with pytest.raises(Unavailable, match="SPELLBOOK_CONN_NOBODY"):
        secret("SPELLBOOK_CONN_NOBODY")
    with pytest.raises(Unavailable, match="house"):
        secret("house")


def test_what_is_no_ordinary_text_file_is_refused_without_showing_it(folder: Path) -> None:
    (folder / "empty").write_text("\n")
    (folder / "binary").write_bytes(b"s3cr3t\xff")
    (folder / "large").write_text("s3cr3t" * 20_000)
    (folder / "directory").mkdir()
    os.mkfifo(folder / "pipe")
    for name in ("empty", "binary", "large", "directory", "pipe"):
        with pytest.raises(Unavailable) as refusal:
            secret(name)
        assert "s3cr3t" not in repr(refusal.value)
