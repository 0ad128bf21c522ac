"""Builds: one announcement a key, files checked before anything is kept, read once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta, timezone
from threading import Barrier
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction

from catalog.models import Build, BuildArtifact, BuildOutput, GraphVersion, NodeClaim
from catalog.selectors import find_asset, manifest_of
from catalog.services.builds import announce, ensure, process
from catalog.services.declare import declare
from foundation import connections
from foundation.audit import Actor
from foundation.errors import BadInput, Conflict, NotAllowed, NotFound
from foundation.models import AuditRow, Person
from foundation.people import create_agent, system
from tests.catalog.manifests import run_results, shop

START = datetime(2026, 9, 29, 5, 0, tzinfo=UTC)
RESULTS = run_results(
    ("model.shop.orders", "success", 4_490_000), ("model.shop.revenue", "error", None), ("test.shop.x", "pass", None)
)
DBT: dict[str, Any] = {
    "key": "night-1",
    "kind": "dbt",
    "producer": "nightly",
    "started_at": START,
    "ended_at": START + timedelta(minutes=3),
    "commit": "a" * 40,
    "repository": "models",
}


def dbt(actor: Actor, **more: Any) -> tuple[Build, bool]:
    return announce(**{**DBT, "artifacts": {"manifest": shop(), "run_results": RESULTS}, "actor": actor, **more})


def test_an_announced_build_is_due(agent: Actor) -> None:
    build, created = dbt(agent)
    assert created
    assert build.due_at is not None
    assert (build.kind, build.status, build.repository) == ("dbt", "succeeded", "models")
    assert set(build.artifacts.values_list("kind", flat=True)) == {"manifest", "run_results"}
    assert AuditRow.objects.get(action="build.announced").target_id == str(build.pk)


def test_the_same_announcement_again_changes_nothing(agent: Actor, machine: Actor) -> None:
    first, _ = dbt(agent)
    process(first.pk, actor=machine)
    second, created = dbt(agent)
    assert (second.pk, created) == (first.pk, False)
    assert AuditRow.objects.filter(action="build.announced").count() == 1


@pytest.mark.parametrize(
    "change",
    [
        {"status": "failed"},
        {"commit": "b" * 40},
        {"artifacts": {"manifest": shop()}},
        {"outputs": ["x"]},
        {"facts": {"n": 1}},
    ],
)
def test_another_announcement_under_a_used_key_is_refused(change: dict[str, Any], agent: Actor) -> None:
    dbt(agent)
    with pytest.raises(Conflict, match="night-1"):
        dbt(agent, **change)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"key": " "}, "empty"),
        ({"key": "k" * 301}, "300"),
        ({"key": "a\nb"}, "printed"),
        ({"kind": "magic"}, "kind"),
        ({"kind": "unknown"}, "kind"),
        ({"status": "great"}, "status"),
        ({"ended_at": START - timedelta(1)}, "before it started"),
        ({"started_at": datetime(2026, 1, 1)}, "time zone"),
        ({"started_at": datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=14)))}, "cannot be kept"),
        ({"ended_at": datetime.now(UTC) + timedelta(hours=1)}, "future"),
        ({"outputs": [f"t{n}" for n in range(1001)]}, "at most 1000"),
        ({"facts": {"rows_removed": 2**53}}, "too large"),
        ({"artifacts": {"manifest": b"{"}}, "JSON|truncated"),
        ({"artifacts": {"manifest": RESULTS}}, "not a manifest"),
        ({"artifacts": {"run_results": shop()}}, "results"),
        ({"artifacts": {"photo": b""}}, "not photo"),
        ({"facts": {"share": 0.5}}, "share"),
        ({"outputs": [""]}, "outputs"),
        ({"outputs": ["a\0b"]}, "outputs"),
        ({"facts": {"text": "a\0b"}}, "null character"),
    ],
)
def test_an_unusable_announcement_is_refused_and_nothing_is_kept(
    change: dict[str, Any], why: str, agent: Actor
) -> None:
    with pytest.raises(BadInput, match=why):
        dbt(agent, **change)
    assert (Build.objects.count(), BuildArtifact.objects.count()) == (0, 0)


def test_a_processed_build_has_its_graph_version_and_its_outputs(agent: Actor, machine: Actor) -> None:
    connections.save(
        "house",
        kind="duckdb",
        purpose="read",
        namespace="duckdb://house",
        params={"path": "/x"},
        secret_names=[],
        actor=machine,
    )
    build = process(dbt(agent, connection="house")[0].pk, actor=machine)
    assert (build.graph_version_id, build.refusal) == (1, "")
    assert build.due_at is not None, "whoever claimed it says when nothing is left to do"
    assert build.processed_at is not None
    outputs = BuildOutput.objects.order_by("asset__name").values_list("asset__name", "status", "rows", "milliseconds")
    assert list(outputs) == [
        ("dev.main.orders", "success", 4_490_000, 250), ("dev.main.revenue", "error", None, 250),
    ]  # fmt: skip
    assert find_asset("main.orders").namespace == "duckdb://house"
    read = manifest_of(build)
    assert read is not None
    assert read.project == "shop"


def test_a_build_is_processed_once(agent: Actor, machine: Actor) -> None:
    build, _ = dbt(agent)
    first = process(build.pk, actor=machine)
    again = process(build.pk, actor=machine)
    assert first.processed_at == again.processed_at
    assert BuildOutput.objects.count() == 2
    assert AuditRow.objects.filter(action="build.processed").count() == 1


def test_a_build_without_files_is_processed_too(agent: Actor, machine: Actor) -> None:
    build, _ = announce(key="load-1", kind="load", actor=agent)
    processed = process(build.pk, actor=machine)
    assert (processed.graph_version, processed.refusal, manifest_of(processed)) == (None, "", None)


def test_what_cannot_be_used_stays_on_the_build(agent: Actor, machine: Actor) -> None:
    build, _ = dbt(agent, outputs=["nothing here"])
    processed = process(build.pk, actor=machine)
    assert processed.refusal == "No asset is named nothing here."
    assert AuditRow.objects.filter(action="build.refused").count() == 1
    assert BuildOutput.objects.count() == 2


def test_a_sync_names_its_reader_and_its_rows(agent: Actor, machine: Actor) -> None:
    declare({"consumers": [{"asset": "Copy: orders", "tool": "copier"}]}, actor=machine)
    facts = {"rows_removed": 6_460_000, "rows_inserted": 0}
    build, _ = announce(key="sync-1", kind="sync", actor=agent, outputs=["Copy: orders"], facts=facts)
    processed = process(build.pk, actor=machine)
    assert processed.facts == {**facts, "outputs": ["Copy: orders"]}
    assert processed.outputs.get().asset == find_asset("Copy: orders")


def test_a_build_known_only_from_a_value_is_completed(agent: Actor, machine: Actor) -> None:
    named = ensure("night-1", actor=machine)
    assert (named.kind, named.due_at) == ("unknown", None)
    assert ensure("night-1", actor=machine).pk == named.pk
    assert process(named.pk, actor=machine).processed_at is None
    build, created = dbt(agent)
    assert (build.pk, created, build.kind) == (named.pk, True, "dbt")
    assert build.due_at is not None
    assert ensure("night-1", actor=machine).kind == "dbt"
    assert process(build.pk, actor=machine).graph_version_id == 1


def test_an_unknown_build_cannot_be_processed(machine: Actor) -> None:
    with pytest.raises(NotFound):
        process("00000000-0000-0000-0000-000000000000", actor=machine)  # type: ignore[arg-type]


def test_two_good_builds_of_the_same_code_share_a_version(agent: Actor, machine: Actor) -> None:
    process(dbt(agent)[0].pk, actor=machine)
    second, _ = dbt(agent, key="night-2", artifacts={"manifest": shop(stamp="two"), "run_results": RESULTS})
    assert process(second.pk, actor=machine).graph_version_id == 1
    assert GraphVersion.objects.count() == 1


def test_an_agent_announces_only_for_its_namespaces(owner: Person, machine: Actor) -> None:
    bound = Actor(create_agent("loader", owner=owner, namespaces=["duckdb://mine"]), "api")
    with pytest.raises(NotAllowed):
        dbt(bound)
    connections.save(
        "mine",
        kind="duckdb",
        purpose="read",
        namespace="duckdb://mine",
        params={"path": "/x"},
        secret_names=[],
        actor=machine,
    )
    assert dbt(bound, connection="mine")[1]
    assert announce(key="load", kind="load", actor=bound)[1]


def test_key_and_files_of_a_build_never_change(agent: Actor) -> None:
    dbt(agent)
    for statement in (
        lambda: Build.objects.update(key="other"),
        lambda: BuildArtifact.objects.update(sha256="0" * 64),
        lambda: BuildArtifact.objects.all().delete(),
    ):
        with pytest.raises(IntegrityError), transaction.atomic():
            statement()
    assert NodeClaim.objects.count() == 0


def test_numbers_that_no_table_can_hold_are_unknown(agent: Actor, machine: Actor) -> None:
    results = run_results(("model.shop.orders", "x" * 90, 2**70))
    build, _ = dbt(agent, artifacts={"manifest": shop(), "run_results": results})
    output = process(build.pk, actor=machine).outputs.get()
    assert (output.rows, len(output.status)) == (None, 40)


@pytest.mark.usefixtures("committing")
def test_one_of_many_announcements_at_the_same_moment_is_the_first() -> None:
    actor = Actor(system("cli"), "cli")
    together = Barrier(4)

    def one(_: int) -> bool:
        together.wait()
        try:
            return announce(key="load-1", kind="load", actor=actor)[1]
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(one, range(4))) == [False, False, False, True]
    assert (Build.objects.count(), AuditRow.objects.filter(action="build.announced").count()) == (1, 1)
