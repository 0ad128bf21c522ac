"""What one claim about an asset says otherwise than the one before it, in words. Pure; the words hold foreign text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

SHOWN = 12  # columns named one by one
CUT = 120  # letters of a value
_WORDS = {
    "checksum": "its code",
    "code_sha256": "its code",
    "depends_on": "what it depends on",
    "description": "its description",
    "materialized": "materialized",
    "original_file_path": "path",
    "patch_path": "file of its properties",
    "resource_type": "type",
    "relation": "table in the warehouse",
    "reads": "what it reads",
    "unmatched": "names that nobody knows",
}
_NEVER_SHOWN = frozenset({"checksum", "code_sha256", "description", "depends_on", "reads", "unmatched"})
"""What changed in them is too long, says nothing, or names assets that not everybody may read the names of (D1)."""


def differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> tuple[str, ...]:
    """One sentence for each attribute that differs; columns are named, other values shown from old to new.

    >>> differences({"materialized": "view", "checksum": "a"}, {"materialized": "table", "checksum": "b"})
    ('its code changed', 'materialized: view, now table')
    """
    return tuple(
        said
        for key in sorted(before.keys() | now.keys(), key=lambda key: (key not in _NEVER_SHOWN, key))
        if before.get(key) != now.get(key)
        for said in _said(key, before.get(key), now.get(key))
    )


def _said(key: str, before: Any, now: Any) -> Iterator[str]:
    word = _WORDS.get(key, key.replace("_", " "))
    if key == "columns" and _are_columns(before) and _are_columns(now):
        yield from _columns(before or (), now or ())
    elif key in _NEVER_SHOWN:
        yield f"{word} changed"
    elif _is_list(before) and _is_list(now):
        new = [f"with {_short(one)}" for one in now if one not in before]
        gone = [f"no more {_short(one)}" for one in before if one not in now]
        yield f"{word}: {', '.join([*new, *gone]) or 'in another order'}"
    else:
        yield f"{word}: {_short(before)}, now {_short(now)}"


def _columns(before: Sequence[Sequence[Any]], now: Sequence[Sequence[Any]]) -> Iterator[str]:
    old, new = {str(one[0]): one for one in before}, {str(one[0]): one for one in now}
    said: list[str] = [f"column {name} is gone" for name in old.keys() - new.keys()]
    said += [f"new column {name}" for name in new.keys() - old.keys()]
    for name in old.keys() & new.keys():
        if old[name][1:2] != new[name][1:2]:
            said.append(f"column {name}: {_short(old[name][1])}, now {_short(new[name][1])}")
        elif old[name] != new[name]:
            said.append(f"what is said of the column {name} changed")
    if not said:
        said.append("the order of its columns changed")
    yield from sorted(said)[:SHOWN]
    if len(said) > SHOWN:
        yield f"and {len(said) - SHOWN} more columns"


def _are_columns(value: Any) -> bool:
    return value is None or (isinstance(value, list) and all(isinstance(one, list) and one for one in value))


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _short(value: Any) -> str:
    if isinstance(value, Mapping):
        value = ".".join(str(one) for one in value.values() if one)
    if isinstance(value, list):
        value = ", ".join(str(one) for one in value)
    text = "nothing" if value in (None, "") else str(value)
    return text if len(text) <= CUT else text[:CUT] + "…"
