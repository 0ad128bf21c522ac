"""The stand-in for GitHub and its judge take a minute: their own tests run with `make test-real`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.github.fixtures import github, judge

__all__ = ["github", "judge"]
HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what stands in this folder; the tests of other folders that use the stand-in stay as they are."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.real)
