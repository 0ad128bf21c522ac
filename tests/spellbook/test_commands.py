"""The commands of this floor: exit 0 done, 1 refused in one line on stderr, 2 wrong usage; JSON with --format json."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.contrib.auth import authenticate

from approvals.models import AutonomyRule, Policy
from catalog.models import Domain
from catalog.selectors import find_asset
from foundation import people
from foundation.models import AuditRow, Person, Principal, Role, Token
from foundation.people import principal_for_token
from incidents.models import Check, Incident, Result, Value
from tests.catalog.manifests import shop
from tests.spellbook.commands import Ran, manage
from tests.spellbook.machines import make_shop

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def graph() -> None:
    make_shop()


def refused(ran: Ran, code: int = 1) -> str:
    """The one line of a refusal."""
    assert ran.code == code, ran
    assert "Traceback" not in ran.err
    line = ran.err.strip().splitlines()[-1]
    assert code == 2 or len(ran.err.strip().splitlines()) == 1
    assert code == 2 or line.endswith(".")
    return line


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
        (["--owner", "owner@example.org", "--scope", "everything"], "scopes such as"),
    ],
)
def test_a_token_that_cannot_be_issued_leaves_no_agent(more: list[str], words: str) -> None:
    people.create_person("owner@example.org", "Owner")
    before = Principal.objects.filter(kind=Principal.Kind.AGENT).count()
    assert words in refused(manage("token", "issue", "loader", *more))
    assert Principal.objects.filter(kind=Principal.Kind.AGENT).count() == before
    assert not Token.objects.exists()


# --- declare ---------------------------------------------------------------------------------------------------------

DOCUMENT: dict[str, Any] = {
    "people": [
        {"email": "owner@example.com", "name": "Owner", "roles": ["member"]},
        {"email": "Approver@example.com", "name": "Approver", "roles": ["member", "approver"]},
        {"email": "fallback@example.com"},
    ],
    "domains": [
        {
            "name": "Shop floor", "owner": "owner@example.com", "approver": "approver@example.com",
            "fallback": "fallback@example.com", "minimum_minutes": 45,
        }
    ],
    "assets": [
        {"asset": "main.orders", "domain": "Shop floor", "owner": "owner@example.com", "watch": ["row_count"]},
        {"asset": "main.not_there_yet", "watch": ["row_count"]},
    ],
}  # fmt: skip


def declare(folder: Path, document: object, *more: str) -> Ran:
    path = folder / "estate.yml"
    path.write_text(document if isinstance(document, str) else yaml.safe_dump(document))
    return manage("declare", str(path), *more)


def changed(**domain: object) -> dict[str, Any]:
    return {**DOCUMENT, "domains": [{**DOCUMENT["domains"][0], **domain}]}


def test_a_file_declares_people_domains_policy_and_checks(tmp_path: Path) -> None:
    told = declare(tmp_path, DOCUMENT, "--sign-ins", "--format", "json").json
    assert told["ignored"] == []
    assert [one["name"] for one in told["unmatched"]] == ["main.not_there_yet"]
    assert set(told["sign_ins"]) == {"owner@example.com", "approver@example.com", "fallback@example.com"}
    for email, password in told["sign_ins"].items():
        assert authenticate(username=email, password=password) == Person.objects.get(email=email)
    policy = Policy.objects.get(domain__key="shop-floor")
    assert (policy.approver.email, policy.fallback.email) == ("approver@example.com", "fallback@example.com")
    assert policy.minimum_seconds == 45 * 60
    assert Check.objects.get(origin="spellbook").asset == find_asset("main.orders")


def test_without_being_asked_no_password_is_shown(tmp_path: Path) -> None:
    ran = declare(tmp_path, DOCUMENT)
    assert ran.code == 0
    assert "sign_ins" not in ran.out


def test_declared_twice_nothing_changes(tmp_path: Path) -> None:
    declare(tmp_path, DOCUMENT)
    models = (Person, Role, Domain, Policy, Check, AuditRow)
    before = [model._default_manager.count() for model in models], Policy.objects.get().version
    hashes = list(Person.objects.values_list("password", flat=True))
    told = declare(tmp_path, DOCUMENT, "--sign-ins", "--format", "json").json
    assert told["sign_ins"] == {}
    assert ([model._default_manager.count() for model in models], Policy.objects.get().version) == before
    assert list(Person.objects.values_list("password", flat=True)) == hashes


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ("a: [", "not YAML"),
        ("- 1", "holds no declaration"),
        ("", "holds no declaration"),
        ({"people": 3}, "list of mappings"),
        ({"people": [{"name": "x"}]}, "needs an email"),
        ({"people": [{"email": "no address"}]}, "address"),
        ({"people": [{"email": "a@example.com", "roles": "admin"}]}, "list of words"),
        (changed(approver="nobody@example.com"), "Nobody has the e-mail nobody@example.com"),
        (changed(approver=None), "approver is missing"),
        (changed(fallback="approver@example.com"), "two people"),
        (changed(owner="nobody@example.com"), "nobody@example.com"),
        (changed(minimum_minutes="soon"), "whole number"),
        (changed(minimum_minutes=0), "whole number"),
        ({**DOCUMENT, "assets": [{"asset": "main.orders", "watch": ["freshness"]}]}, "row_count and nothing else"),
        ({**DOCUMENT, "assets": [{"asset": "orders", "watch": ["row_count"]}]}, "ambiguous"),
        ({**DOCUMENT, "assets": [{"watch": ["row_count"]}]}, "asset"),
        ({**DOCUMENT, "consumers": [{"asset": "Board", "schedule": {"cron": "soon"}}]}, "cron line"),
    ],
    ids=lambda value: str(value)[:30],
)  # fmt: skip
def test_what_cannot_be_declared_leaves_nothing(document: object, words: str, tmp_path: Path) -> None:
    assert words in refused(declare(tmp_path, document))
    assert not Person.objects.exists()
    assert not Domain.objects.exists()
    assert not Check.objects.exists()


def test_a_file_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    assert "cannot be read" in refused(manage("declare", str(tmp_path / "absent.yml")))


# --- ledger, verify_receipt ------------------------------------------------------------------------------------------


def test_an_empty_ledger_holds_and_exports_nothing(tmp_path: Path) -> None:
    assert manage("ledger", "check", "--format", "json").json["leaves"] == 0
    assert "not the id" in refused(manage("ledger", "export", "x"))
    assert "no such receipt" in refused(manage("ledger", "export", "00000000-0000-0000-0000-000000000000"))


def test_a_bundle_without_published_keys_or_without_form_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bundle.zip").write_bytes(shop())
    assert "no key is published" in refused(manage("verify_receipt", str(tmp_path / "bundle.zip")))
    assert refused(manage("verify_receipt", str(tmp_path / "bundle.zip"), "--key", "nonsense"))
