"""Which nodes are changed because a macro that they call, or that one of these calls, is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from catalog.sources.manifest_entry import package_of
from catalog.sources.manifest_types import Macro, Manifest

_UNDER = {"redshift": "postgres", "databricks": "spark", "synapse": "fabric", "fabricspark": "spark"}
"""Adapters that stand on another one, whose macros dbt brings along."""
_HEADER = re.compile(r"\{%-?\s*(?:macro|test|materialization|data_test)\s+([A-Za-z_]\w*)")


class ChangedMacros:
    """The macros whose text differs between two manifests, and who calls them.

    What dbt and its adapter bring along (`of_dbt`) changes with their version and not with the project: those macros
    are told apart and touch nothing. Without macros on either side nothing is known (`known` is False).
    """

    def __init__(self, base: Manifest, head: Manifest) -> None:
        self.known = bool(base.macros) and bool(head.macros)
        own = _packages_of_dbt(base) | _packages_of_dbt(head)
        before, after = base.macros if self.known else {}, head.macros if self.known else {}
        changed = [*(after.keys() - before.keys()), *(before.keys() - after.keys())]
        changed += [key for key in before.keys() & after.keys() if before[key].sql != after[key].sql]
        self.of_dbt = sorted(key for key in changed if package_of(key) in own)
        self.all = sorted(set(changed) - set(self.of_dbt))
        self.added = [key for key in self.all if key not in before]
        self.removed = [key for key in self.all if key not in after]
        self.modified = [key for key in self.all if key in before and key in after]
        self.touched = _callers(after, set(self.all))

    def touch(self, macros: Iterable[str]) -> bool:
        """Whether any of `macros` changed, directly or through what it calls."""
        return any(macro in self.touched for macro in macros)


def without_name(macro: Macro) -> str:
    """The macro's text but for its own name, by which a renamed one is known again."""
    found = _HEADER.search(macro.sql)
    return macro.sql[: found.start(1)] + macro.sql[found.end(1) :] if found else macro.sql


def _packages_of_dbt(manifest: Manifest) -> set[str]:
    names = {manifest.adapter, _UNDER.get(manifest.adapter, manifest.adapter)}
    return {"dbt", *(f"dbt_{name}" for name in names if name)}


def _callers(head: Mapping[str, Macro], changed: set[str]) -> set[str]:
    if not changed:
        return changed
    callers: dict[str, list[str]] = {}
    for macro in head.values():
        for called in macro.macros:
            callers.setdefault(called, []).append(macro.unique_id)
    touched, waiting = set(changed), list(changed)
    while waiting:
        above = [caller for caller in callers.get(waiting.pop(), ()) if caller not in touched]
        touched.update(above)
        waiting.extend(above)
    return touched
