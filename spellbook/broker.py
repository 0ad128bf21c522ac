"""kombu's filesystem transport, with messages that appear whole.

kombu writes a message under its final name before the bytes are there, so a worker that looks at that moment takes an
empty file and dies of it. Here a message is written beside the queue and renamed into it (rename(2) is atomic within a
file system). Nothing else is changed; a message that is lost costs one wake-up and no more (D3).
"""

from __future__ import annotations

import os
import uuid
from pathlib import Path
from time import monotonic
from typing import Any

from kombu.exceptions import ChannelError
from kombu.transport import TRANSPORT_ALIASES, filesystem
from kombu.utils.json import dumps


class Channel(filesystem.Channel):
    def _put(self, queue: str, payload: Any, **kwargs: Any) -> None:  # type: ignore[override]
        folder = Path(self.data_folder_out)
        name = f"{round(monotonic() * 1000)}_{uuid.uuid4()}.{queue}.msg"
        writing = folder / f"{name}.new"
        try:
            writing.write_text(dumps(payload), encoding="utf-8")
            os.replace(writing, folder / name)
        except OSError as error:
            writing.unlink(missing_ok=True)
            raise ChannelError(f"The message could not be written: {error.strerror}.") from error


class Transport(filesystem.Transport):
    Channel = Channel


def register() -> None:
    """Let `filesystem://` mean this transport in this process."""
    TRANSPORT_ALIASES["filesystem"] = "spellbook.broker:Transport"
