"""One item of a declaration: what it may hold, and the words in which it is refused. No database."""

from __future__ import annotations

from typing import Any

import pytest

from catalog.sources.declared import parse
from foundation.errors import BadInput

HIDDEN = ["a\u200bb", "a\u202eb", "a\x07b", "a\nb", "\u2066a", "a\u00adb", "a\ufeffb"]
PLACES: dict[str, tuple[str, Any]] = {
    "asset": ("consumers", lambda text: {"asset": text}),
    "namespace": ("consumers", lambda text: {"asset": "Copy", "namespace": text}),
    "tool": ("consumers", lambda text: {"asset": "Copy", "tool": text}),
    "reads": ("consumers", lambda text: {"asset": "Copy", "reads": ["main.orders", text]}),
    "contact": ("consumers", lambda text: {"asset": "Copy", "contact": text}),
    "source": ("consumers", lambda text: {"asset": "Copy", "confirm": {"metric": "m", "source": text}}),
    "owner": ("assets", lambda text: {"asset": "main.orders", "owner": f"{text}@example.com"}),
    "team": ("assets", lambda text: {"asset": "main.orders", "owner": {"team": text}}),
    "domain": ("assets", lambda text: {"asset": "main.orders", "domain": text}),
    "name": ("domains", lambda text: {"name": text}),
}


@pytest.mark.parametrize("field", PLACES)
@pytest.mark.parametrize("text", HIDDEN)
def test_a_name_holds_nothing_that_nobody_sees(field: str, text: str) -> None:
    section, entry = PLACES[field]
    with pytest.raises(BadInput, match=f"{field} holds characters that cannot be printed") as refusal:
        parse({section: [entry(text)]})
    assert str(refusal.value).isprintable()


def test_texts_have_lines_and_names_letters_of_every_language() -> None:
    said = {"asset": "Отчёт — Umsätze 日本 🚀", "consequence": "One line.\nAnd another.", "definition": "a\n\tb"}
    document = parse({"consumers": [said], "notes": [{"asset": "main.orders", "text": "a\nb"}]})
    assert document.consumers[0].name == said["asset"]
    assert document.consumers[0].said["definition"] == "a\n\tb"


@pytest.mark.parametrize("schedule", [{"zone": "Mars/Olympus"}, {"zone": "Mars/Olympus", "triggered_by_api": True}])
def test_a_zone_is_tried_without_a_cron_line_too(schedule: dict[str, Any]) -> None:
    with pytest.raises(BadInput, match="There is no time zone 'Mars/Olympus'"):
        parse({"consumers": [{"asset": "Copy", "schedule": schedule}]})


def test_a_zone_alone_and_an_empty_schedule_are_kept() -> None:
    for schedule, zone in (({"zone": "Europe/Berlin"}, "Europe/Berlin"), ({}, "UTC"), (None, "UTC")):
        (entry,) = parse({"consumers": [{"asset": "Copy", "schedule": schedule}]}).consumers
        assert entry.said["schedule"] == {"cron": "", "zone": zone, "triggered_by_api": False}


def test_the_columns_of_a_reader_are_read_and_stand_among_what_no_table_keeps() -> None:
    document = parse({"consumers": [{"asset": "A", "columns": "id"}, {"asset": "B", "columns": []}, {"asset": "C"}]})
    assert [entry.columns for entry in document.consumers] == [("id",), None, None]
    assert document.ignored == ("consumers.columns",)
    with pytest.raises(BadInput, match="columns is neither a text nor a list of texts"):
        parse({"consumers": [{"asset": "A", "columns": {"id": 1}}]})


def test_what_cannot_be_used_is_told_and_left_out_where_somebody_hears_it() -> None:
    told: list[str] = []
    document = {"consumers": [{"asset": "A", "mode": "odd"}, 7, {"asset": "B", "kind": "dashboard"}], "notes": "x"}
    found = parse(document, told=told.append)
    assert [entry.name for entry in found.consumers] == ["B"]
    assert [sentence.partition(":")[0] for sentence in told] == [
        "Entry 2 of consumers is not a mapping.", "notes is not a list.", "Entry 1 of consumers (A)",
    ]  # fmt: skip
    with pytest.raises(BadInput, match="Entry 2 of consumers is not a mapping"):
        parse(document)
