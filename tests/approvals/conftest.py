"""Estates that real dbt has built twice, once a session; a test copies the one that it changes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.approvals.acting_builders import Built, build_twice, cancel_all
from tests.estates import Estate
from tests.estates.fanout import Fanout
from tests.estates.night import Night


@pytest.fixture(scope="session")
def night_built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return build_twice(Night, tmp_path_factory.mktemp("night") / "estate", 20_000)


@pytest.fixture(scope="session")
def fanout_built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return build_twice(Fanout, tmp_path_factory.mktemp("fanout") / "estate", 5_000)


@pytest.fixture
def night(night_built: Built, tmp_path: Path) -> Iterator[Estate]:
    """A night of the test's own; runs that it started are cancelled at its end."""
    yield night_built.copy(tmp_path / "estate")
    cancel_all()


@pytest.fixture
def fanout(fanout_built: Built, tmp_path: Path) -> Iterator[Estate]:
    yield fanout_built.copy(tmp_path / "estate")
    cancel_all()
