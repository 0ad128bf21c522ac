"""What the facts of an installation say of readers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from catalog.lints.types import bare
from catalog.review.known.facts_document import FactsDocument
from catalog.review.known.said import Said
from catalog.review.types import KnownReader
from foundation.errors import BadInput
from foundation.schedule import check_schedule


def readers_of(
    document: FactsDocument, source: str, ids: Mapping[str, str], told: Callable[[str], None]
) -> Iterator[Said]:
    """The readers of the document. What is empty there is not said. `ids` are dbt's unique ids by the names of tables,
    which a build in another schema does not change. `told` hears of a schedule that cannot be read."""
    for one in document.readers:
        yield Said(
            names=(one.name,),
            source=source,
            fields={**_fields(one), **_schedule(one, source, told)},
            reads=tuple(ids.get(name, name) for name in one.reads),
            columns=None if one.columns is None else frozenset(map(bare, one.columns)),
            people=one.people,
            status=one.status,
            hidden=one.hidden,
        )


def _fields(one: KnownReader) -> dict[str, Any]:
    said = {
        "kind": one.kind,
        "tool": one.tool,
        "mode": one.mode,
        "delete_rule": one.delete_rule,
        "lead_seconds": one.lead_seconds,
        "consequence": one.consequence,
        "domain": one.domain,
    }
    return {name: value for name, value in said.items() if value}


def _schedule(one: KnownReader, source: str, told: Callable[[str], None]) -> dict[str, Any]:
    if not one.cron and not one.triggered_by_api:
        return {}
    try:
        if one.cron:
            check_schedule(one.cron, one.zone)
    except BadInput as error:
        told(f"{source}: the schedule of {'a reader' if one.hidden else one.name} is not used: {error}")
        return {}
    return {"schedule": {"cron": one.cron, "zone": one.zone, "triggered_by_api": one.triggered_by_api}}
