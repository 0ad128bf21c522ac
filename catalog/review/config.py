"""What of a node's configuration is another one."""

from __future__ import annotations

from catalog.diff.written import plain
from catalog.sources.manifest_types import Node


def config_changes(before: Node, after: Node) -> tuple[str, ...]:
    """The keys of the configuration, as written where both files have that, that differ; in order."""
    first, second = before.unrendered_config, after.unrendered_config
    if first is None or second is None or first == second:
        first, second = before.config, after.config
    keys = [key for key in {**first, **second} if plain(first.get(key)) != plain(second.get(key))]
    return tuple(sorted({key.lstrip("+").replace("-", "_") for key in keys}))
