"""The commands of the catalogue: JSON on request, one line and exit 1 for a refusal, exit 2 for wrong usage."""

from __future__ import annotations

import json
import subprocess
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import duckdb
import pytest
from django.core.management import CommandError, call_command

from catalog.models import Asset, Build, Consumer, Domain, GraphVersion
from catalog.services.declare import declare
from foundation.audit import Actor
from foundation.models import AuditRow, Connection, Person
from foundation.people import create_person, system
from tests.catalog.manifests import model, run_results, shop

ROOT = Path(__file__).resolve().parents[2]
DIFF_KEYS = {"modified", "added", "removed", "renamed", "downstream", "macros", "notes"}


def said(*arguments: str) -> Any:
    out = StringIO()
    call_command(*arguments, "--format", "json", stdout=out)
    return json.loads(out.getvalue())


def text(*arguments: str) -> str:
    out = StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue()


@pytest.fixture
def person(db: None) -> Person:
    return create_person("owner@example.com", "Olive Owner")


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "manifest.json").write_bytes(shop())
    (tmp_path / "head.json").write_bytes(shop(model("extra", "model.shop.orders"), stamp="two"))
    (tmp_path / "run_results.json").write_bytes(run_results(("model.shop.orders", "success", 10)))
    (tmp_path / "broken.json").write_bytes(shop()[:-9])
    return tmp_path


@pytest.fixture
def graph(db: None, files: Path) -> None:
    said("import_manifest", str(files / "manifest.json"))
    board = {"asset": "Board", "reads": "main.revenue", "schedule": {"cron": "0 9 * * *"}}
    declare({"consumers": [board]}, actor=Actor(system("test"), "cli"))


@pytest.mark.django_db
def test_a_manifest_is_imported_into_the_namespace_of_a_connection(files: Path) -> None:
    said("connection", "add", "house", "--kind", "duckdb", "--purpose", "read", "--param", "path=/x.duckdb")
    report = said("import_manifest", str(files / "manifest.json"), "--connection", "house")
    assert report == {
        "graph_version": 1, "assets": 5, "edges": 4, "added": 5, "changed": 0, "removed": 0, "warnings": [],
    }  # fmt: skip
    assert set(Asset.objects.values_list("namespace", flat=True)) == {"duckdb://house"}
    assert "graph_version: 1" in text("import_manifest", str(files / "manifest.json"), "--connection", "house")


@pytest.mark.django_db
def test_with_run_results_and_commit_the_build_is_kept_once(files: Path) -> None:
    arguments = (
        "import_manifest", str(files / "manifest.json"), "--run-results", str(files / "run_results.json"),
        "--commit", "a" * 40, "--repo", "models",
    )  # fmt: skip
    said(*arguments)
    said(*arguments)
    build = Build.objects.get()
    assert (build.key, build.commit, build.repository, build.graph_version_id) == ("dbt:one", "a" * 40, "models", 1)
    assert build.outputs.get().rows == 10


@pytest.mark.django_db
def test_the_freshness_of_sources_is_kept_with_the_build(files: Path) -> None:
    fresh = [{"unique_id": "source.shop.raw.orders", "status": "pass"}, {"unique_id": "source.shop.raw.gone"}]
    (files / "sources.json").write_text(json.dumps({"metadata": {}, "results": fresh}))
    report = said("import_manifest", str(files / "manifest.json"), "--sources", str(files / "sources.json"))
    assert [warning["node"] for warning in report["warnings"]] == ["source.shop.raw.gone"]
    assert list(Build.objects.get().artifacts.order_by("kind").values_list("kind", flat=True)) == [
        "manifest",
        "sources",
    ]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("import_manifest", "{}/broken.json"), "truncated|not JSON"),
        (("import_manifest", "{}/nothing.json"), "cannot be read"),
        (("import_manifest", "{}/run_results.json"), "not a manifest"),
        (("import_manifest", "{}/manifest.json", "--connection", "nowhere"), "no connection"),
        (("import_manifest", "{}/manifest.json", "--catalog", "{}/manifest.json"), "catalog"),
        (("import_manifest", "{}/manifest.json", "--as", "nobody@example.com"), "nobody@example.com"),
        (("import_manifest", "{}/manifest.json", "--commit", "abc"), "belong together"),
        (("diff_manifests", "{}/manifest.json", "{}/broken.json"), "truncated|not JSON"),
        (("blast_radius", "no_such_table"), "No asset is named no_such_table"),
        (("lineage", "no_such_table"), "No asset"),
        (("explain_table", ""), "empty"),
        (("connection", "test", "nowhere"), "no connection"),
        (("connection", "add", "x", "--kind", "duckdb", "--purpose", "read", "--param", "path"), "KEY=VALUE"),
        (("connection", "add", "x", "--kind", "duckdb", "--purpose", "read"), "path"),
        (("connection", "add", "x", "--kind", "dbt", "--purpose", "run", "--param", "password=y"), "secret"),
    ],
)
def test_a_refusal_is_one_line_and_leaves_nothing(arguments: tuple[str, ...], why: str, files: Path) -> None:
    with pytest.raises(CommandError, match=why) as refusal:
        text(*(argument.replace("{}", str(files)) for argument in arguments))
    assert "\n" not in str(refusal.value)
    assert (GraphVersion.objects.count(), Asset.objects.count(), Connection.objects.count()) == (0, 0, 0)


def test_the_difference_of_two_manifests_needs_no_database(files: Path) -> None:
    found = said("diff_manifests", str(files / "manifest.json"), str(files / "head.json"))
    assert set(found) == DIFF_KEYS
    assert (found["added"], found["removed"], found["modified"]) == (["model.shop.extra"], [], [])
    assert found["downstream"] == ["model.shop.extra"]
    assert "added model.shop.extra" in text("diff_manifests", str(files / "manifest.json"), str(files / "head.json"))


@pytest.mark.usefixtures("graph")
def test_the_blast_radius_is_the_catalogues() -> None:
    found = said("blast_radius", "stg_orders")
    assert (found["total"], found["truncated"]) == (4, False)
    assert [one["name"] for one in found["consumers"]] == ["Board", "exposure.shop.weekly_board"]
    assert found["next_read"] == found["consumers"][0]["next_read"]
    assert said("blast_radius", "stg_orders", "--hops", "1")["truncated"] is True
    assert "reader Board" in text("blast_radius", "stg_orders")


@pytest.mark.usefixtures("graph")
def test_an_ambiguous_name_is_refused_with_what_it_may_mean() -> None:
    with pytest.raises(CommandError, match=r"ambiguous: dev\.main\.orders, dev\.raw\.orders"):
        text("blast_radius", "orders")


@pytest.mark.usefixtures("graph")
@pytest.mark.parametrize(
    ("direction", "names"),
    [
        ("up", ["dev.main.stg_orders", "dev.raw.orders"]),
        ("down", ["dev.main.revenue", "Board", "exposure.shop.weekly_board"]),
    ],
)
def test_lineage_goes_up_and_down(direction: str, names: list[str]) -> None:
    found = said("lineage", "main.orders", "--direction", direction)
    assert sorted(one["name"] for one in found["nodes"]) == sorted(names)
    assert (found["total"], found["truncated"]) == (len(names), False)
    both = said("lineage", "main.orders", "--hops", "1")
    assert (both["total"], both["truncated"], len(both["nodes"])) == (5, True, 2)
    assert text("lineage", "main.orders").startswith("duckdb://shop/dev.main.orders: 5 assets both")


@pytest.mark.usefixtures("graph")
def test_a_blast_radius_hides_names_from_the_person_whom_it_answers(person: Person) -> None:
    Asset.objects.filter(name="Board").update(domain=Domain.objects.create(key="x", name="X", restricted=True))
    whole, mine = said("blast_radius", "main.orders"), said("blast_radius", "main.orders", "--as", person.email)
    names = [{one["name"] for one in (*told["nodes"], *told["consumers"])} for told in (whole, mine)]
    assert ("Board" in names[0], "Board" in names[1]) == (True, False)
    assert "a dashboard of a restricted domain" in names[1]
    assert (mine["total"], mine["next_read"]) == (whole["total"], whole["next_read"])
    with pytest.raises(CommandError, match="No asset"):
        said("blast_radius", "Board", "--as", person.email)


@pytest.mark.usefixtures("graph")
def test_a_table_is_explained_and_what_is_unknown_is_said() -> None:
    found = said("explain_table", "main.revenue")
    assert found["code"]["id"] == "model.shop.revenue"
    assert [one["name"] for one in found["readers"]["rows"]] == ["Board", "exposure.shop.weekly_board"]
    assert {found[part] for part in ("checks", "metrics", "definition", "domain")} == {"not known yet"}
    assert found["trust"]["state"] == "unknown"
    assert found["people"]["owner"] == "not known yet"
    assert text("explain_table", "main.revenue").startswith("duckdb://shop/dev.main.revenue  model\n")


@pytest.mark.django_db
def test_a_connection_is_added_changed_listed_and_tried(tmp_path: Path) -> None:
    file = tmp_path / "house.duckdb"
    duckdb.connect(str(file)).close()
    add = ("connection", "add", "house", "--kind", "duckdb", "--purpose", "read", "--param", f"path={file}")
    assert said(*add)["namespace"] == "duckdb://house"
    assert said(*add)["version"] == 1
    assert said(*add, "--namespace", "duckdb://other")["version"] == 2
    params = ("--param", "env.TARGET=prod", "--param", "env.ROWS=10", "--param", "target=prod")
    assert said("connection", "add", "runs", "--kind", "dbt", "--purpose", "run", *params)["params"] == {
        "env": {"TARGET": "prod", "ROWS": "10"}, "target": "prod",
    }  # fmt: skip
    assert [one["name"] for one in said("connection", "list")["connections"]] == ["house", "runs"]
    assert said("connection", "test", "house") == {"name": "house", "works": True}
    assert Connection.objects.get(name="house").tested_ok is True
    with pytest.raises(CommandError, match="cannot be tried"):
        text("connection", "test", "runs")
    file.unlink()
    with pytest.raises(CommandError):
        text("connection", "test", "house")
    assert Connection.objects.get(name="house").tested_ok is False


@pytest.mark.django_db
def test_the_command_line_acts_as_itself_or_as_a_person(files: Path, person: Person) -> None:
    said("import_manifest", str(files / "manifest.json"))
    said("import_manifest", str(files / "head.json"), "--as", "Owner@example.com")
    first, second = AuditRow.objects.filter(action="graph.imported").order_by("id")
    assert (first.principal.kind, second.principal) == ("system", person.principal)
    assert {first.source, second.source} == {"cli"}
    assert Consumer.objects.get().approved_by is None


@pytest.mark.usefixtures("committing")
def test_exit_codes_are_zero_one_and_two(files: Path) -> None:
    def run(*arguments: str) -> tuple[int, str, str]:
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
        )
        return done.returncode, done.stdout, done.stderr

    code, out, err = run("import_manifest", str(files / "manifest.json"), "--format", "json")
    assert (code, json.loads(out)["added"], err) == (0, 5, "")
    code, out, err = run("blast_radius", "nothing")
    assert (code, out, len(err.strip().splitlines())) == (1, "", 1)
    assert "No asset is named nothing." in err
    code, out, err = run("lineage", "orders", "--direction", "sideways")
    assert (code, out, "sideways" in err) == (2, "", True)
