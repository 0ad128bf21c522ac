"""A plan's change against the diff of a pull request, file by file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from approvals.models import Step
from catalog.code_hosts import local_git
from catalog.code_hosts.edits import Edit, FileEdits, applied, edits_by_file, is_content
from foundation.errors import BadInput, SpellbookError

_NEW: Final = "new"
LONGEST: Final = 200_000
"""Bytes of a file whose text is compared; of longer ones the edits are compared as they stand."""


@dataclass(slots=True)
class Compared:
    """What is `lacking` of the approved change and what is there `more`, in words, by file; `shared`: whether any edit
    of it is there. `base_known` is False where the commit that the plan was drafted on could not be read."""

    lacking: list[str] = field(default_factory=list)
    more: list[str] = field(default_factory=list)
    shared: bool = False
    base_known: bool = True


def compare(step: Step, found: Mapping[str, FileEdits], path: str) -> Compared:
    """Compare the change of `step` with the edits of a pull request; `path` is a clone on this machine, "" for none."""
    result = Compared()
    try:
        approved = edits_by_file(str(step.params.get("patch", "")))
    except BadInput:  # a plan by an agent may hold anything
        result.lacking.append("the change of the plan is no patch")
        return result
    for name, wanted in approved.items():
        there = found.get(name)
        if there is None:
            result.lacking.append(f"{name} is not changed")
            continue
        base = None if _NEW in wanted.traits else _base(path, str(step.params.get("base", "")), name)
        _compare_file(wanted, there, base, result)
    result.more += [name for name in found if name not in approved]
    return result


def _compare_file(wanted: FileEdits, there: FileEdits, base: bytes | None, result: Compared) -> None:
    name, old = wanted.path, _text(base)
    if _NEW not in wanted.traits:
        result.base_known = result.base_known and base is not None
    if base is not None and there.old_id and not is_content(there.old_id, base):
        result.lacking.append(f"{name} has changed since the plan was drafted")
        result.shared = True  # nobody can tell
        return
    asked, made = (_as_one_tool(old, one) for one in (wanted, there))
    missing = [one for one in asked if one not in made]
    result.shared = result.shared or len(missing) < len(asked)
    if set(wanted.traits) - set(there.traits) or missing:
        places = f" in {len(missing):,} of {len(asked):,} places" if missing else ""
        result.lacking.append(f"{name} is changed in another way{places}")
    elif len(made) > len(asked) or set(there.traits) - set(wanted.traits):
        result.more.append(f"other places of {name}")


def _as_one_tool(old: str | None, file: FileEdits) -> tuple[Edit, ...]:
    """The edits as one and the same tool finds them: git and others show the same change of a file at different lines
    where lines repeat. As they are where the old text is not known, too long, or does not fit."""
    if old is None or file.traits:
        return file.edits
    try:
        patch = local_git.unified_diff({file.path: old}, {file.path: applied(old, file.edits)})
    except BadInput:
        return file.edits
    return edits_by_file(patch)[file.path].edits if patch else ()


def _text(base: bytes | None) -> str | None:
    if base is None or len(base) > LONGEST:
        return None
    try:
        return base.decode()
    except UnicodeDecodeError:
        return None


def _base(path: str, commit: str, name: str) -> bytes | None:
    """The file as the plan was drafted on it; None where that cannot be read here."""
    if not path:
        return None
    try:
        return local_git.show(path, commit, name)
    except SpellbookError:
        return None
