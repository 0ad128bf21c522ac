"""One entry of a manifest becomes one `Node` or `TestNode`, whatever dbt version wrote it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from catalog.sources.artifact import mapping, sequence, strings, text
from catalog.sources.manifest_types import Column, Node, Owner, TestNode
from catalog.sources.naming import was_quoted

OTHERS = frozenset({
    "metric", "semantic_model", "saved_query", "unit_test", "function", "analysis", "operation", "sql_operation", "sql",
    "rpc", "macro", "doc", "group", "fixture",
})  # fmt: skip
"""What dbt knows besides assets; lineage passes through these."""

EXPOSURE_KINDS = {
    "dashboard": "dashboard",
    "notebook": "notebook",
    "ml": "ml_model",
    "analysis": "report",
    "application": "stream",
}
"""dbt's exposure types in the catalog's words; an unknown type is a report."""

_FACETS = (
    "label", "maturity", "type", "freshness", "loaded_at_field", "loaded_at_query", "external", "quoting",
    "unrendered_database", "unrendered_schema", "latest_version", "access", "deprecation_date", "contract",
    "primary_key", "model", "measures", "dimensions", "entities", "defaults", "primary_entity", "type_params",
    "filter", "query_params", "exports", "arguments", "returns", "checksum", "constraints", "refs",
)  # fmt: skip
_RELATIONAL = frozenset({"source", "seed", "model", "snapshot"})
_REF = re.compile(r"""(?:ref|source)\(\s*(?P<arguments>(?:['"][^'"]*['"]\s*,?\s*)+)""")


@dataclass(frozen=True)
class Context:
    """What a node needs from the rest of its file: the adapter, the groups' owners, and where warnings go."""

    adapter: str
    groups: Mapping[str, Owner]
    warn: Callable[[str], None]


def node_of(
    unique_id: str, resource_type: str, raw: Mapping[str, Any], parents: tuple[str, ...], context: Context
) -> Node:
    """The node under `unique_id`; missing and mistyped fields take their empty value."""
    config = mapping(raw.get("config"))
    relational = resource_type in _RELATIONAL
    relation_name = text(raw.get("relation_name")) or None
    if relational and not (_name(raw.get("schema"))):
        context.warn("the node names no schema")
    return Node(
        unique_id=unique_id,
        resource_type=resource_type,
        kind=_kind(resource_type, raw),
        name=text(raw.get("name")) or unique_id.rpartition(".")[2],
        package=text(raw.get("package_name")) or package_of(unique_id),
        version=text(raw.get("version")) or None,
        database=_name(raw.get("database")) if relational else None,
        schema=_name(raw.get("schema")) if relational else None,
        identifier=_identifier(resource_type, raw) if relational else "",
        relation_name=relation_name,
        quoted=was_quoted(
            relation_name, context.adapter, mapping(raw.get("quoting")) or mapping(config.get("quoting"))
        ),
        materialized=text(config.get("materialized")) or ("seed" if resource_type == "seed" else ""),
        language=text(raw.get("language")) or "sql",
        description=text(raw.get("description")),
        raw_code=text(raw.get("raw_code")) or text(raw.get("raw_sql")),
        compiled_code=text(raw.get("compiled_code")) or text(raw.get("compiled_sql")) or None,
        checksum=_checksum(raw.get("checksum")),
        config=config,
        unrendered_config=_given(raw, "unrendered_config"),
        columns=columns_of(raw.get("columns"), context.warn),
        depends_on=parents,
        macros=strings(mapping(raw.get("depends_on")).get("macros")),
        path=text(raw.get("original_file_path")),
        patch_path=text(raw.get("patch_path")).partition("://")[2] or text(raw.get("patch_path")) or None,
        fqn=strings(raw.get("fqn")),
        group=text(raw.get("group")) or text(config.get("group")) or None,
        owner=_owner(raw.get("owner")) or context.groups.get(text(raw.get("group")) or text(config.get("group"))),
        tags=strings(raw.get("tags")) or strings(config.get("tags")),
        meta=mapping(raw.get("meta")) or mapping(config.get("meta")),
        exposure_type=text(raw.get("type")) if resource_type == "exposure" else "",
        url=text(raw.get("url")),
        enabled=config.get("enabled") is not False,
        facets={key: raw[key] for key in _FACETS if raw.get(key) is not None},
    )


def test_of(unique_id: str, raw: Mapping[str, Any], parents: tuple[str, ...]) -> TestNode:
    """The test under `unique_id`; `attached` stays None where an old file leaves several candidates."""
    metadata = mapping(raw.get("test_metadata"))
    arguments = mapping(metadata.get("kwargs"))
    config = mapping(raw.get("config"))
    column = text(raw.get("column_name")) or text(arguments.get("column_name"))
    return TestNode(
        unique_id=unique_id,
        name=text(metadata.get("name")) or text(raw.get("name")) or unique_id,
        package=text(raw.get("package_name")) or package_of(unique_id),
        namespace=text(metadata.get("namespace")),
        column=column.strip('"`[]') or None,
        attached=text(raw.get("attached_node")) or _attached(arguments, parents),
        severity=(text(config.get("severity")) or "error").lower(),
        depends_on=parents,
        macros=strings(mapping(raw.get("depends_on")).get("macros")),
        generic=bool(metadata),
        raw_code=text(raw.get("raw_code")) or text(raw.get("raw_sql")),
        compiled_code=text(raw.get("compiled_code")) or text(raw.get("compiled_sql")) or None,
        unrendered_config=_given(raw, "unrendered_config"),
        config=config,
        fqn=strings(raw.get("fqn")),
        path=text(raw.get("original_file_path")),
    )


def external_node(unique_id: str, *, enabled: bool = True, description: str = "") -> Node:
    """A node of which only the id is known; its kind is read from the id, and is `table` where that says nothing."""
    resource_type, _, rest = unique_id.partition(".")
    kind = resource_type if resource_type in _RELATIONAL else "report" if resource_type == "exposure" else "table"
    name = rest.partition(".")[2] or rest or unique_id
    return Node(
        unique_id=unique_id, resource_type=resource_type, kind=kind, name=name, package=package_of(unique_id),
        description=description, enabled=enabled, external=enabled,
    )  # fmt: skip


def columns_of(value: object, warn: Callable[[str], None] = lambda _: None) -> tuple[Column, ...]:
    """The declared columns, in the file's order, from an object by name or a list."""
    entries = value.items() if isinstance(value, dict) else [(text(mapping(c).get("name")), c) for c in sequence(value)]
    columns = []
    for key, entry in entries:
        column = mapping(entry)
        name = text(column.get("name")) or key
        if not name or not isinstance(entry, dict):
            warn(f"the column {key or '(without a name)'} is not an object and was left out")
            continue
        constraints = tuple(text(mapping(item).get("type")) for item in sequence(column.get("constraints")))
        columns.append(Column(
            name, text(column.get("data_type")) or None, text(column.get("description")), constraints,
            mapping(column.get("meta")) or mapping(mapping(column.get("config")).get("meta")),
        ))  # fmt: skip
    return tuple(columns)


def group_owners(document: Mapping[str, Any]) -> dict[str, Owner]:
    """The owner of each group that names one, by the group's name."""
    groups = (mapping(item) for item in mapping(document.get("groups")).values())
    found = {text(group.get("name")): _owner(group.get("owner")) for group in groups}
    return {name: owner for name, owner in found.items() if name and owner}


def package_of(unique_id: str) -> str:
    """The package in `model.package.name`; "" when the id has no such part."""
    parts = unique_id.split(".", 2)
    return parts[1] if len(parts) > 2 else ""


def _kind(resource_type: str, raw: Mapping[str, Any]) -> str:
    if resource_type == "exposure":
        return EXPOSURE_KINDS.get(text(raw.get("type")).lower(), "report")
    return resource_type if resource_type in _RELATIONAL or resource_type in OTHERS else "table"


def _name(value: object) -> str | None:
    """A database or schema; Oracle and Spark adapters write the word None."""
    name = text(value)
    return None if name in ("", "None", "none", "null") else name


def _identifier(resource_type: str, raw: Mapping[str, Any]) -> str:
    keys = ("identifier", "name") if resource_type == "source" else ("alias", "name")
    return next((text(raw.get(key)) for key in keys if text(raw.get(key))), "")


def _checksum(value: object) -> str | None:
    entry = mapping(value)
    digest = text(entry.get("checksum")) or (value if isinstance(value, str) else "")
    if not digest or text(entry.get("name")) in ("none", "path"):
        return None  # a path is written for seeds over 1 MiB, whose content dbt does not read
    return digest


def _given(raw: Mapping[str, Any], key: str) -> Mapping[str, Any] | None:
    value = raw.get(key)
    return value if isinstance(value, dict) else None


def _owner(value: object) -> Owner | None:
    entry = mapping(value)
    name, emails = text(entry.get("name")), strings(entry.get("email"))
    return Owner(name, emails[0] if emails else "") if name or emails else None


def _attached(arguments: Mapping[str, Any], parents: tuple[str, ...]) -> str | None:
    if len(parents) == 1:
        return parents[0]
    found = _REF.search(text(arguments.get("model")))
    if found is None:
        return None
    tail = re.findall(r"""['"]([^'"]*)['"]""", found["arguments"])
    matches = [
        parent for parent in parents if parent.split(".")[-len(tail) :] == tail or parent.endswith("." + tail[-1])
    ]
    return matches[0] if len(matches) == 1 else None
