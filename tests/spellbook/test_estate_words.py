"""The product knows nothing of the estates that it is shown on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
WORDS = ROOT / "tests" / "estate_words.txt"
PRODUCT = ("foundation", "catalog", "incidents", "approvals", "spellbook", "templates", "static")
ESTATES = ("examples/mixpanel_night", "tests/estates/fanout", "tests/estates/empty_load")
EVERYWHERE = {"admin@example.com"}


def words() -> list[str]:
    lines = (line.strip() for line in WORDS.read_text(encoding="utf-8").splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def pattern() -> re.Pattern[str]:
    either = "|".join(re.escape(word) for word in sorted(words(), key=len, reverse=True))
    return re.compile(rf"(?<!\w)(?:{either})(?!\w)", re.IGNORECASE)


def readable(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return ""


def product_files() -> Iterator[Path]:
    for package in PRODUCT:
        files = (path for path in (ROOT / package).rglob("*") if path.is_file() and "__pycache__" not in path.parts)
        yield from files


def declared(estate: Path) -> set[str]:
    document = yaml.safe_load((estate / "estate.yml").read_text(encoding="utf-8"))
    named = {row["asset"].removeprefix("analytics.") for row in document["assets"] + document["consumers"]}
    tools = {row["tool"] for row in document["consumers"] if "tool" in row}
    return named | tools | {person["email"] for person in document["people"]} - EVERYWHERE


def test_the_product_holds_no_word_of_an_estate() -> None:
    forbidden = pattern()
    hits = {str(path.relative_to(ROOT)): forbidden.findall(readable(path)) for path in product_files()}
    assert {path: found for path, found in hits.items() if found} == {}


@pytest.mark.parametrize("estate", ESTATES)
def test_every_name_of_an_estate_is_on_the_list(estate: str) -> None:
    names = declared(ROOT / estate) | {path.stem for path in (ROOT / estate / "project").rglob("*.sql")}
    listed = pattern()
    assert [name for name in sorted(names) if not listed.search(name)] == []


def test_the_search_would_find_a_word_in_code_and_in_prose() -> None:
    samples = ("where not a.is_internal", "Plan upgraded rose", '"analytics.fct_account_events"', "3,912 of them")
    assert all(pattern().search(sample) for sample in samples)
    assert not pattern().search("an is_internally kept column with 39120 rows")
