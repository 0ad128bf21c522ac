"""What is wrong with a declaration, in the words of the form that a person filled in."""

from __future__ import annotations

import re
from typing import Final

from foundation.errors import SpellbookError

LABELS: Final = {
    "asset": "Name", "name": "Name", "kind": "Kind", "reads": "Reads", "when": "When it reads",
    "schedule": "When it reads", "cron": "Cron line", "zone": "Time zone",
    "lead_minutes": "Minutes before the read", "lead_seconds": "Minutes before the read", "tool": "Tool",
    "mode": "Mode", "delete_rule": "What it deletes in the tool", "consequence": "What follows from a wrong table",
    "contact": "Contact", "domain": "Domain", "metric": "Metric", "source": "Of the table", "owner": "Owner",
    "operator": "Operator", "business_owner": "Business owner", "on_call": "On call", "tool_admin": "Tool admin",
}  # fmt: skip
"""A key of a declaration or field of a form, and what people read beside that field."""
_PLACE: Final = re.compile(r"Entry \d+ of \w+")
_KEY: Final = re.compile(r"(\w+)(?= (?:is|are|gives) )")
_PHRASES: Final = {
    " nor {schedule: name} or {team: name}": " nor the name of a schedule or team",
    "reads is neither a text nor a list of texts": "reads is a name on each line, and one of these is too long",
}


def in_words_of_the_form(error: SpellbookError, name: str) -> str:
    """The sentence of a refusal with labels where the declaration has its keys; `name` is what the entry is called.

    "Entry 1 of consumers (Board), schedule: There is no time zone 'x'." reads "When it reads: There is no time zone
    'x'.", and "Entry 1 of consumers: asset is not a text." reads "Name: it is not a text.".
    """
    text = str(error)
    for said, better in _PHRASES.items():
        text = text.replace(said, better)
    place = _PLACE.match(text)
    if place is None:
        return text
    path, colon, why = text[place.end() :].removeprefix(f" ({name})").partition(": ")
    key = _KEY.match(why)
    if not colon:
        return text
    if key and key[1] in LABELS:
        return f"{LABELS[key[1]]}: it{why[key.end() :]}"
    label = LABELS.get(path.strip(", "), "")
    if label and key and key[1] in ("team", "schedule"):  # it has no field of its own
        return f"{label}: a name{why[key.end() :]}"
    return f"{label}: {why}" if label else why[:1].upper() + why[1:]
