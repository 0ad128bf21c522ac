"""`up` is never silent while it makes the database, which takes longest the first time."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from spellbook.management.commands import up
from tests.engines import open_at, put_back


@pytest.mark.usefixtures("db")
def test_before_the_tables_are_made_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(up, "call_command", lambda name, **_: said.append(name))
    sqlite3.connect(tmp_path / "empty.sqlite3").close()
    previous = open_at(f"sqlite:///{tmp_path / 'empty.sqlite3'}")
    try:
        up.migrate(said.append)
    finally:
        put_back(previous)
    assert said == ["Bringing the database up to date (less than a minute) …", "migrate"]
