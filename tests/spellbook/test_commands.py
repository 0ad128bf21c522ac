"""The commands of this floor: exit 0 done, 1 refused in one line on stderr, 2 wrong usage; JSON with --format json."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from approvals.models import AutonomyRule
from catalog.models import Domain
from catalog.selectors import find_asset
from foundation import people
from foundation.models import AuditRow, Principal, Token
from foundation.people import principal_for_token
from incidents.models import Incident, Result, Value
from spellbook.management.commands.token import SCOPES
from tests.catalog.manifests import shop
from tests.spellbook.commands import manage, refused
from tests.spellbook.machines import make_shop

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def graph() -> None:
    make_shop()


# --- record ----------------------------------------------------------------------------------------------------------


def test_record_says_the_verdict() -> None:
    ran = manage("record", "main.orders", "row_count", "100", "--build", "night-1")
    assert ran.code == 0
    assert ran.out.startswith("dev.main.orders row_count 100 not evaluated")
    value = Value.objects.get()
    assert (value.build and value.build.key, value.principal.kind) == ("night-1", Principal.Kind.SYSTEM)
    told = manage("record", "main.orders", "row_count", "100", "--build", "night-1", "--format", "json").json
    assert (told["created"], told["verdict"], told["value"]) == (False, "not_evaluated", "100")


def test_record_opens_an_incident_and_names_it() -> None:
    for night in range(5):
        manage("record", "main.orders", "row_count", "1000", "--build", f"night-{night}")
    ran = manage("record", "main.orders", "row_count", "10", "--build", "tonight")
    assert ran.code == 0
    assert "breach (980 to 1020)" in ran.out
    assert ran.out.strip().endswith("INC-1")


@pytest.mark.parametrize("value", ["NaN", "inf", "many", "", "1e999", "0x10", "1" * 40])
def test_record_refuses_what_is_no_finite_number(value: str) -> None:
    refused(manage("record", "main.orders", "row_count", value))
    assert not Value.objects.exists()


def test_record_refuses_unknown_and_ambiguous_assets_and_bad_times() -> None:
    assert "No asset is named nothing" in refused(manage("record", "nothing", "row_count", "1"))
    assert "ambiguous" in refused(manage("record", "orders", "row_count", "1"))
    assert "not a time" in refused(manage("record", "main.orders", "row_count", "1", "--at", "yesterday"))
    assert "zone" in refused(manage("record", "main.orders", "row_count", "1", "--at", "2026-01-01T00:00:00"))
    manage("record", "main.orders", "row_count", "1", "--build", "b")
    assert "is 1 for build b already" in refused(manage("record", "main.orders", "row_count", "2", "--build", "b"))


def test_wrong_usage_is_exit_two() -> None:
    refused(manage("record"), 2)
    refused(manage("record", "main.orders", "row_count"), 2)
    refused(manage("record", "main.orders", "row_count", "1", "--file", "x"), 2)
    refused(manage("record", "main.orders", "row_count", "1", "--colour", "red"), 2)
    refused(manage("record", "main.orders", "row_count", "1", "--format", "xml"), 2)
    refused(manage("token"), 2)
    refused(manage("token", "issue", "x"), 2)
    refused(manage("declare"), 2)
    refused(manage("ledger"), 2)
    refused(manage("verify_receipt"), 2)


def test_a_file_of_values_prints_one_verdict_a_line(tmp_path: Path) -> None:
    lines = [
        {"asset": "main.orders", "metric": "row_count", "value": 1, "build": "a"},
        {"asset": "main.orders", "metric": "row_count", "value": float("nan"), "build": "b"},
        {"asset": "nothing", "metric": "row_count", "value": 1},
        {"asset": "main.orders", "metric": "row_count"},
        {"asset": "main.orders", "metric": "row_count", "value": 1, "colour": "red"},
        {"asset": "main.orders", "metric": "row_count", "value": True},
        {"asset": "main.orders", "metric": "row_count", "value": "2", "build": "c", "at": "2026-01-01T00:00:00Z"},
    ]
    text = "\n".join([*map(json.dumps, lines), "", "not json", "[" * 50_000, "7"])
    (tmp_path / "values.jsonl").write_text(text + "\n")
    ran = manage("record", "--file", str(tmp_path / "values.jsonl"), "--format", "json")
    assert refused(ran) == "8 of 10 lines were refused; the others are recorded."
    told = [json.loads(line) for line in ran.out.splitlines()]
    assert [one.get("line") for one in told] == [None, 2, 3, 4, 5, 6, None, 9, 10, 11]
    assert "finite" in told[1]["message"]
    assert Value.objects.count() == 2
    ran = manage("record", "--file", str(tmp_path / "values.jsonl"))
    assert ran.out.splitlines()[1].startswith("line 2: The value must be a finite number")


@pytest.mark.parametrize(("name", "words"), [("absent.jsonl", "cannot be read"), ("latin.jsonl", "not UTF-8")])
def test_a_file_that_cannot_be_read_is_one_sentence(name: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "latin.jsonl").write_bytes(b'{"asset": "\xe9"}')
    assert words in refused(manage("record", "--file", str(tmp_path / name)))


def test_a_person_acts_under_their_own_name() -> None:
    owner = people.create_person("owner@example.org", "Owner")
    assert manage("record", "main.orders", "row_count", "1", "--as", "OWNER@example.org").code == 0
    assert Value.objects.get().principal == owner.principal
    assert AuditRow.objects.get(action="value.recorded").source == "cli"
    assert "No active person" in refused(manage("record", "main.orders", "row_count", "1", "--as", "x@example.org"))


def test_at_level_zero_a_value_is_kept_and_not_judged() -> None:
    owner = people.create_person("owner@example.org", "Owner")
    domain = Domain.objects.create(key="d", name="d", owner=owner)
    type(find_asset("main.orders")).objects.update(domain=domain)
    AutonomyRule.objects.create(domain=domain, level=0)
    assert "not judged" in manage("record", "main.orders", "row_count", "1").out


# --- run_checks ------------------------------------------------------------------------------------------------------


def test_a_table_that_cannot_be_counted_is_not_evaluated(tmp_path: Path) -> None:
    ran = manage("run_checks", "main.orders")
    assert ran.code == 0
    assert ran.out.startswith("dev.main.orders row_count: not evaluated (")
    told = manage("run_checks", "main.orders", "--format", "json").json["results"]
    assert (told[0]["status"], told[0]["observed"]) == ("not evaluated", {})
    assert Result.objects.count() == 2
    assert not Incident.objects.exists()
    assert "No asset" in refused(manage("run_checks", "nothing"))


def test_without_watched_tables_it_says_what_to_do() -> None:
    assert "declare" in manage("run_checks").out


# --- token -----------------------------------------------------------------------------------------------------------


def test_an_unknown_scope_is_named_with_those_that_there_are() -> None:
    people.create_person("owner@example.org", "The owner")
    line = refused(manage("token", "issue", "loader", "--owner", "owner@example.org", "--scope", "foo"))
    assert "There is no scope foo" in line
    files = [file for folder in ("api", "mcp") for file in Path("spellbook", folder).rglob("*.py")]
    used = set(re.findall(r'"([a-z]+:(?:read|write))"', "".join(file.read_text() for file in files)))
    assert used == set(SCOPES)
    assert all(scope in line for scope in SCOPES)
    assert not Token.objects.exists()


def test_a_token_is_shown_once_and_works() -> None:
    people.create_person("owner@example.org", "Owner")
    ran = manage(
        "token", "issue", "loader", "--owner", "Owner@example.org", "--scope", "value:write", "--scope", "build:write",
        "--namespace", "duckdb://wh", "--format", "json",
    )  # fmt: skip
    agent = principal_for_token(ran.json["token"], scope="value:write")
    assert (agent.kind, agent.namespaces) == (Principal.Kind.AGENT, ["duckdb://wh"])
    token = Token.objects.get()
    assert token.scopes == ["build:write", "value:write"]
    assert ran.json["token"] not in token.hash
    assert not any(ran.json["token"] in str(row.__dict__) for row in AuditRow.objects.all())


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--owner", "nobody@example.org", "--scope", "value:write"], "No active person"),
        (["--owner", "owner@example.org", "--scope", "everything"], "There is no scope"),
    ],
)
def test_a_token_that_cannot_be_issued_leaves_no_agent(more: list[str], words: str) -> None:
    people.create_person("owner@example.org", "Owner")
    before = Principal.objects.filter(kind=Principal.Kind.AGENT).count()
    assert words in refused(manage("token", "issue", "loader", *more))
    assert Principal.objects.filter(kind=Principal.Kind.AGENT).count() == before
    assert not Token.objects.exists()


# --- ledger, verify_receipt ------------------------------------------------------------------------------------------


def test_an_empty_ledger_holds_and_exports_nothing(tmp_path: Path) -> None:
    assert manage("ledger", "check", "--format", "json").json["leaves"] == 0
    assert "not the id" in refused(manage("ledger", "export", "x"))
    assert "no such receipt" in refused(manage("ledger", "export", "00000000-0000-0000-0000-000000000000"))


def test_a_bundle_without_published_keys_or_without_form_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bundle.zip").write_bytes(shop())
    assert "no key is published" in refused(manage("verify_receipt", str(tmp_path / "bundle.zip")))
    assert refused(manage("verify_receipt", str(tmp_path / "bundle.zip"), "--key", "nonsense"))
