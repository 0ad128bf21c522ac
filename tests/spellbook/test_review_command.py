"""`spellbook review` and `manage.py review`: what is printed and written, with which exit code, and what is refused."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from jsonschema import Draft202012Validator

from catalog.review.known.facts_document import FactsDocument, write
from catalog.review.types import KnownReader, Rule
from catalog.services.declare import declare
from catalog.services.imports import import_manifest
from catalog.sources import artifact
from foundation import people
from foundation.audit import Actor
from spellbook.command_line import main
from tests.spellbook.commands import manage
from tests.spellbook.package_repo import AT, ROOT, pair, shop

DECLARED = "consumers:\n- {asset: Nightly copy, tool: copier, mode: append, reads: main.orders}\n"
FACTS = FactsDocument(
    datetime(2026, 9, 28, 4, tzinfo=UTC),
    "https://spellbook.example.com",
    readers=(KnownReader("A told board", "dashboard", ("model.shop.orders",)),),
    rules=(Rule("model.shop.orders", "it is billed"),),
)


class Said:
    """What one run of the command line said."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def readers(self) -> list[str]:
        return sorted(reader["name"] for reader in self.json["readers"])


@pytest.fixture
def review(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]) -> Any:
    """The command line, run in a folder with the manifests `base` and `head`."""
    pair(tmp_path)
    monkeypatch.chdir(tmp_path)

    def run(*words: str, base: str = "base", head: str = "head") -> Said:
        try:
            code = main(["review", base, head, "--at", AT, *words])
        except SystemExit as ended:
            code = int(ended.code or 0)
        read = capsysbinary.readouterr()
        return Said(code, read.out.decode(), read.err.decode())

    return run


def test_markdown_is_printed_and_a_dangerous_change_alone_is_no_failure(review: Any) -> None:
    said = review()
    assert (said.code, said.err) == (0, "")
    assert "Dangerous" in said.out
    assert "is\\_internal" in said.out or "is_internal" in said.out
    assert "06:00 UTC" in said.out


@pytest.mark.parametrize(
    ("asked", "head", "code"),
    [
        ("dangerous", "head", 1),
        ("look", "head", 1),
        ("never", "head", 0),
        ("look", "base", 0),
        ("dangerous", "base", 0),
    ],
)
def test_the_verdict_fails_the_job_that_asks_for_it(review: Any, asked: str, head: str, code: int) -> None:
    said = review("--fail-on", asked, head=head)
    assert said.code == code
    assert said.err == (f"The verdict is dangerous (--fail-on {asked}).\n" if code else "")
    assert said.out


def test_both_forms_are_written_and_json_is_printed(review: Any, tmp_path: Path) -> None:
    (tmp_path / "review.md").write_text("old")
    said = review("--format", "json", "--json", "review.json", "--markdown", "review.md", "--compared", "a with b")
    assert json.loads((tmp_path / "review.json").read_text()) == said.json
    assert (said.json["verdict"], said.json["compared"]) == ("dangerous", "a with b")
    assert (tmp_path / "review.md").read_text(encoding="utf-8") == review("--compared", "a with b").out
    assert {path.name for path in tmp_path.iterdir()} == {"base", "head", "review.json", "review.md"}


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--json", "nowhere/review.json"), "nowhere/review.json cannot be written: No such file or directory."),
        (("--json", "ok.json", "--markdown", "base"), "base is no file, so that nothing is written there."),
        (
            ("--json", "ok.json", "--markdown", os.devnull),
            f"{os.devnull} is no file, so that nothing is written there.",
        ),
        (("--json", "same", "--markdown", "./same"), "--json and --markdown name the same file."),
    ],
)
def test_a_file_that_cannot_be_written_leaves_none_half_written(
    review: Any, tmp_path: Path, words: tuple[str, ...], why: str
) -> None:
    said = review(*words)
    assert (said.code, said.out, said.err) == (1, "", f"{why}\n")
    assert {path.name for path in tmp_path.iterdir()} == {"base", "head"}


def spoil(folder: Path, how: str) -> None:
    path = folder / "head" / "manifest.json"
    whole = path.read_bytes()
    if how == "gone":
        path.unlink()
    elif how == "cut":
        path.write_bytes(whole[:-40])
    elif how == "binary":
        path.write_bytes(b"\x00\xff\x13PNG" * 99)
    elif how == "catalog":
        path.write_text('{"nodes": {"model.shop.a": {"stats": {}}}}')
    elif how == "other":
        path.write_bytes(shop().replace(b"shop", b"mill").replace(b'"orders"', b'"flour"'))
    elif how == "pipe":
        path.unlink()
        os.mkfifo(path)
    elif how == "folder":
        path.unlink()
        path.mkdir()


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ("gone", "Head: the folder head holds no manifest.json; run `dbt parse` or `dbt compile` there."),
        ("cut", "head head/manifest.json: the manifest is truncated"),
        ("binary", "head head/manifest.json: the manifest is not"),
        ("catalog", "head head/manifest.json: this is a dbt catalog file, not a manifest."),
        ("pipe", "head: the manifest head/manifest.json is no file."),
        ("folder", "head: the manifest head/manifest.json is no file."),
        ("other", "The base is a manifest of the project shop, the head one of mill"),
    ],
)
def test_a_manifest_that_cannot_be_used_is_one_clear_line(review: Any, tmp_path: Path, how: str, why: str) -> None:
    spoil(tmp_path, how)
    said = review("--json", "review.json")
    assert (said.code, said.out) == (1, "")
    assert said.err.lower().startswith(why.lower())
    assert (said.err.count("\n"), said.err[-2:]) == (1, ".\n")
    assert not (tmp_path / "review.json").exists()


def test_a_huge_manifest_is_refused_unread(review: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with (tmp_path / "head" / "manifest.json").open("r+b") as file:
        file.truncate(artifact.MAX_BYTES)
    said = review()
    assert (said.code, said.out) == (1, "")
    assert said.err.startswith("head head/manifest.json: the manifest is larger than") or "MB" in said.err
    assert said.err.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--declared", "nowhere.yml"), "The declaration nowhere.yml cannot be read: No such file or directory."),
        (("--declared", "bad.yml"), "bad.yml is not YAML (line 1)."),
        (("--declared", "base"), "The declaration base is no file."),
        (("--declared", "typo.yml"), "typo.yml: Entry 1 of consumers (Copy): mode is one of mirror, append,"),
        (("--catalog", "nowhere.json"), "The catalog nowhere.json cannot be read: No such file or directory."),
        (("--catalog", "base/manifest.json"), "base/manifest.json: this is a dbt manifest file, not a catalog."),
        (("--facts", "nowhere.json"), "The facts document nowhere.json cannot be read: No such file or directory."),
        (("--facts", "bad.yml"), "bad.yml: the facts document is"),
        (("--facts", "http://facts.example.com/x?token=secret"), "The facts are asked for over https (http on this"),
    ],
)
def test_other_input_that_cannot_be_used_is_one_clear_line(
    review: Any, tmp_path: Path, words: tuple[str, ...], why: str
) -> None:
    (tmp_path / "bad.yml").write_text("a: [")
    (tmp_path / "typo.yml").write_text("consumers: [{asset: Copy, tool: x, mode: mirrored, reads: orders}]")
    said = review(*words)
    assert (said.code, said.out) == (1, "")
    assert said.err.startswith(why)
    assert said.err.count("\n") == 1
    assert "secret" not in said.err


@pytest.mark.parametrize(
    "words",
    [("--at", "noon"), ("--at", "2026-01-01T00:00:00"), ("--fail-on", "safe"), ("--format", "html"), ("--odd",)],
)
def test_wrong_usage_ends_with_two(review: Any, words: tuple[str, ...]) -> None:
    said = review(*words)
    assert (said.code, said.out) == (2, "")
    assert "usage:" in said.err


def test_readers_come_from_the_file_beside_the_project_from_files_that_are_named_and_from_facts(
    review: Any, tmp_path: Path
) -> None:
    (tmp_path / "spellbook.yml").write_text(DECLARED)
    assert review("--format", "json").readers == ["copy"]  # this is no dbt project
    (tmp_path / "dbt_project.yml").write_text("name: shop")
    assert review("--format", "json").readers == ["Nightly copy", "copy"]
    (tmp_path / "more.yml").write_text(DECLARED.replace("Nightly", "Daily"))
    (tmp_path / "facts.json").write_bytes(write(FACTS))
    said = review("--format", "json", "--declared", "more.yml", "--facts", "facts.json")
    assert said.readers == ["A told board", "Daily copy", "copy"]
    assert any("it is billed" in sentence for sentence in said.json["required"])
    assert said.json["sources"][-1] == "facts of https://spellbook.example.com, taken 2026-09-28 04:00 UTC"


def test_facts_that_cannot_be_had_and_are_optional_leave_readers_unknown(review: Any) -> None:
    said = review("--format", "json", "--facts", "nowhere.json", "--facts-optional")
    assert (said.code, said.json["readers_known"]) == (0, False)
    assert said.readers == ["copy"]
    assert any(note.startswith("Facts were asked for and are not used: the facts") for note in said.json["notes"])


@pytest.mark.parametrize(
    ("script", "code", "why"),
    [
        ("{} > /dev/full", 1, "The review cannot be printed: No space left on device.\n"),
        ("set -o pipefail; {} | true", 0, ""),
    ],
)
def test_an_output_that_takes_nothing_is_told_and_one_that_nobody_reads_is_not(
    tmp_path: Path, script: str, code: int, why: str
) -> None:
    pair(tmp_path)
    command = f"{sys.executable} -m spellbook.command_line review base head"
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        ["bash", "-c", script.format(command)],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (code, "", why)


def test_manage_py_says_the_same_and_refuses_alike(review: Any) -> None:
    words = ("base", "head", "--at", AT)
    assert manage("review", *words).out == review().out
    failed = manage("review", *words, "--fail-on", "look")
    assert (failed.code, failed.out, failed.err) == (1, review().out, "The verdict is dangerous (--fail-on look).\n")
    refused = manage("review", "nowhere", "head")
    assert (refused.code, refused.out) == (1, "")
    assert refused.err == "base: the manifest nowhere cannot be read: No such file or directory.\n"
    assert manage("review", "base").code == 2


@pytest.mark.django_db
def test_manage_py_knows_what_the_database_knows(review: Any) -> None:
    actor = Actor(people.system("command line"), "cli")
    import_manifest(shop(), actor=actor)
    declare({"consumers": [{"asset": "Told here", "tool": "copier", "reads": "main.orders"}]}, actor=actor)
    words = ("review", "base", "head", "--at", AT, "--format", "json")
    assert "Told here" not in manage(*words).out
    said = manage(*words, "--from-database")
    assert said.code == 0, said.err
    assert sorted(reader["name"] for reader in said.json["readers"]) == ["Told here", "copy"]
    assert any(source.startswith("facts") for source in said.json["sources"])


@pytest.mark.django_db
def test_what_an_installation_gives_over_http_is_known_on_another_machine(review: Any, tmp_path: Path) -> None:
    actor = Actor(people.system("command line"), "cli")
    owner = people.create_person("owner@example.com", "Owner", actor=actor)
    import_manifest(shop(), actor=actor)
    entry = {"asset": "Told here", "tool": "copier", "mode": "mirror", "reads": "main.orders", "columns": ["id"]}
    declare({"consumers": [{**entry, "schedule": {"cron": "30 * * * *"}}]}, actor=actor)
    agent = people.create_agent("job", owner=owner)
    _, token = people.issue_token(agent, label="job", scopes=("catalog:read",))
    answer = Client(headers={"Authorization": f"Bearer {token}"}).get("/api/v1/review-facts?project=shop")
    assert answer.status_code == 200
    Draft202012Validator(json.loads((ROOT / "docs/schemas/facts-1.json").read_bytes())).validate(answer.json())
    (tmp_path / "facts.json").write_bytes(answer.content)
    said = review("--format", "json", "--facts", "facts.json")
    (told,) = [reader for reader in said.json["readers"] if reader["name"] == "Told here"]
    assert (told["mode"], told["next_read"], told["certain"]) == ("mirror", "2026-09-28T05:30:00+00:00", True)
    assert said.json["changes"][0]["verdict"] == "dangerous"


def test_the_facts_say_every_field_of_a_reader() -> None:
    told = json.loads(write(FACTS))["readers"][0]
    assert told.keys() == asdict(FACTS.readers[0]).keys()
