"""A test of a manifest: what it asserts, and which node it judges."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from catalog.sources.artifact import mapping, text
from catalog.sources.lazy import lazy
from catalog.sources.manifest_entry import Entry

_REF = re.compile(r"""(?:ref|source)\(\s*(?P<arguments>(?:['"][^'"]*['"]\s*,?\s*)+)""")


class TestNode(Entry):
    """A dbt test: `name` is not_null, unique, ... (a singular test: its own name), `attached` the node it judges."""

    __test__ = False  # pytest would collect the name

    @lazy
    def _metadata(self) -> Mapping[str, Any]:
        return mapping(self.raw.get("test_metadata"))

    @lazy
    def _arguments(self) -> Mapping[str, Any]:
        return mapping(self._metadata.get("kwargs"))

    @lazy
    def name(self) -> str:
        return text(self._metadata.get("name")) or text(self.raw.get("name")) or self.unique_id

    @lazy
    def namespace(self) -> str:
        return text(self._metadata.get("namespace"))

    @lazy
    def generic(self) -> bool:
        return bool(self._metadata)

    @lazy
    def column(self) -> str | None:
        written = text(self.raw.get("column_name")) or text(self._arguments.get("column_name"))
        return written.strip('"`[]') or None

    @lazy
    def severity(self) -> str:
        return (text(self.config.get("severity")) or "error").lower()

    @lazy
    def attached(self) -> str | None:
        """None where an old file leaves several candidates."""
        return text(self.raw.get("attached_node")) or _attached(self._arguments, self.depends_on)


def _attached(arguments: Mapping[str, Any], parents: tuple[str, ...]) -> str | None:
    if len(parents) == 1:
        return parents[0]
    found = _REF.search(text(arguments.get("model"))[:1000])
    if found is None:
        return None
    tail = re.findall(r"""['"]([^'"]*)['"]""", found["arguments"])
    matches = [
        parent for parent in parents if parent.split(".")[-len(tail) :] == tail or parent.endswith("." + tail[-1])
    ]
    return matches[0] if len(matches) == 1 else None
