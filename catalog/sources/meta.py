"""What stands under `meta.spellbook` of a node or an exposure, in the form of a declaration file. Pure.

On a node: `domain`, `definition`, `notes` (a list of sentences), the roles, and `consumers` (readers of it, as in a
declaration file; what they read is the node unless they say more). On an exposure: what a consumer of a file says.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from foundation.errors import BadInput

SECTIONS: Final = ("assets", "consumers", "notes")
LONGEST: Final = 500
"""Letters of the name of an asset in a declaration; what is read may have longer ones."""

Sections: TypeAlias = dict[str, list[Any]]


def sections(said: object, name: str, *, reader: bool) -> Sections:
    """`said` as sections for `catalog.sources.declared.parse`; `name` is what they call the node; `reader`: it is an
    exposure. BadInput, with the words after "meta.spellbook: ", for what has no such form."""
    if not isinstance(said, Mapping):
        raise BadInput("it is not a mapping")
    rest = {str(key): value for key, value in said.items()}
    texts, consumers = rest.pop("notes", None) or [], rest.pop("consumers", None) or []
    called = name[:LONGEST]
    notes = [{"asset": called, "text": text} for text in ([texts] if isinstance(texts, str) else _list(texts, "notes"))]
    if reader:
        return {"consumers": [{**rest, "asset": called}], "notes": notes}
    listed = [{"reads": name, **one} if isinstance(one, Mapping) else one for one in _list(consumers, "consumers")]
    return {"assets": [{**rest, "asset": called}], "consumers": listed, "notes": notes}


def _list(value: object, name: str) -> list[Any]:
    if not isinstance(value, list):
        raise BadInput(f"{name} is not a list")
    return value
