"""What agents suggested and nobody answered yet, as a page shows it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from django.db.models import Exists, OuterRef

from catalog.models import Asset, Consumer, Declaration, Definition, Note
from catalog.selectors import assets_by_id
from catalog.services import suggestions
from catalog.services.access import answered_by
from catalog.services.declarations import SUGGESTED
from catalog.services.suggestions import Suggestion
from spellbook.sight import Sight


def waiting(sight: Sight) -> list[dict[str, Any]]:
    """What waits for an answer, first what this person may answer, then the oldest first.

    Names in restricted domains are left out, since nobody can judge what is hidden.
    """
    rows = [one for one in suggestions.waiting() if sight.sees(one.asset)]
    mine = answered_by(sight.person, [one.asset for one in rows])
    sources = assets_by_id({pk for one in rows if (pk := (one.said.get("confirm") or {}).get("source_id"))})
    found = [{"row": one, "mine": one.asset.pk in mine, "said": list(_words(one, sight, sources))} for one in rows]
    return sorted(found, key=lambda one: not one["mine"])


def answerable(sight: Sight) -> int:
    """How many suggestions wait for the answer of this person: those that `waiting` calls theirs, counted without their
    texts. A handful of queries, however many there are."""
    said = Declaration.objects.filter(source__key=SUGGESTED, asset=OuterRef("asset"))
    rows = [
        Consumer.objects.filter(Exists(said), status="suggested"),
        Note.objects.filter(status="suggested"),
        Definition.objects.filter(status="suggested"),
    ]
    number = Counter(pk for each in rows for pk in each.order_by().values_list("asset_id", flat=True))
    found = [one for one in assets_by_id(set(number)).values() if sight.sees(one)]
    return sum(number[pk] for pk in answered_by(sight.person, found))


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
