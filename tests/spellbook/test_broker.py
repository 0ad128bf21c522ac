"""A worker never sees half a message."""

from __future__ import annotations

import threading
from pathlib import Path
from queue import Empty
from typing import Any

from kombu import Connection

from spellbook.broker import Transport
from spellbook.celery import make_folders

MESSAGES = 400


def channel(link: Connection) -> Any:
    return link.default_channel


def test_messages_written_and_taken_at_the_same_time_are_all_whole(tmp_path: Path) -> None:
    make_folders()
    folder = tmp_path / "q"
    folder.mkdir()
    options = {"data_folder_in": str(folder), "data_folder_out": str(folder), "control_folder": str(tmp_path / "c")}
    taken: list[int] = []

    def write() -> None:
        with Connection(transport=Transport, transport_options=options) as link:
            for number in range(MESSAGES):
                channel(link)._put("work", {"number": number, "text": "x" * 20_000})

    writer = threading.Thread(target=write)
    writer.start()
    with Connection(transport=Transport, transport_options=options) as link:
        while writer.is_alive() or any(folder.iterdir()):
            try:
                taken.append(channel(link)._get("work")["number"])
            except Empty:
                continue
    assert sorted(taken) == list(range(MESSAGES))
