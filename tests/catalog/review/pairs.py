"""Small pairs of manifests for the tests of the engine, and the review of one."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

from catalog.review.engine import review
from catalog.review.types import Change, Knowledge, KnownReader, Policy, Review
from catalog.sources import manifest
from catalog.sources.manifest_types import Manifest
from tests.catalog.dbt_files import as_bytes, document, model, source

AT = datetime(2026, 9, 28, 5, 13, tzinfo=UTC)
"""01:13 in New York."""
_READ = re.compile(r"\{(\w+)\}")


def node(name: str, sql: str, *, compiled: bool = True, **fields: Any) -> dict[str, Any]:
    """A model whose query reads the models in braces: `select * from {orders}`."""
    parents = [f"model.shop.{one}" for one in dict.fromkeys(_READ.findall(sql))]
    raw = _READ.sub(lambda found: "{{ ref('" + found[1] + "') }}", sql)
    code = _READ.sub(lambda found: f'"shop"."main"."{found[1]}"', sql)
    return model(name, raw, *parents, **({"compiled_code": code} if compiled else {}), **fields)


def build(*entries: dict[str, Any], **fields: Any) -> Manifest:
    """The manifest of these entries."""
    return manifest.read(as_bytes(document(*entries, **fields)))


def sync(name: str = "Events sync", *reads: str, **fields: Any) -> KnownReader:
    """A Mirror sync that reads each hour."""
    given = {"mode": "mirror", "cron": "0 * * * *", "zone": "America/New_York", **fields}
    return KnownReader(name, "sync", reads or ("fct",), **given)


def known(*readers: KnownReader, **fields: Any) -> Knowledge:
    return Knowledge(readers=readers, sources=("spellbook.yml",), **fields)


def reviewed(
    before: Manifest, after: Manifest, knowledge: Knowledge | None = None, policy: Policy | None = None
) -> Review:
    return review(before, after, known() if knowledge is None else knowledge, policy or Policy(), at=AT)


def change_of(found: Review, name: str) -> Change:
    """The one change of what has this name."""
    (change,) = [change for change in found.changes if change.name == name]
    return change


def accounts(**fields: Any) -> list[dict[str, Any]]:
    """A source of accounts, their staging model, and events."""
    staged = model(
        "acc",
        "select account_id, plan, is_internal from {{ source('app', 'accounts') }}",
        "source.shop.app.accounts",
        compiled_code='select account_id, plan, is_internal from "shop"."app"."accounts"',
        **fields,
    )
    return [source("accounts"), staged, node("ev", "select 1 as event_id, 2 as account_id")]


def events(tail: str = "", join: str = "inner") -> dict[str, Any]:
    """Events with the plan of their account; `tail` is a condition."""
    return node(
        "fct",
        f"select e.event_id, e.account_id, a.plan\nfrom {{ev}} as e\n{join} join {{acc}} as a\n"
        f"    on e.account_id = a.account_id\n{tail}",
    )
