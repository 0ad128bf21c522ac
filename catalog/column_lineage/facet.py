"""OpenLineage's columnLineage facet in the form in which column lineage is kept.

Source: https://openlineage.io/docs/spec/facets/dataset-facets/column_lineage_facet (fields, inputFields and their
transformations; `dataset` holds what decides the rows).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from catalog.column_lineage.values import AGGREGATED, IDENTITY, TRANSFORMED

Resolve: TypeAlias = Callable[[str, str], int | None]
ROWS = ""
"""Under this name, which no column has, stand the columns that decide which rows there are."""
SAID = 90
"""A producer's word: it looked at its own plan, we did not."""
LONGEST, MOST = 500, 5000
_KINDS = {"IDENTITY": IDENTITY, "AGGREGATION": AGGREGATED}


def read(facet: Mapping[str, Any], resolve: Resolve) -> dict[str, dict[str, Any]]:
    """The columns that the facet tells of, with {sources, kind, confidence}; what is odd in it is passed over.

    `resolve(namespace, name)` gives the id of the asset that the producer means, or None where it is not known: the
    name stands in its place then.
    """
    fields = facet.get("fields")
    found: dict[str, dict[str, Any]] = {}
    rows = list(_inputs({"inputFields": facet.get("dataset")}))
    for name, field in list(fields.items())[:MOST] if isinstance(fields, dict) else ():
        if not isinstance(field, Mapping) or not _usable(name):
            continue
        inputs = list(_inputs(field))
        direct = [one for one in inputs if not _indirect(one)]
        rows += [one for one in inputs if _indirect(one)]
        found[name] = _entry(direct, resolve, _kind(direct, field))
    if rows:
        found[ROWS] = _entry(rows, resolve, "rows")
    return found


def _inputs(field: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    given = field.get("inputFields")
    for one in given[:MOST] if isinstance(given, list) else ():
        if isinstance(one, Mapping) and all(_usable(one.get(key)) for key in ("namespace", "name", "field")):
            yield one


def _usable(name: object) -> bool:
    """Whether every database takes the text as a name."""
    return isinstance(name, str) and 0 < len(name) <= LONGEST and name.isprintable()


def _steps(one: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    given = one.get("transformations")
    return [step for step in given if isinstance(step, Mapping)] if isinstance(given, list) else []


def _indirect(one: Mapping[str, Any]) -> bool:
    steps = _steps(one)
    return bool(steps) and all(step.get("type") == "INDIRECT" for step in steps)


def _kind(inputs: list[Mapping[str, Any]], field: Mapping[str, Any]) -> str:
    kinds = {_KINDS.get(str(step.get("subtype")), TRANSFORMED) for one in inputs for step in _steps(one)}
    if not kinds and field.get("transformationType") == "IDENTITY":
        return IDENTITY
    return next((kind for kind in (AGGREGATED, TRANSFORMED, IDENTITY) if kind in kinds), TRANSFORMED)


def _entry(inputs: list[Mapping[str, Any]], resolve: Resolve, kind: str) -> dict[str, Any]:
    pairs = dict.fromkeys((_table(one, resolve), one["field"]) for one in inputs)
    return {"sources": [list(pair) for pair in pairs], "kind": kind, "confidence": SAID}


def _table(one: Mapping[str, Any], resolve: Resolve) -> int | str:
    known = resolve(one["namespace"], one["name"])
    return f"{one['namespace']}/{one['name']}" if known is None else known
