"""Estates for the tests: real dbt projects on DuckDB, each with a warehouse, a git repository and a way to go wrong.

night = Night.make(tmp_path)  # tables loaded, repository made
good = night.build()  # a real dbt build; the folder with its artifacts
commit = night.break_it()  # the merge that does the damage, or None when no code changes
bad = night.build()  # green as well
"""

from __future__ import annotations

import os
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any, ClassVar, Self

import duckdb

from examples.mixpanel_night.night.history import nights
from examples.mixpanel_night.night.repo import create_repository, head
from examples.mixpanel_night.warehouse import connect

ROOT = Path(__file__).resolve().parents[2]
DBT = ROOT / ".envs" / "dbt" / "bin" / "dbt"


@dataclass
class Estate(ABC):
    """One estate in a folder of its own; subclasses name their project, its declaration and the watched table."""

    project: ClassVar[Path]
    declaration: ClassVar[Path]
    watched: ClassVar[str]

    folder: Path
    rows: int = 5_000
    dbt: Path = DBT
    builds: int = field(default=0, init=False)

    @classmethod
    def make(cls, folder: Path, **options: Any) -> Self:
        """Loads the raw tables and makes the repository; `options` are the fields `rows` and `dbt`."""
        estate = cls(folder, **options)
        folder.mkdir(parents=True, exist_ok=True)
        estate.load()
        create_repository(estate.repo, cls.project)
        return estate

    @property
    def duck_path(self) -> Path:
        """The warehouse: one DuckDB file."""
        return self.folder / "warehouse.duckdb"

    @property
    def repo(self) -> Path:
        """The working tree of the git repository; the project is its root."""
        return self.folder / "repo"

    @abstractmethod
    def load(self) -> None:
        """Writes the raw tables as on a good night."""

    @abstractmethod
    def break_it(self) -> str | None:
        """Does the damage that the next build carries on; the merge commit, or None when no code changes."""

    @abstractmethod
    def mend(self) -> str | None:
        """Repairs the cause; the commit, or None when no code changes. The next build brings the rows back."""

    def commit(self) -> str:
        """The commit that `main` points at."""
        return head(self.repo)

    def environment(self) -> dict[str, str]:
        """All that dbt gets to see of the environment."""
        return {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(self.folder),
            "DUCK_PATH": str(self.duck_path),
            "DBT_SEND_ANONYMOUS_USAGE_STATS": "False",
        }

    def build(self, *arguments: str) -> Path:
        """A `dbt build`, of everything without arguments; its own folder with manifest.json and run_results.json.

        Raises `AssertionError` with dbt's output when the build is not green.
        """
        self.builds += 1
        target = self.folder / f"target-{self.builds}"
        done = self.run_dbt("build", "--target-path", str(target), *arguments)
        assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
        return target

    def run_dbt(self, command: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """One dbt command in the repository's working tree."""
        dbt = [str(self.dbt), "--no-version-check", "--no-use-colors", "--log-path", str(self.folder / "logs")]
        return subprocess.run(
            [*dbt, command, "--project-dir", str(self.repo), "--profiles-dir", str(self.repo), *arguments],
            cwd=self.repo,
            env=self.environment(),
            capture_output=True,
            text=True,
            check=False,
        )

    @contextmanager
    def warehouse(self, *, write: bool = False) -> Iterator[duckdb.DuckDBPyConnection]:
        """The open warehouse; while it is open nobody else can write."""
        with connect(self.duck_path, read_only=not write) as connection:
            yield connection

    def count(self, table: str) -> int:
        """Rows of a table, e.g. "analytics.orders"."""
        with self.warehouse() as connection:
            row = connection.execute("select count(*) from query_table($table)", {"table": table}).fetchone()
        assert row is not None
        return int(row[0])

    def history(self, until: date) -> list[dict[str, str | int]]:
        """Thirty nights of row counts of the watched table, as lines for `record`."""
        return list(nights(self.rows, until, asset=self.watched))
