"""Builds over REST: multipart with dbt's files, read once; malformed input is one sentence and leaves nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from catalog.models import Build
from catalog.selectors import find_asset
from catalog.services.builds import process
from foundation.models import AuditRow
from spellbook.api import builds as endpoint
from tests.catalog.manifests import catalog_file, run_results, shop
from tests.spellbook.machines import NAMESPACE, Machine, command_line, make_shop
from tests.spellbook.test_api_values import refusal

pytestmark = pytest.mark.django_db

RESULTS = run_results(("model.shop.orders", "success", 4_490_000), ("model.shop.revenue", "success", 12))
FILES = {"manifest": shop(stamp="two"), "run_results": RESULTS}
NIGHT: dict[str, Any] = {
    "key": "night-1", "producer": "nightly", "commit": "a" * 40, "repository": "code", "connection": "wh",
    "started_at": "2026-09-29T05:00:00Z", "ended_at": "2026-09-29T05:03:00Z",
}  # fmt: skip


@pytest.fixture
def machine() -> Machine:
    make_shop()
    return Machine.make()


def test_a_build_with_its_files_is_kept_and_read_afterwards(machine: Machine) -> None:
    columns = catalog_file(("model.shop.orders", {"id": "INTEGER"}))
    status, told = machine.build({**FILES, "catalog": columns}, **NIGHT)
    build = Build.objects.get()
    assert (status, told) == (202, {"build": str(build.pk), "key": "night-1", "created": True})
    assert (build.kind, build.status, build.announced_by, build.commit) == ("dbt", "succeeded", machine.agent, "a" * 40)
    assert set(build.artifacts.values_list("kind", flat=True)) == {"manifest", "run_results", "catalog"}
    assert build.due_at is not None
    assert machine.get("/builds/night-1")[1] | {"graph_version": 0} == {
        "build": str(build.pk), "key": "night-1", "kind": "dbt", "status": "succeeded", "processed": False,
        "refusal": "", "measured": False, "graph_version": 0,
    }  # fmt: skip

    process(build.pk, actor=command_line())
    orders = build.outputs.get(asset=find_asset("dev.main.orders"))
    assert orders.rows == 4_490_000
    assert machine.get("/builds/night-1")[1]["processed"] is True


def test_the_same_announcement_again_changes_nothing(machine: Machine) -> None:
    first = machine.build(FILES, **NIGHT)
    again = machine.build(FILES, **NIGHT)
    assert again == (202, first[1] | {"created": False})
    assert AuditRow.objects.filter(action="build.announced").count() == 1


@pytest.mark.parametrize(
    "more", [{"commit": "b" * 40}, {"status": "failed"}, {"facts": {"n": 1}}, {"ended_at": "2026-09-29T05:04:00Z"}]
)
def test_another_announcement_under_a_used_key_is_a_conflict(more: dict[str, Any], machine: Machine) -> None:
    machine.build(FILES, **NIGHT)
    assert "night-1" in refusal(machine.build(FILES, **NIGHT | more), 409, "conflict")
    refusal(machine.build({**FILES, "manifest": shop(stamp="three")}, **NIGHT), 409, "conflict")
    assert Build.objects.get().commit == "a" * 40


def test_a_run_of_a_sync_says_what_it_did(machine: Machine) -> None:
    told = machine.build(key="sync/1?x=2", kind="sync", outputs=["a reader"], facts={"rows_removed": 3, "note": "x"})
    assert told[0] == 202
    assert Build.objects.get().facts == {"rows_removed": 3, "note": "x", "outputs": ["a reader"]}
    assert machine.get("/builds/sync/1%3Fx=2")[1]["kind"] == "sync"


def test_a_build_that_a_value_named_is_completed(machine: Machine) -> None:
    machine.values({"asset": "main.orders", "metric": "row_count", "value": 1, "build": "night-1"})
    status, told = machine.build(FILES, **NIGHT)
    assert (status, told["created"]) == (202, True)
    assert Build.objects.get().kind == "dbt"


@pytest.mark.parametrize(
    "fields",
    [
        {"facts": "{"}, {"facts": "[]"}, {"facts": '"x"'}, {"facts": ""}, {"facts": '{"a": NaN}'},
        {"facts": '{"a": 1.5}'}, {"facts": '{"a": true}'}, {"facts": '{"a": [1]}'}, {"facts": '{"a": 1e400}'},
        {"facts": '{"a": "\\u0000"}'}, {"outputs": "{}"}, {"outputs": "orders"}, {"outputs": "[1]"},
        {"outputs": "[[1]]"}, {"outputs": '[" "]'}, {"kind": "unknown"}, {"kind": "cron"}, {"status": "green"},
        {"key": " "}, {"key": "x" * 301}, {"started_at": "yesterday"}, {"started_at": "2026-09-29T05:00:00"},
        {"ended_at": "2026-09-29T04:00:00Z"}, {"commit": "a" * 65}, {"producer": "a\tb"},
    ],
    ids=json.dumps,
)  # fmt: skip
def test_unusable_fields_are_refused_and_leave_nothing(fields: dict[str, str], machine: Machine) -> None:
    refusal(machine.build(FILES, **NIGHT | fields), 422, "bad_input")
    assert not Build.objects.exists()


@pytest.mark.parametrize(
    "files",
    [
        {"manifest": b""}, {"manifest": b"{"}, {"manifest": b"not json"}, {"manifest": b"{}"}, {"manifest": b"[]"},
        {"manifest": shop()[:500]}, {"manifest": b'{"metadata": {}, "nodes": 3}'}, {"run_results": b"\xff\xfe"},
        {"run_results": b'{"results": "x"}'}, {"catalog": b"<html>"}, {"manifest": RESULTS},
    ],
    ids=lambda files: repr(files)[:40],
)  # fmt: skip
def test_an_unusable_file_is_refused_and_leaves_nothing(files: dict[str, bytes], machine: Machine) -> None:
    refusal(machine.build({**FILES, **files}, **NIGHT), 422, "bad_input")
    assert not Build.objects.exists()


def test_a_file_over_the_limit_is_refused(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    assert endpoint.LARGEST == 500 * 1024 * 1024
    monkeypatch.setattr(endpoint, "LARGEST", len(RESULTS) - 1)
    message = refusal(machine.build({"run_results": RESULTS}, **NIGHT), 422, "bad_input")
    assert message == "The run_results is larger than 500 MB."
    assert not Build.objects.exists()


@pytest.mark.parametrize("name", ["manifest", "run_results", "catalog"])
def test_a_file_that_is_sent_as_text_is_refused(name: str, machine: Machine) -> None:
    message = refusal(machine.build(**NIGHT | {name: "target/manifest.json"}), 422, "bad_input")
    assert message == f"The {name} is sent as text; send it as a file."
    assert not Build.objects.exists()


def test_a_form_without_a_key_names_the_field(machine: Machine) -> None:
    assert refusal(machine.build(kind="dbt"), 422, "bad_input").startswith("key:")


def test_a_body_that_is_no_form_is_refused(machine: Machine) -> None:
    for kind in ("application/json", "multipart/form-data", "multipart/form-data; boundary=x", "text/plain"):
        answer = machine.client.post("/api/v1/builds", b"--garbage", content_type=kind, headers=machine.headers)
        refusal((answer.status_code, answer.json()), answer.status_code, "bad_input")
        assert answer.status_code in (400, 422)


def test_a_build_that_nobody_announced_is_not_found(machine: Machine) -> None:
    refusal(machine.get("/builds/nothing"), 404, "not_found")


def test_each_endpoint_asks_for_its_own_scope(machine: Machine) -> None:
    writer = Machine.make(scopes=["value:write"], name="writer")
    assert "build:write" in refusal(writer.build(**NIGHT), 403, "not_allowed")
    assert "build:read" in refusal(writer.get("/builds/night-1"), 403, "not_allowed")
    assert not Build.objects.exists()


def test_an_agent_announces_in_its_namespaces_only(machine: Machine) -> None:
    outside = Machine.make(namespaces=["duckdb://other"], name="outside")
    refusal(outside.build(FILES, **NIGHT), 403, "not_allowed")
    assert not Build.objects.exists()


def test_an_agent_says_only_of_its_namespaces_what_was_written(machine: Machine) -> None:
    outside = Machine.make(namespaces=["duckdb://other"], name="outside")
    outside.build(key="load", kind="load", outputs=["main.orders"])
    build = process(Build.objects.get().pk, actor=command_line())
    assert not build.outputs.exists()
    assert build.refusal == f"This agent may not write in {NAMESPACE}."


# --- the form of every refusal ---------------------------------------------------------------------------------------


def test_a_wrong_address_or_method_is_told_in_the_same_form(machine: Machine) -> None:
    refusal(machine.get("/nothing"), 404, "not_found")
    assert machine.client.get("/api/v2/builds").json()["error"] == "not_found"
    answer = machine.client.delete("/api/v1/builds", headers=machine.headers)
    refusal((answer.status_code, answer.json()), 405, "not_allowed")
    assert answer.headers["Allow"] == "POST"


def test_a_fault_of_ours_shows_nothing_of_it(machine: Machine, monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    def broken(**_: object) -> None:
        raise RuntimeError("a secret of ours")

    assert settings.DEBUG is False
    monkeypatch.setattr(endpoint, "announce", broken)
    status, told = machine.build(FILES, **NIGHT)
    assert "secret" not in refusal((status, told), 500, "broken")


def test_only_the_api_is_open_to_a_post_without_a_form_token() -> None:
    make_shop()
    machine, strict = Machine.make(), Client(enforce_csrf_checks=True)
    sent = {"key": "x", "run_results": SimpleUploadedFile("r.json", RESULTS)}
    assert strict.post("/api/v1/builds", sent, headers=machine.headers).status_code == 202
    strict.force_login(machine.owner)
    exempt = [name for name, view in views() if getattr(view, "csrf_exempt", False)]
    assert exempt
    signed = {"hooks/github/<str:name>"}  # by the host, over the raw body
    assert {name for name in exempt if not name.startswith("api/v1/")} == signed


def views(patterns: Any = None, before: str = "") -> Iterator[tuple[str, Any]]:
    """Every address of the site with its view."""
    for one in get_resolver().url_patterns if patterns is None else patterns:
        address = before + str(one.pattern)
        if isinstance(one, URLResolver):
            yield from views(one.url_patterns, address)
        elif isinstance(one, URLPattern):
            yield address, one.callback


def test_a_machine_can_announce_record_and_read_and_decide_nothing() -> None:
    found = {name for name, _ in views() if name.startswith("api/")}
    assert found == {
        "api/v1/", "api/v1/builds", "api/v1/builds/<path:key>", "api/v1/values", "api/v1/incidents",
        "api/v1/incidents/<number>", "api/v1/declarations", "api/v1/readers", "api/v1/lineage", "api/v1/lineage/batch",
        "api/v1/assets", "api/v1/assets/<path:name>/explain", "api/v1/assets/<path:name>/blast_radius",
        "api/v1/assets/<path:name>/lineage", "api/v1/assets/<path:name>/columns/<path:column>/lineage",
        "api/v1/reviews", "api/v1/reviews/<uuidstr:pk>", "api/v1/review-facts",
    }  # fmt: skip


def test_a_token_opens_no_page_that_acts(machine: Machine) -> None:
    pages = {name for name, _ in views() if not name.startswith(("api/", "admin/"))}
    acting = [name for name in pages if name.startswith(("requests/", "domains/", "stop", "plans/"))]
    assert len(acting) > 5
    for name in acting:
        path = "/" + name.replace("<uuid:pk>", str(Build().pk)).replace("<slug:key>", "d").replace("<slug:slug>", "d")
        path = path.replace("<int:position>", "1")
        for method in (machine.client.get, machine.client.post):
            answer = method(path, headers=machine.headers)
            assert answer.status_code in (302, 403, 405), path
            if answer.status_code == 302:
                assert answer.headers["Location"].startswith("/sign-in"), path
