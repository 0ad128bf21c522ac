"""Whether one node says the same in two manifests: dbt's own rules for `state:modified`, named by kind of change.

Source: the documented comparison of dbt's `state:modified` sub-selectors (body, configs, relation, contract, macros,
persisted descriptions). Configuration is compared as written, before rendering, so that another target is no change.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from catalog.sources.artifact import mapping
from catalog.sources.manifest_types import Node, TestNode

_NAMING = ("database", "schema", "alias")
_NOT_COMPARED = frozenset({*_NAMING, "tags", "group"})
_TEST_MODIFIERS = (
    "severity", "where", "limit", "fail_calc", "warn_if", "error_if", "store_failures", "store_failures_as",
)  # fmt: skip
_FOR_RENDERED = (
    "materialized",
    "unique_key",
    "incremental_strategy",
    "on_schema_change",
    "enabled",
    "persist_docs",
    "full_refresh",
)
"""Where a writer leaves out the unrendered configuration, only these are compared: targets do not change them."""

_FACETS: Mapping[str, Mapping[str, str]] = {
    "source": {"quoting": "relation", "freshness": "freshness", "loaded_at_field": "freshness", "external": "config"},
    "exposure": {"label": "description", "maturity": "config", "type": "config"},
    "metric": {"label": "description", "type": "body", "type_params": "body", "filter": "body"},
    "semantic_model": {
        "model": "body", "defaults": "body", "entities": "body", "dimensions": "body", "measures": "body",
        "primary_entity": "body",
    },
    "saved_query": {"query_params": "body", "exports": "body", "label": "description"},
    "function": {"arguments": "body", "returns": "body"},
    "unit_test": {"checksum": "body"},
    "model": {"latest_version": "version", "access": "access", "deprecation_date": "access"},
}  # fmt: skip
_COMPILED = frozenset({"model", "snapshot", "analysis", "function", "operation"})
_DECLARED = frozenset({"exposure", "metric"})


def node_changes(base: Node, head: Node, same_place: bool) -> list[str]:
    """The kinds of change from `base` to `head`, in a fixed order; empty when nothing changed.

    `same_place` says that the databases and schemas of both builds' targets explain a difference in the place of a
    source. Kinds: body, seed, config, relation, contract, description, columns, fqn, owner, depends_on, ...
    """
    found = dict.fromkeys(_changes(base, head, same_place))
    return list(found)


def test_changes(base: TestNode, head: TestNode) -> list[str]:
    """The kinds of change of a test: its own text (a singular test), its modifiers, its place."""
    found = []
    if not head.generic and base.raw_code != head.raw_code:
        found.append("body")
    modifiers = (base.unrendered_config, head.unrendered_config)
    if None not in modifiers and not _same(*modifiers, _TEST_MODIFIERS):
        found.append("config")
    if base.fqn != head.fqn:
        found.append("fqn")
    return found


def _changes(base: Node, head: Node, same_place: bool) -> Iterator[str]:
    kind = head.resource_type
    if kind == "seed" and base.checksum != head.checksum:
        yield "seed"
    if kind in _COMPILED and base.raw_code != head.raw_code:
        yield "body"
    if kind not in ("source", "exposure") and not _same_config(base, head):
        yield "config"
    if not _same_place(base, head, same_place):
        yield "relation"
    if kind == "model":
        yield from _contract(base, head)
    yield from _descriptions(base, head)
    if base.fqn != head.fqn:
        yield "fqn"
    yield from _facets(base, head)


def _facets(base: Node, head: Node) -> Iterator[str]:
    """What only some kinds of nodes have."""
    if head.resource_type == "exposure":
        yield from _exposure(base, head)
    for facet, word in _FACETS.get(head.resource_type, {}).items():
        if _plain(base.facets.get(facet)) != _plain(head.facets.get(facet)):
            yield word


def _same_config(base: Node, head: Node) -> bool:
    if base.unrendered_config is None or head.unrendered_config is None:
        return _same(base.config, head.config, _FOR_RENDERED)
    keys = [key for key in {**base.unrendered_config, **head.unrendered_config} if key not in _NOT_COMPARED]
    return _same(base.unrendered_config, head.unrendered_config, keys)


def _same_place(base: Node, head: Node, same_place: bool) -> bool:
    if head.resource_type == "source":
        return base.identifier == head.identifier and (_same_written(base, head) or same_place)
    if base.unrendered_config is None or head.unrendered_config is None:
        return base.identifier == head.identifier
    return _same(base.unrendered_config, head.unrendered_config, _NAMING)


def _same_written(base: Node, head: Node) -> bool:
    """Whether a source's database and schema are written the same (are the same, where the file keeps only those)."""
    pairs = (("unrendered_database", base.database, head.database), ("unrendered_schema", base.schema, head.schema))
    for key, before, after in pairs:
        written = base.facets.get(key), head.facets.get(key)
        same = written[0] == written[1] if all(written) else before == after
        if not same:
            return False
    return True


def _contract(base: Node, head: Node) -> Iterator[str]:
    before, after = mapping(base.facets.get("contract")), mapping(head.facets.get("contract"))
    enforced = bool(before.get("enforced")), bool(after.get("enforced"))
    if enforced[0] != enforced[1] or (all(enforced) and before.get("checksum") != after.get("checksum")):
        yield "contract"
        if _columns(base) != _columns(head):
            yield "columns"


def _descriptions(base: Node, head: Node) -> Iterator[str]:
    """A description is a change where dbt writes it into the warehouse, or where it is all that the node has."""
    persisted = mapping(head.config.get("persist_docs"))
    everywhere = head.resource_type in _DECLARED or head.resource_type == "semantic_model"
    if base.description != head.description and (persisted.get("relation") or everywhere):
        yield "description"
    if persisted.get("columns") and _column_descriptions(base) != _column_descriptions(head):
        yield "description"


def _exposure(base: Node, head: Node) -> Iterator[str]:
    if base.owner != head.owner:
        yield "owner"
    if base.url != head.url:
        yield "url"
    if set(base.depends_on) != set(head.depends_on):
        yield "depends_on"


def _columns(node: Node) -> dict[str, tuple[str | None, tuple[str, ...]]]:
    return {column.name: (column.data_type, column.constraints) for column in node.columns}


def _column_descriptions(node: Node) -> dict[str, str]:
    return {column.name: column.description for column in node.columns}


def _same(before: Mapping[str, Any] | None, after: Mapping[str, Any] | None, keys: Any) -> bool:
    first, second = before or {}, after or {}
    return all((key in first) == (key in second) and first.get(key) == second.get(key) for key in keys)


def _plain(value: Any) -> Any:
    """`value` without empty fields, which one dbt version writes and another leaves out."""
    if isinstance(value, dict):
        kept = {key: _plain(item) for key, item in value.items()}
        return {key: item for key, item in kept.items() if item not in (None, {}, [], "")} or None
    return [_plain(item) for item in value] or None if isinstance(value, list) else value
