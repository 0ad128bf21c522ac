"""Fields as two writers left them: what says the same though another version of dbt wrote it in other words."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from catalog.sources.manifest_types import Manifest, Node, TestNode

Place = tuple[str | None, str | None]
_RENDERED_WITHOUT_TARGET = frozenset({
    "materialized", "unique_key", "incremental_strategy", "on_schema_change", "enabled", "persist_docs", "full_refresh",
})  # fmt: skip
"""Where a writer leaves out the configuration as written, only these are compared: targets do not change them."""
_NUMBERS = re.compile(r"(\d+)\.(\d+)")
_METRICS_AGAIN = (1, 6)
"""dbt 1.6 replaced the definition of metrics by another; the two cannot be compared."""


@dataclass(frozen=True, slots=True)
class Terms:
    """On what terms two manifests are compared.

    `same_dbt`: the same minor version wrote both, so that digests and configuration as written mean the same.
    `same_metrics`: both know the same kind of metrics. `moved`: pairs of (database, schema) of builds whose target
    moved.
    """

    same_dbt: bool = True
    same_metrics: bool = True
    moved: frozenset[tuple[Place, Place]] = frozenset()

    def explains_place(self, base: Node, head: Node) -> bool:
        """Whether the move of the target explains that a source is elsewhere."""
        return ((base.database, base.schema), (head.database, head.schema)) in self.moved


def terms(base: Manifest, head: Manifest) -> Terms:
    """The terms of these two files."""
    before, after = _minor(base.dbt_version), _minor(head.dbt_version)
    return Terms(
        same_dbt=before == after and base.schema_version == head.schema_version,
        same_metrics=before is None or after is None or (before < _METRICS_AGAIN) == (after < _METRICS_AGAIN),
        moved=frozenset(_moved(base, head)),
    )


def same_config(
    base: Node | TestNode,
    head: Node | TestNode,
    on: Terms,
    *,
    but: Collection[str] = (),
    only: Collection[str] | None = None,
) -> bool:
    """Whether both say the same in their configuration as written, all of it `but` some keys or `only` some.

    Between two versions of dbt a difference counts when the configuration as it became differs as well: newer ones
    keep Jinja and keys that older ones did not write.
    """
    before, after = base.unrendered_config, head.unrendered_config
    if before is None or after is None:
        compared = _RENDERED_WITHOUT_TARGET if only is None else only
        return same_keys(base.config, head.config, [key for key in compared if on.same_dbt or _both(key, base, head)])
    if before == after:
        return True
    wanted = only if only is not None else [key for key in {**before, **after} if key not in but]
    differing = [key for key in wanted if (key in before) != (key in after) or before.get(key) != after.get(key)]
    if on.same_dbt:
        return not differing
    return same_keys(base.config, head.config, [key.replace("-", "_") for key in differing if _both(key, base, head)])


def _both(key: str, base: Node | TestNode, head: Node | TestNode) -> bool:
    """Whether both versions of dbt know the setting at all."""
    spellings = {key, key.replace("-", "_"), key.replace("_", "-")}
    return all(spellings & node.config.keys() for node in (base, head))


def same_keys(before: Mapping[str, Any], after: Mapping[str, Any], keys: Iterable[str]) -> bool:
    """Whether both have the same under each of `keys`; an empty field and none are the same."""
    for key in keys:
        first, second = before.get(key), after.get(key)
        if first != second and plain(first) != plain(second):
            return False
    return True


def plain(value: Any) -> Any:
    """`value` without empty fields, which one dbt version writes and another leaves out."""
    if isinstance(value, dict):
        kept = {key: plain(item) for key, item in value.items()}
        return {key: item for key, item in kept.items() if item not in (None, {}, [], "")} or None
    if isinstance(value, list):
        return [plain(item) for item in value] or None
    return None if value == "" else value


def _minor(version: str) -> tuple[int, int] | None:
    found = _NUMBERS.match(version)
    return (int(found[1]), int(found[2])) if found else None


def _moved(base: Manifest, head: Manifest) -> Iterable[tuple[Place, Place]]:
    """Where the target moved: places of models and seeds that are configured the same and stand elsewhere."""
    for key, before in base.nodes.items():
        after = head.nodes.get(key)
        if after is None or before.resource_type not in ("model", "seed"):
            continue
        first, second = before.raw, after.raw
        if first.get("schema") == second.get("schema") and first.get("database") == second.get("database"):
            continue
        written = [(node.unrendered_config or {}).get(name) for node in (before, after) for name in _PLACE]
        if written[:2] == written[2:]:
            yield (before.database, before.schema), (after.database, after.schema)


_PLACE = ("database", "schema")
_READ = (
    "raw_code", "raw_sql", "checksum", "config", "unrendered_config", "description", "columns", "fqn", "depends_on",
    "contract", "constraints", "latest_version", "access", "deprecation_date", "alias", "name", "identifier",
    "unrendered_database", "unrendered_schema", "quoting", "freshness", "loaded_at_field", "external", "owner", "url",
    "label", "maturity", "type", "type_params", "filter", "model", "calculation_method", "expression", "sql",
    "timestamp", "time_grains", "dimensions", "filters", "window", "defaults", "entities", "measures",
    "primary_entity", "group", "tags", "query_params", "exports", "arguments", "returns", "given", "expect",
    "overrides",
)  # fmt: skip
"""The fields that the comparison of two entries reads, but for the place of a source."""


def as_read(base: Node | TestNode, head: Node | TestNode) -> bool:
    """Whether all that a comparison reads is equal, so that none is needed: the quick answer for most entries."""
    before, after = base.raw, head.raw
    if before == after:
        return True
    for key in _READ:
        if before.get(key) != after.get(key):
            return False
    if base.unique_id.startswith("source.") and (before.get("database"), before.get("schema")) != (
        after.get("database"),
        after.get("schema"),
    ):
        return False
    return base.depends_on == head.depends_on
