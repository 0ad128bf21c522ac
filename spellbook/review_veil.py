"""A review as one person may read it: what a restricted domain changes is counted and judged, and not named (D1)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from typing import Any, Final

from catalog.models import Asset, Review
from catalog.selectors import assets_by_id, assets_of_nodes
from spellbook.sight import Sight

KEPT: Final = ("resource_type", "action", "verdict", "direction", "reached", "readers", "people")
"""What is said of a change whose name is not."""
NAMELESS: Final = "It changes rows or columns in a way that is not shown to you: the domain is restricted."
HIDDEN: Final = "a restricted table"


class Veil:
    """Reviews for one pair of eyes."""

    def __init__(self, sight: Sight) -> None:
        self.sight = sight

    def document(self, review: Review) -> dict[str, Any]:
        """The document of a review, with the names and words gone that these eyes may not read."""
        whole: dict[str, Any] = dict(review.document)
        hidden = self._hidden(review) if self.sight.hidden_domains else {}
        if not hidden:
            return whole
        changes = whole.get("changes", ())
        secret = [one.get("unique_id") in hidden or one.get("was") in hidden for one in changes]
        whole["changes"] = [_nameless(one) if gone else one for one, gone in zip(changes, secret, strict=True)]
        told = {words for one, gone in zip(changes, secret, strict=True) if gone for words in one.get("reasons", ())}
        open_words = [
            one for one in whole.get("reasons", ()) if not any(words in one or one in words for words in told)
        ]
        whole["reasons"] = [*([NAMELESS] if told else []), *open_words]
        covered: dict[str, Any] = _Cover(hidden).over(whole)
        return covered

    def _hidden(self, review: Review) -> dict[str, str]:
        """The unique ids of the review whose assets these eyes may not name, each with its short name."""
        changes = review.document.get("changes", ())
        names = {one.get("was") or one["unique_id"]: one["name"] for one in changes}
        names |= {one["unique_id"]: one["name"] for one in changes}
        found = assets_of_nodes(sorted(names))
        told = assets_by_id([one["asset"] for one in review.subjects if one.get("asset") is not None])
        found |= {one["unique_id"]: told[one["asset"]] for one in review.subjects if one.get("asset") in told}
        own = {one: names.get(one, "") for one, asset in found.items() if not self.sight.sees(asset)}
        return own | self._around

    @cached_property
    def _around(self) -> dict[str, str]:
        """The names of all tables of the hidden domains, whole and short: a change may lead to any of them."""
        rows = Asset.objects.filter(domain__in=list(self.sight.hidden_domains)).values_list("name", flat=True)
        return {name: name.rpartition(".")[2] for name in rows}


class _Cover:
    """Puts words in place of names wherever they stand in a text."""

    def __init__(self, hidden: Mapping[str, str]) -> None:
        self.names = sorted({*hidden, *filter(None, hidden.values())}, key=len, reverse=True)

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        return re.compile(r"(?<!\w)(?:" + "|".join(map(re.escape, self.names)) + r")(?!\w)", re.IGNORECASE)

    def over(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.pattern.sub(HIDDEN, value)
        if isinstance(value, Mapping):
            return {key: self.over(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self.over(item) for item in value]
        return value


def _nameless(change: Mapping[str, Any]) -> dict[str, Any]:
    empty = {key: type(value)() if isinstance(value, list | str | dict) else None for key, value in change.items()}
    kept = {key: change[key] for key in KEPT if key in change}
    name = f"a {change.get('resource_type', 'table')} of a restricted domain"
    return {**empty, **kept, "name": name, "unique_id": "", "reasons": [NAMELESS]}
