"""The documents show what is there: each command is run or parsed, each link, name and row is looked up."""

from __future__ import annotations

import ast
import importlib.metadata
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from contextlib import nullcontext, suppress
from io import StringIO
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit, urlunsplit

import pytest
from django.core.management import CommandError, call_command, get_commands, load_command_class
from django.test import Client

from foundation.models import Person
from foundation.people import create_agent, issue_token
from spellbook import doctor
from spellbook.api import api
from tests.engines import Engine, Postgres, chosen, migrate, open_at, put_back
from tests.spellbook import docs
from tests.spellbook.docs import PAGES, ROOT, Shown

API, OPERATIONS, RECEIPTS = (ROOT / "docs" / f"{name}.md" for name in ("api", "operations", "receipts"))
PYTHON = ".venv/bin/python"
ONLY_PARSED = ("migrate", "up", "verify_receipt", "ledger export", "erase")  # other tests run them on what they need
SCOPES = (
    "build:read", "build:write", "catalog:read", "declare:write", "incident:read", "lineage:write", "value:write",
)  # fmt: skip
ANSWERED = {"builds": 202, "lineage": 201}  # all others: 200
ALL = list(docs.commands())
MANAGE = [shown for shown in ALL if shown.words(TOKEN="t", COMMIT="c")[:2] == [PYTHON, "manage.py"]]
MAKE = [shown for shown in ALL if shown.line.startswith("make ")]
MCP = docs.mcp_calls()  # test_mcp_door.py sends them
CURL = [shown for shown in ALL if shown.line.startswith("curl ") and shown not in MCP]
SHELL = [shown for shown in ALL if shown.line.startswith((f"{PYTHON} -c ", "cp "))]
PYTEST = [shown for shown in ALL if ".venv/bin/pytest" in shown.line]
REVIEW = [shown for shown in ALL if shown.page == "change-review.md" and shown not in MANAGE]  # test_change_review.py
by_line = pytest.mark.parametrize


@pytest.fixture
def settled(db: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    docs.settle(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_command_is_of_a_kind_that_is_tried() -> None:
    known = {shown for kind in (MANAGE, MAKE, CURL, MCP, SHELL, PYTEST, REVIEW) for shown in kind}
    assert [str(shown) for shown in ALL if shown not in known] == []
    assert MANAGE
    assert MAKE
    assert CURL
    assert MCP


@by_line("shown", MAKE, ids=str)
def test_make_knows_the_target(shown: Shown) -> None:
    words = shown.words()
    done = subprocess.run(["make", "-n", *words[1:]], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@by_line("shown", MANAGE, ids=str)
def test_the_parser_of_the_command_takes_it(shown: Shown) -> None:
    name, *rest = shown.words()[2:]
    command = load_command_class(get_commands()[name], name)
    assert command.create_parser("manage.py", name).parse_args(rest)


@by_line("shown", [one for one in MANAGE if not one.line.partition("manage.py ")[2].startswith(ONLY_PARSED)], ids=str)
@pytest.mark.usefixtures("settled")
def test_the_command_does_what_the_page_says(shown: Shown) -> None:
    name, *rest = shown.words()[2:]
    out = StringIO()
    # doctor tells what it saw, and refuses when something is missing that only a real installation has
    with suppress(CommandError) if name == "doctor" else nullcontext():
        call_command(name, *rest, stdout=out)
    assert out.getvalue().strip()


@by_line("shown", SHELL, ids=str)
def test_the_shell_runs_it(shown: Shown, tmp_path: Path) -> None:
    (tmp_path / "var").mkdir()
    sqlite3.connect(tmp_path / "var" / "spellbook.sqlite3").close()
    shutil.copy(ROOT / "env.example", tmp_path)
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "SPELLBOOK_DATA_DIR": str(tmp_path / "var")}
    words = [sys.executable if word == PYTHON else word for word in shown.words()]
    done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert {path.name for path in tmp_path.iterdir()} - {"var", "env.example"}


@by_line("shown", PYTEST, ids=str)
def test_the_tests_that_a_page_narrows_to_are_there(shown: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    setting, _, *rest = shown.words()
    name, _, value = setting.partition("=")
    monkeypatch.setenv(name, value)
    assert chosen() == value
    assert all((ROOT / word).exists() for word in rest if not word.startswith("-"))


@by_line("shown", CURL, ids=str)
def test_the_api_answers_the_request_of_the_page(shown: Shown, settled: Path) -> None:
    agent = create_agent("nightly", owner=Person.objects.get(email="owner@example.com"))
    _, token = issue_token(agent, label="nightly", scopes=SCOPES)
    answer = ask(shown.words(TOKEN=token, COMMIT="1" * 40)[1:], settled)
    posted = answer.request["PATH_INFO"].rpartition("/v1/")[2] if answer.request["REQUEST_METHOD"] == "POST" else ""
    assert answer.status_code == ANSWERED.get(posted, 200), answer.content


def ask(words: list[str], folder: Path) -> Any:
    """What the site answers to the arguments of a curl command."""
    options, address = list(zip(words[:-1:2], words[1:-1:2], strict=True)), urlsplit(words[-1])
    headers = dict(value.split(": ", 1) for option, value in options if option == "-H")
    form = {name: content for option, value in options if option == "-F" for name, content in [value.split("=", 1)]}
    body = next((value for option, value in options if option == "-d"), None)
    path = urlunsplit(("", "", address.path, address.query, ""))
    client = Client(headers=headers)
    if body is not None:
        return client.post(path, body, content_type=headers["Content-Type"])
    if not form:
        return client.get(path)
    files = {name: (folder / value[1:]).open("rb") for name, value in form.items() if value.startswith("@")}
    try:
        return client.post(path, {**form, **files})
    finally:
        for file in files.values():
            file.close()


def test_the_declaration_of_the_page_fits_the_graph(db: None, tmp_path: Path) -> None:
    docs.settle(tmp_path)
    out = StringIO()
    call_command("declare", str(tmp_path / "estate.yml"), "--format", "json", stdout=out)
    assert '"unmatched": []' in out.getvalue()


def test_the_page_names_every_endpoint_field_and_scope() -> None:
    schema, text = api.get_openapi_schema(), API.read_text()
    for path, methods in schema["paths"].items():
        assert all(f"`{method.upper()} {path}`" in text for method in methods), path
    parts = [part for name, part in schema["components"]["schemas"].items() if name != "ValuesIn"]
    fields = {field for part in parts for field in part.get("properties", {})}
    assert [field for field in sorted(fields) if f"`{field}`" not in text and f'"{field}"' not in text] == []
    assert all(f"`{scope}`" in text for scope in SCOPES)


def test_the_page_names_every_command_and_no_other() -> None:
    first = [row[0] for row in docs.rows(API)[1:]]
    ours = {name for name, app in get_commands().items() if app == "spellbook"}
    named = {cell.split()[0] for row in first for cell in re.findall(r"`([a-z_]+(?: [^`]*)?)`", row)}
    assert ours <= named
    shown = {shown.words()[2] for shown in MANAGE}
    assert shown <= ours | {"migrate"}


@by_line("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for mark, target in re.findall(r"(!?)\[[^\]]*\]\(([^)]+)\)", docs.prose(page)):
        path, _, anchor = target.partition("#")
        if "://" in target:
            continue
        found = (page.parent / path) if path else page
        if mark:  # pictures are taken from a running site; there may be none yet, but not some
            assert found.is_relative_to(ROOT / "docs" / "screens")
            assert found.exists() or not found.parent.exists()
            continue
        assert found.exists(), target
        assert not anchor or anchor in docs.anchors(found), target


@by_line("page", PAGES, ids=lambda page: page.name)
def test_a_page_names_no_folder_of_a_machine(page: Path) -> None:
    assert re.findall(r"/(?:work|tmp|home|root|usr|opt)/\S*", page.read_text()) == []


def test_every_setting_is_explained() -> None:
    names = set(re.findall(r"^#?([A-Z_]+)=", (ROOT / "env.example").read_text(), re.MULTILINE))
    explained = {name for row in docs.rows(OPERATIONS) for name in re.findall(r"`([A-Z_]+)`", row[0])}
    assert explained == names


def requirements(name: str) -> set[str]:
    lines = (line.strip() for line in (ROOT / name).read_text().splitlines())
    found = (re.match(r"[A-Za-z0-9._-]+", line) for line in lines if line and line[0] not in "#-")
    return {match[0] for match in found if match}


@by_line("name", ["requirements.in", "requirements-dev.in", "requirements-dbt.in", "requirements-openlineage.in"])
def test_every_direct_dependency_has_its_row_and_its_licence(name: str) -> None:
    text = (ROOT / "docs" / "dependencies.md").read_text()
    section = text.partition(f"(`{name}`)")[2].partition("\n## ")[0]
    table = dict(re.findall(r"^\| `([^`]+)` \| ([^|]+) \|", section, re.MULTILINE))
    assert set(table) == requirements(name)
    folders = [str(path) for path in (ROOT / ".envs" / "dbt" / "lib").glob("python*/site-packages")]
    path = folders if name == "requirements-dbt.in" else sys.path
    found = {package: list(importlib.metadata.distributions(name=package, path=path)) for package in table}
    said = {package: licence(one[0]) for package, one in found.items() if one}
    exact = {package: name for package, (name, _) in said.items() if name}
    assert {package: name for package, name in exact.items() if table[package] != name} == {}
    families = {package: (table[package].partition("-")[0], text) for package, (_, text) in said.items()}
    assert {package: both for package, both in families.items() if both[0] not in both[1]} == {}


def licence(package: importlib.metadata.Distribution) -> tuple[str, str]:
    """The licence as an SPDX expression, where the package gives one, and everything that it says of it."""
    told = package.metadata.json
    expression = str(told.get("license_expression", ""))
    return expression, " ".join([expression, str(told.get("license", "")), *map(str, told.get("classifier", []))])


def test_the_map_of_the_house_names_what_is_there() -> None:
    page = ROOT / "CONTRIBUTING.md"
    spans = re.findall(r"`([^`\n]+)`", docs.prose(page))
    paths = [span for span in spans if re.fullmatch(r"[\w.-]+/[\w./-]*", span) and not span.startswith(".envs")]
    assert [path for path in paths if not (ROOT / path).exists()] == []
    registries = re.findall(r"`([_A-Z]+)` of `([^`]+)`", docs.prose(page))
    assert len(registries) >= 8
    for name, file in registries:
        assert re.search(rf"^{name}\b", (ROOT / file).read_text(), re.MULTILINE), (name, file)


def test_the_recipe_on_the_page_is_that_of_the_bundle() -> None:
    assert [block for block in docs.recipe() if block not in docs.blocks(RECEIPTS, "sh")] == []


@by_line(
    ("module", "function"),
    [("steps", "_predicate"), ("plan_receipt", "plan_predicate"), ("incident_receipt", "predicate")],
)
def test_every_field_of_a_receipt_is_on_the_page(module: str, function: str) -> None:
    tree = ast.parse((ROOT / "approvals" / "services" / f"{module}.py").read_text())
    found = next(node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == function)
    answer = next(node.value for node in found.body if isinstance(node, ast.Return))
    assert isinstance(answer, ast.Dict)
    keys = {key.value for key in answer.keys if isinstance(key, ast.Constant)}
    text = RECEIPTS.read_text()
    assert keys
    assert [key for key in sorted(map(str, keys)) if f"`{key}`" not in text] == []


@pytest.mark.skipif(chosen() != "postgres", reason="the roles are PostgreSQL's")
def test_doctor_accepts_the_roles_of_the_page(
    django_db_setup: None, django_db_blocker: Any, database_engine: Engine
) -> None:
    assert isinstance(database_engine, Postgres)
    prefix = f"{database_engine.prefix}_docs"
    server, inside = (
        [line.replace("spellbook", prefix) for line in block.strip().splitlines()]
        for block in docs.blocks(OPERATIONS, "sql")
    )
    address = urlsplit(database_engine.admin)
    host = address.netloc.rpartition("@")[2]

    def url(role: str, password: str) -> str:
        netloc = f"{prefix}_{role}:{quote(password)}@{host}"
        return urlunsplit(address._replace(netloc=netloc, path=f"/{prefix}"))

    try:
        database_engine.execute(*server)
        database_engine.execute(*inside, name=prefix)
        with django_db_blocker.unblock():
            migrate(url("owner", "choose one"))
            previous = open_at(url("app", "choose another"))
            try:
                found = {one.name: one.state for one in doctor.database()}
            finally:
                put_back(previous)
        assert found == {"database": "works", "triggers": "works", "database role": "works"}
    finally:
        database_engine.execute(
            f"DROP DATABASE IF EXISTS {prefix} WITH (FORCE)",
            f"DROP ROLE IF EXISTS {prefix}_app",
            f"DROP ROLE IF EXISTS {prefix}_owner",
        )
