"""Whether one entry says the same in two manifests: dbt's own rules for `state:modified`, named by kind of change.

Source: what dbt compares for `state:modified` (its documented sub-selectors body, configs, relation, contract, macros
and persisted descriptions, and `same_contents` of each kind of node). Configuration is compared as written, before
rendering, so that another target is no change. dbt compares no formula of a metric; that change is named here too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from catalog.diff.written import Terms, plain, same_config, same_keys
from catalog.sources.artifact import mapping, sequence
from catalog.sources.manifest_types import Node, TestNode

Found = Iterator[str]
_NAMING = ("database", "schema", "alias")
_TEST_MODIFIERS = frozenset({
    "severity", "where", "limit", "fail_calc", "warn_if", "error_if", "store_failures", "store_failures_as",
})  # fmt: skip
_FACETS: Mapping[str, Mapping[str, str]] = {
    "source": {"quoting": "quoting", "freshness": "freshness", "loaded_at_field": "freshness", "external": "config"},
    "exposure": {
        "type": "type", "maturity": "maturity", "owner": "owner", "url": "url", "description": "description",
        "label": "description",
    },
    "metric": {
        "type": "body", "description": "description", "label": "description",
        "model": "body", "calculation_method": "body", "expression": "body", "sql": "body", "timestamp": "body",
        "time_grains": "body", "dimensions": "body", "filters": "body", "window": "body",
        "type_params": "formula", "filter": "formula",
    },
    "semantic_model": {
        "model": "body", "defaults": "body", "entities": "body", "dimensions": "body", "measures": "body",
        "primary_entity": "body", "description": "description", "config": "config", "group": "config",
    },
    "saved_query": {
        "description": "description", "label": "description", "config": "config", "group": "config", "tags": "config",
    },
    "function": {"arguments": "body", "returns": "body"},
}  # fmt: skip
_UNIT_TEST = ("model", "given", "expect", "overrides")
_FILES = frozenset({"model", "seed", "snapshot", "analysis", "operation", "function", "sql_operation", "rpc", "sql"})


def node_changes(base: Node, head: Node, terms: Terms) -> tuple[str, ...]:
    """The kinds of change from `base` to `head`, each once and in a fixed order; empty when nothing changed.

    Kinds: body, seed, config, relation, contract, columns, description, fqn, version, access, freshness, quoting,
    type, maturity, owner, url, depends_on, and formula (of a metric or saved query), which dbt does not compare.
    """
    kind = head.resource_type
    look = _file if kind in _FILES else _LOOKS.get(kind, _facets)
    return tuple(dict.fromkeys(look(base, head, terms)))


def test_changes(base: TestNode, head: TestNode, terms: Terms) -> tuple[str, ...]:
    """The kinds of change of a test: its own text and relation (a singular test), its modifiers, its place."""
    found = []
    if not head.generic and base.raw_code != head.raw_code:
        found.append("body")
    if not same_config(base, head, terms, only=_TEST_MODIFIERS):
        found.append("config")
    if not head.generic and not _same_naming(base, head):
        found.append("relation")
    if base.fqn != head.fqn:
        found.append("fqn")
    return tuple(found)


def _file(base: Node, head: Node, terms: Terms) -> Found:
    """What has a file of its own: models, seeds, snapshots, analyses, hooks of the project, functions."""
    if head.resource_type == "seed" and base.checksum != head.checksum:
        yield "seed"
    if head.resource_type != "seed" and base.raw_code != head.raw_code:
        yield "body"
    if not same_config(base, head, terms, but=_NOT_CONFIG):
        yield "config"
    if not _same_naming(base, head):
        yield "relation"
    if head.resource_type == "model":
        yield from _contract(base, head, terms)
    yield from _persisted(base, head)
    if base.fqn != head.fqn:
        yield "fqn"
    if head.resource_type == "model":
        yield from _reference(base, head)
    yield from _facets(base, head, terms)


_NOT_CONFIG = frozenset({*_NAMING, "tags", "group"})


def _source(base: Node, head: Node, terms: Terms) -> Found:
    if not same_config(base, head, terms):
        yield "config"
    if base.identifier != head.identifier or not _same_source_place(base, head, terms):
        yield "relation"
    if base.fqn != head.fqn:
        yield "fqn"
    yield from _facets(base, head, terms)


def _exposure(base: Node, head: Node, terms: Terms) -> Found:
    if not same_config(base, head, terms):
        yield "config"
    if base.fqn != head.fqn:
        yield "fqn"
    yield from _facets(base, head, terms)
    if set(base.depends_on) != set(head.depends_on):
        yield "depends_on"


def _metric(base: Node, head: Node, terms: Terms) -> Found:
    if not same_config(base, head, terms, but=frozenset({"group"})):
        yield "config"
    facets = _facets(base, head, terms)
    yield from facets if terms.same_metrics else (kind for kind in facets if kind not in ("body", "formula"))


def _saved_query(base: Node, head: Node, terms: Terms) -> Found:
    before, after = mapping(base.raw.get("query_params")), mapping(head.raw.get("query_params"))
    if not same_keys(before, after, ("metrics", "group_by", "where")):
        yield "body"
    elif plain(before) != plain(after):
        yield "formula"
    if _exports(base) != _exports(head):
        yield "body"
    yield from _facets(base, head, terms)


def _exports(node: Node) -> list[Any]:
    exports = [mapping(item) for item in sequence(node.raw.get("exports"))]
    written = [mapping(item.get("unrendered_config")) for item in exports]
    return [
        (item.get("name"), *(words.get(key) for key in ("export_as", "schema", "alias")))
        for item, words in zip(exports, written, strict=True)
    ]


def _unit_test(base: Node, head: Node, terms: Terms) -> Found:
    """By dbt's digest, which another version may take of other text: then by what the test says."""
    if base.raw.get("checksum") == head.raw.get("checksum") and terms.same_dbt:
        return
    if terms.same_dbt or not same_keys(base.raw, head.raw, _UNIT_TEST):
        yield "body"


def _facets(base: Node, head: Node, terms: Terms) -> Found:
    """What only some kinds of nodes have."""
    for facet, word in _FACETS.get(head.resource_type, {}).items():
        if not same_keys(base.raw, head.raw, (facet,)):
            yield word


_LOOKS: Mapping[str, Callable[[Node, Node, Terms], Found]] = {
    "source": _source,
    "exposure": _exposure,
    "metric": _metric,
    "saved_query": _saved_query,
    "unit_test": _unit_test,
}


def _same_naming(base: Node | TestNode, head: Node | TestNode) -> bool:
    """Whether database, schema and alias are configured the same; what they become follows from the target."""
    before, after = base.unrendered_config, head.unrendered_config
    if before is None or after is None:
        return base.raw.get("alias") == head.raw.get("alias")
    return all(before.get(key) == after.get(key) for key in _NAMING)


def _same_source_place(base: Node, head: Node, terms: Terms) -> bool:
    """Whether a source's database and schema are written the same.

    Where a file keeps only what they became, the move of the target may explain another place.
    """
    for key, before, after in (("database", base.database, head.database), ("schema", base.schema, head.schema)):
        written = base.raw.get(f"unrendered_{key}"), head.raw.get(f"unrendered_{key}")
        if all(written):
            if written[0] != written[1]:
                return False
        elif before != after and not terms.explains_place(base, head):
            return False
    return True


def _contract(base: Node, head: Node, terms: Terms) -> Found:
    before, after = mapping(base.raw.get("contract")), mapping(head.raw.get("contract"))
    enforced = bool(before.get("enforced")), bool(after.get("enforced"))
    if not any(enforced):
        return
    same = before.get("checksum") == after.get("checksum") if terms.same_dbt else _promise(base) == _promise(head)
    if enforced[0] != enforced[1] or not same:
        yield "contract"
        if _columns(base) != _columns(head):
            yield "columns"


def _promise(node: Node) -> object:
    """What dbt takes the contract's digest of; the digest itself is another for each version."""
    table = node.materialized in ("table", "incremental")
    constraints = [plain(mapping(item).get("type")) for item in sequence(node.raw.get("constraints"))]
    return _columns(node), (node.materialized, constraints) if table else None


def _reference(base: Node, head: Node) -> Found:
    """What may break those that refer to a model."""
    if plain(base.raw.get("latest_version")) != plain(head.raw.get("latest_version")):
        yield "version"
    access = [node.raw.get("access") or "protected" for node in (base, head)]
    dates = [plain(node.raw.get("deprecation_date")) for node in (base, head)]
    if access[0] != access[1] or dates[0] != dates[1]:
        yield "access"


def _persisted(base: Node, head: Node) -> Found:
    """A description is a change where dbt writes it into the warehouse."""
    persisted = mapping(head.config.get("persist_docs"))
    if persisted.get("relation") and base.description != head.description:
        yield "description"
    if persisted.get("columns") and _column_descriptions(base) != _column_descriptions(head):
        yield "description"


def _columns(node: Node) -> dict[str, tuple[str | None, tuple[str, ...]]]:
    return {column.name: (column.data_type, column.constraints) for column in node.columns}


def _column_descriptions(node: Node) -> dict[str, str]:
    return {column.name: column.description for column in node.columns}
