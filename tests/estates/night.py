"""The example's estate, small: a filter that reads an unknown as a yes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from examples.mixpanel_night.figures import group_rows, upgraded
from examples.mixpanel_night.load import load
from examples.mixpanel_night.night import reader, repo
from examples.mixpanel_night.night.sync import sync
from tests.estates import ROOT, Estate

EXAMPLE = ROOT / "examples" / "mixpanel_night"
FIX = Path(__file__).with_name("night_fix.patch")


@dataclass
class Night(Estate):
    """`unmarked`, `ordinary` and `internal` are the events of accounts whose flag is NULL, false and true."""

    project: ClassVar[Path] = EXAMPLE / "project"
    declaration: ClassVar[Path] = EXAMPLE / "estate.yml"
    watched: ClassVar[str] = "analytics.fct_account_events"

    rows: int = 20_000

    def __post_init__(self) -> None:
        self.unmarked, self.ordinary, self.internal = group_rows(self.rows)
        self.unmarked_upgrades, self.ordinary_upgrades, self.internal_upgrades = upgraded(self.rows)

    @property
    def copy(self) -> Path:
        """What the sync has copied so far."""
        return self.folder / "copy.duckdb"

    def load(self) -> None:
        load(self.duck_path, self.rows)

    def break_it(self) -> str:
        return repo.merge_bad_change(self.repo)

    def mend(self) -> str:
        return repo.apply_and_merge(self.repo, FIX.read_text(encoding="utf-8"))

    def sync(self) -> dict[str, str | int]:
        """Plays the hourly sync."""
        return sync(self.duck_path, self.copy)

    def shown(self) -> int:
        """What the board shows."""
        return reader.shown(self.copy)

    def source_value(self) -> int:
        """What the board would show if its copy were up to date."""
        return reader.source_value(self.duck_path)
