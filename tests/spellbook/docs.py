"""The documents as tests see them: their blocks, commands and tables, and a small installation to try them on."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import duckdb
from django.core.management import call_command

from approvals.ledger.recipe import VERIFY_MD
from tests.catalog.manifests import model, run_results, shop

ROOT = Path(__file__).resolve().parents[2]
PAGES = (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md")))
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_ROW = re.compile(r"^\| (.+) \|$", re.MULTILINE)


@dataclass(frozen=True)
class Shown:
    """One command line of a page."""

    page: str
    line: str

    def words(self, **variables: str) -> list[str]:
        """As a shell splits it, with these variables put in."""
        return [_expanded(word, variables) for word in shlex.split(self.line)]

    def __str__(self) -> str:
        return f"{self.page}: {self.line}"


def _expanded(word: str, variables: dict[str, str]) -> str:
    return re.sub(r"\$([A-Z]+)", lambda found: variables[found[1]], word)


def blocks(page: Path, *languages: str) -> list[str]:
    """The fenced blocks of a page in one of these languages."""
    return [body for language, body in _FENCE.findall(page.read_text(encoding="utf-8")) if language in languages]


def recipe() -> list[str]:
    """The blocks of the recipe in every bundle; tests/approvals/test_bundle.py runs them with openssl."""
    return [body for _, body in _FENCE.findall(VERIFY_MD)]


def commands() -> Iterator[Shown]:
    """Every command line that a page shows, apart from the recipe's."""
    for page in PAGES:
        for block in blocks(page, "sh", "console"):
            lines = [] if block in recipe() else block.replace("\\\n", " ").splitlines()
            yield from (
                Shown(page.name, line.removeprefix("$ ")) for line in lines if line.strip()[:1] not in ("", "#")
            )


def mcp_calls() -> list[Shown]:
    """The requests that the pages send to /mcp."""
    return [shown for shown in commands() if shown.line.startswith("curl ") and shown.line.endswith("/mcp")]


def prose(page: Path) -> str:
    """A page without its fenced blocks."""
    return _FENCE.sub("", page.read_text(encoding="utf-8"))


def rows(page: Path) -> list[list[str]]:
    """The cells of every table row of a page."""
    return [row.split(" | ") for row in _ROW.findall(prose(page))]


def anchors(page: Path) -> set[str]:
    """What a link may name after `#`."""
    heads = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", head).lower().replace(" ", "-") for head in heads}


def settle(folder: Path) -> None:
    """The files, tables and people that the pages speak of, in `folder` and in the database of the test."""
    (folder / "target").mkdir()
    (folder / "base").mkdir()
    (folder / "target" / "manifest.json").write_bytes(shop(model("returns", "model.shop.orders"), stamp="two"))
    (folder / "base" / "manifest.json").write_bytes(shop())
    (folder / "target" / "run_results.json").write_bytes(run_results(("model.shop.orders", "success", 10)))
    (folder / "values.jsonl").write_text('{"asset": "main.orders", "metric": "row_count", "value": 10}\n')
    (folder / "estate.yml").write_text(blocks(ROOT / "docs" / "api.md", "yaml")[0], encoding="utf-8")
    with duckdb.connect(str(folder / "dev.duckdb")) as warehouse:
        warehouse.execute("create table main.orders as select 1 as id")
    add = ("connection", "add", "warehouse", "--kind", "duckdb", "--purpose", "read")
    call_command(*add, "--param", f"path={folder / 'dev.duckdb'}", verbosity=0)
    call_command("import_manifest", str(folder / "base" / "manifest.json"), "--connection", "warehouse", verbosity=0)
    call_command("declare", str(folder / "estate.yml"), verbosity=0)
