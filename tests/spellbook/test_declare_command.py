"""`declare`: a file is kept whole or not at all, and a declared reader is withdrawn by its name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from django.contrib.auth import authenticate

from approvals.models import Policy
from catalog.models import Asset, Consumer, Domain
from catalog.selectors import find_asset
from foundation import people
from foundation.models import AuditRow, Person, Role
from incidents.models import Check
from tests.spellbook.commands import Ran, manage, refused
from tests.spellbook.machines import make_shop

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def graph() -> None:
    make_shop()


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


# --- withdraw --------------------------------------------------------------------------------------------------------

COPY = {"consumers": [{"asset": "Nightly copy", "tool": "copier", "mode": "append", "reads": "main.orders"}]}


def readers_of(asset: str) -> list[str]:
    return [one["name"] for one in manage("blast_radius", asset, "--format", "json").json["consumers"]]


def test_a_declared_reader_is_withdrawn_and_the_audit_says_by_whom_and_why(tmp_path: Path) -> None:
    declare(tmp_path, COPY)
    assert "Nightly copy" in readers_of("main.orders")
    ran = manage("declare", "--withdraw", "Nightly copy", "--reason", "The contract ended.", "--format", "json")
    assert (ran.code, ran.json) == (0, {"withdrawn": "Nightly copy", "status": "withdrawn"})
    assert "Nightly copy" not in readers_of("main.orders")
    row = AuditRow.objects.get(action="consumer.withdrawn")
    assert (row.source, row.detail.body["facts"]["reason"]) == ("cli", "The contract ended.")
    assert refused(manage("declare", "--withdraw", "Nightly copy"))
    declare(tmp_path, COPY)
    assert "Nightly copy" in readers_of("main.orders")


def test_what_dbt_says_of_a_reader_is_not_withdrawn_here(tmp_path: Path) -> None:
    board = Asset.objects.get(kind="dashboard").name
    assert "nothing to withdraw" in refused(manage("declare", "--withdraw", board))
    declare(tmp_path, {"consumers": [{"asset": board, "contact": "#numbers"}]})
    assert manage("declare", "--withdraw", board, "--format", "json").json["status"] == "standing"
    assert board in readers_of("main.orders")


def test_only_a_reader_is_withdrawn_and_only_by_who_answers_for_it(tmp_path: Path) -> None:
    people.create_person("owner@example.org", "Owner")
    people.create_person("other@example.org", "Other")
    domain = {"name": "Copies", "owner": "owner@example.org"}
    declare(tmp_path, {"domains": [domain], "consumers": [{**COPY["consumers"][0], "domain": "Copies"}]})
    assert "No asset is named main.orders" in refused(manage("declare", "--withdraw", "main.orders"))
    assert "No asset is named x" in refused(manage("declare", "--withdraw", "x"))
    assert "Only a person" in refused(manage("declare", "--withdraw", "Nightly copy", "--as", "other@example.org"))
    assert Consumer.objects.get(asset__name="Nightly copy").status == "standing"
    assert manage("declare", "--withdraw", "Nightly copy", "--as", "owner@example.org").code == 0


@pytest.mark.parametrize(
    "arguments",
    [(), ("f.yml", "--withdraw", "x"), ("f.yml", "--reason", "x"), ("--withdraw", "x", "--sign-ins"), ("--withdraw",)],
)
def test_a_file_or_a_name_is_given(arguments: tuple[str, ...]) -> None:
    assert refused(manage("declare", *arguments), 2)
