"""Which nodes are changed because a macro that they call, or that one of these calls, is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from catalog.sources.manifest_types import Macro


class ChangedMacros:
    """The macros whose text differs between two manifests, and who calls them."""

    def __init__(self, base: Mapping[str, Macro], head: Mapping[str, Macro]) -> None:
        self.head = head
        both = base.keys() & head.keys()
        self.added = sorted(head.keys() - base.keys())
        self.removed = sorted(base.keys() - head.keys())
        self.modified = sorted(key for key in both if base[key].sql != head[key].sql)
        self._touched = self._callers({*self.added, *self.removed, *self.modified})

    def touch(self, macros: Iterable[str]) -> bool:
        """Whether any of `macros` changed, directly or through what it calls."""
        return any(macro in self._touched for macro in macros)

    def _callers(self, changed: set[str]) -> set[str]:
        callers: dict[str, list[str]] = {}
        for macro in self.head.values():
            for called in macro.macros:
                callers.setdefault(called, []).append(macro.unique_id)
        touched, waiting = set(changed), list(changed)
        while waiting:
            above = [caller for caller in callers.get(waiting.pop(), ()) if caller not in touched]
            touched.update(above)
            waiting.extend(above)
        return touched
