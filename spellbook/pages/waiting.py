"""What agents suggested and nobody answered yet, as a page shows it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from catalog.models import Asset
from catalog.selectors import assets_by_id
from catalog.services import suggestions
from catalog.services.access import answered_by
from catalog.services.suggestions import Suggestion
from spellbook.sight import Sight


def waiting(sight: Sight) -> list[dict[str, Any]]:
    """What waits for an answer; names in restricted domains are left out, since nobody can judge what is hidden."""
    rows = [one for one in suggestions.waiting() if sight.sees(one.asset)]
    mine = answered_by(sight.person, [one.asset for one in rows])
    sources = assets_by_id({pk for one in rows if (pk := (one.said.get("confirm") or {}).get("source_id"))})
    return [{"row": one, "mine": one.asset.pk in mine, "said": list(_words(one, sight, sources))} for one in rows]


def _words(one: Suggestion, sight: Sight, sources: Mapping[int, Asset]) -> Iterator[tuple[str, str]]:
    """What is suggested, for people: a name and a value each; of tables what their names mean."""
    for name, value in one.said.items():
        if name == "reads":
            yield "reads", ", ".join(map(sight.name, one.reads)) or "nothing that is known"
            if one.unmatched:
                yield "reads, but nobody knows it", ", ".join(one.unmatched)
        elif name == "confirm" and value:
            known = sources.get(value.get("source_id", 0))
            yield "confirm", f"metric {value['metric']}, source {sight.name(known) if known else value['source']}"
        else:
            yield name.replace("_", " "), _plain(value)


def _plain(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key.replace('_', ' ')} {one}" for key, one in value.items() if one)
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return str(value) if value not in ("", None) else "none"
