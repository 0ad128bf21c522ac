from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from pytest_django import Settings

from foundation import failpoint

SCRIPT = """
from django.conf import settings
settings.configure(FAILPOINTS={points!r}, SPELLBOOK_ENVIRONMENT={environment!r})
from foundation.failpoint import hit
hit("here")
print("passed")
"""


def run(points: list[str], environment: str = "demo") -> subprocess.CompletedProcess[str]:
    script = SCRIPT.format(points=points, environment=environment)
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)


def test_it_is_inert_unless_named() -> None:
    assert run(["elsewhere"]).stdout == "passed\n"


def test_it_kills_without_a_chance_to_clean_up() -> None:
    assert run(["here"]).returncode == -9


def test_it_is_inert_in_production() -> None:
    assert run(["here"], "production").stdout == "passed\n"


def test_it_can_wait(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[Any] = []
    monkeypatch.setattr(time, "sleep", waited.append)
    settings.FAILPOINTS = ["here=sleep:0.5"]
    failpoint.hit("here")
    assert waited == [0.5]


def test_it_can_kill_once(tmp_path: Path) -> None:
    points = [f"here=once:{tmp_path / 'killed'}"]
    assert run(points).returncode == -9
    assert run(points).stdout == "passed\n"
