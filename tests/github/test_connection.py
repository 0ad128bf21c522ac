"""What a connection to GitHub may hold."""

from __future__ import annotations

from typing import Any

import pytest

from catalog.code_hosts.github.connection import check_settings, read_settings, webhook_secrets
from catalog.sources.file_map import FileRule
from foundation.connections import save
from foundation.errors import BadInput, Unavailable
from foundation.models import Connection
from tests.foundation.cast import actor

SECRETS = ["SPELLBOOK_CONN_CODE", "SPELLBOOK_CONN_HOOK", "SPELLBOOK_CONN_HOOK_OLD"]
FULL: dict[str, Any] = {
    "repository": "acme_x/shop.models", "api": "https://ghe.example.org/api/v3/", "app_id": 4711,
    "installation_id": "815", "check_name": "Spellbook (prod)", "project_subdir": "/analytics/dbt/",
    "dbt_project": "shop", "artifact": "manifest", "files": [{"path": "models/*.yaml", "asset": "db.schema.table"}],
    "logins": {"dev": "ada@example.org"},
}  # fmt: skip


def test_every_parameter_is_read() -> None:
    found = check_settings("code", {**FULL, "project_subdir": "analytics/dbt/"}, SECRETS)
    assert (found.full_name, found.owner, found.repository) == ("acme_x/shop.models", "acme_x", "shop.models")
    assert (found.api, found.app_id, found.installation_id) == ("https://ghe.example.org/api/v3", "4711", "815")
    assert (found.project_subdir, found.files) == (
        "analytics/dbt",
        (FileRule("models/*.yaml", ("db.schema.table",)),),
    )
    assert found.logins == {"dev": "ada@example.org"}
    assert (found.credential_name, found.webhook_names) == (SECRETS[0], tuple(SECRETS[1:]))


def test_a_repository_and_a_token_are_enough() -> None:
    found = check_settings("code", {"repository": "acme/shop"}, ["github-token"])
    assert (found.api, found.app_id, found.check_name, found.artifact, found.files, found.logins) == (
        "https://api.github.com", "", "Spellbook", "spellbook-manifest", (), {},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"repository": "acme"}, "owner/name"), ({"repository": "acme/a/b"}, "owner/name"),
        ({"repository": ""}, "owner/name"), ({"repository": "acme/.."}, "owner/name"),
        ({"repository": "https://github.com/acme/shop"}, "owner/name"), ({"repository": 7}, "repository is a text"),
        ({"api": "http://api.github.com"}, "begins with https"), ({"api": "ftp://x"}, "is an address such as"),
        ({"api": "https://u:p@x.org"}, "without user"), ({"api": "https://x.org?a=b"}, "query"),
        ({"api": "https://[bad"}, "no address"), ({"api": "https://x:99999999"}, "no address"),
        ({"api": ""}, "address"),
        ({"app_id": "4711"}, "together"), ({"installation_id": "815"}, "together"),
        ({"app_id": "4711", "installation_id": "x"}, "is a number"),
        ({"app_id": "../4711", "installation_id": "1"}, "number or client id"),
        ({"app_id": True, "installation_id": "1"}, "app_id is a text"),
        ({"project_subdir": "/abs"}, "folder inside"), ({"project_subdir": "a/../b"}, "folder inside"),
        ({"project_subdir": "a\\b"}, "folder inside"), ({"check_name": "x\n"}, "printable"),
        ({"artifact": "x" * 301}, "300"), ({"files": {}}, "files is a list"), ({"files": ["x"]}, "entry 1 of files"),
        ({"logins": ["dev"]}, "logins is"), ({"logins": {"dev": 7}}, "logins is"),
        ({"logins": {"dev": ""}}, "logins is"),
        ({"files": [{"path": "x"}]}, "entry 1 of files"), ({"files": [{"path": "", "asset": "x"}]}, "path is a text"),
        ({"files": [{"path": "x", "asset": 7}]}, "asset is a name or a list of names"),
        ({"repo": "acme/shop"}, "unknown parameter 'repo'"),
    ],
)  # fmt: skip
def test_a_parameter_that_will_not_do_is_named(params: dict[str, Any], words: str) -> None:
    with pytest.raises(BadInput, match=words) as error:
        check_settings("code", {"repository": "acme/shop", **params}, SECRETS)
    assert str(error.value).startswith("The connection code")


def test_the_first_secret_is_the_credential_and_the_others_sign_webhooks(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadInput, match="names no secret"):
        check_settings("code", {"repository": "acme/shop"}, [])
    with pytest.raises(BadInput, match="names no webhook secret"):
        webhook_secrets(check_settings("code", {"repository": "acme/shop"}, SECRETS[:1]))
    found = check_settings("code", {"repository": "acme/shop"}, SECRETS)
    monkeypatch.setenv(SECRETS[1], "new")
    with pytest.raises(Unavailable, match=SECRETS[2]):
        webhook_secrets(found)
    monkeypatch.setenv(SECRETS[2], "old")
    assert webhook_secrets(found) == ["new", "old"]


def test_a_connection_of_another_kind_is_none_of_githubs() -> None:
    for kind, purpose in (("git", "code"), ("github", "read")):
        with pytest.raises(BadInput, match="kind github and purpose code"):
            read_settings(Connection(name="x", kind=kind, purpose=purpose, params={"repository": "a/b"}))


@pytest.mark.django_db
def test_all_parameters_may_be_saved_and_read_back() -> None:
    params = {**FULL, "project_subdir": "analytics"}
    save("code", kind="github", purpose="code", namespace="", params=params, secret_names=SECRETS, actor=actor())
    assert read_settings(Connection.objects.get(name="code")).full_name == "acme_x/shop.models"
