"""What people call a reader that stands in the graph under the id that dbt gives an exposure."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Final

from catalog.reader_identity import exposures

EXPOSURE: Final = "exposure."
_ID: Final = re.compile(r"\bexposure\.[\w.]*\w")


def exposure_names(hidden: Collection[int] = ()) -> dict[str, str]:
    """Exposures in the graph under dbt's id, each with its label, else its name; one query whatever is asked.

    A reader that is declared by that label or name is the same asset, so this is its declared name too. `hidden`: ids
    of domains whose readers are left out. An id that two projects use with different labels is left out as well.
    """
    found: dict[str, set[str]] = {}
    told = exposures().filter(asset__name__startswith=EXPOSURE).exclude(asset__domain__in=list(hidden)).order_by("pk")
    for pk, label, name in told.values_list("asset__name", "attributes__label", "attributes__name"):
        found.setdefault(pk, set()).add(str(label or name or "").strip() or pk)
    return {pk: names.pop() for pk, names in found.items() if len(names) == 1}


def named_in(text: str, names: Mapping[str, str]) -> str:
    """`text` with each exposure's id in it said as `names` has it: "asks for exposure.shop.board" says the board."""
    return _ID.sub(lambda one: names.get(one[0], one[0]), text)
