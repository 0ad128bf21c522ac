"""The plainest question to GitHub, and its refusal."""

from __future__ import annotations

import pytest

from foundation.errors import SpellbookError
from foundation.models import Connection
from tests.github.fixtures import open_github


def probed(connection: Connection) -> str:
    """What is said of the repository, or why not."""
    with open_github(connection) as client:
        return client.repository().full_name


def refused(connection: Connection, error: type[SpellbookError], words: str) -> str:
    with pytest.raises(error, match=words) as found:
        probed(connection)
    return str(found.value)
