"""How fresh a source was when dbt looked, from the files that builds left."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import orjson
import pytest

from catalog.freshness import freshness_of
from catalog.selectors import find_asset
from catalog.services.builds import announce
from catalog.services.imports import import_manifest
from foundation.audit import Actor
from tests.catalog.manifests import shop

pytestmark = pytest.mark.django_db
NAME = "source.shop.raw.orders"


def measured(status: str, *, hour: int, name: str = NAME, **more: Any) -> bytes:
    result = {
        "unique_id": name, "status": status, "max_loaded_at": "2026-03-01T02:00:00+00:00",
        "snapshotted_at": f"2026-03-01T{hour:02}:00:00.123456Z", "max_loaded_at_time_ago_in_s": 3600.5,
        "criteria": {"warn_after": {"count": 12, "period": "hour"}, "error_after": {"count": 2, "period": "day"}},
    }  # fmt: skip
    return orjson.dumps({"metadata": {}, "results": [result | more]})


def build(actor: Actor, key: str, data: bytes, *, hour: int, **more: Any) -> None:
    ended = datetime(2026, 3, 1, hour, tzinfo=UTC)
    announce(key=key, kind="dbt", artifacts={"sources": data}, ended_at=ended, actor=actor, **more)


def test_the_newest_measurement_of_a_source_is_told_with_its_thresholds(machine: Actor) -> None:
    import_manifest(shop(), actor=machine)
    raw = find_asset("raw.orders")
    assert freshness_of(raw) is None
    build(machine, "new", measured("warn", hour=4), hour=4, project="shop")
    build(machine, "old", measured("pass", hour=3), hour=3, project="shop")
    build(machine, "elsewhere", measured("error", hour=5), hour=5, project="other")
    build(machine, "of others", measured("error", hour=6, name="source.shop.raw.more"), hour=6)
    found = freshness_of(raw)
    assert found is not None
    assert found.as_dict() == {
        "status": "warn", "loaded_at": "2026-03-01T02:00:00.000000Z", "measured_at": "2026-03-01T04:00:00.123456Z",
        "warn_after": 43_200, "error_after": 172_800, "message": "", "build": "new",
    }  # fmt: skip
    assert freshness_of(find_asset("main.orders")) is None  # a model is no source


def test_what_dbt_could_not_tell_stays_unknown(machine: Actor) -> None:
    import_manifest(shop(), actor=machine)
    odd: dict[str, Any] = {
        "max_loaded_at": "soon", "snapshotted_at": None, "error": "no such table",
        "criteria": {"warn_after": {"count": None, "period": "hour"}, "error_after": {"count": 3, "period": "moon"}},
    }  # fmt: skip
    build(machine, "one", measured("runtime error", hour=4, **odd), hour=4)
    found = freshness_of(find_asset("raw.orders"))
    assert found is not None
    assert (found.status, found.loaded_at, found.warn_after, found.error_after, found.message) == (
        "runtime error", None, None, None, "no such table",
    )  # fmt: skip
    assert found.measured_at == datetime(2026, 3, 1, 4, tzinfo=UTC)  # the end of the build


def test_an_agent_tells_nothing_of_a_source_outside_of_its_namespaces(machine: Actor, agent: Actor) -> None:
    import_manifest(shop(), actor=machine)
    agent.principal.namespaces = ["duckdb://other"]
    agent.principal.save()
    build(agent, "theirs", measured("pass", hour=4), hour=4)
    assert freshness_of(find_asset("raw.orders")) is None
