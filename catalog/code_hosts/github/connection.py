"""What a connection to a repository on GitHub holds (kind `github`, purpose `code`).

Parameters:

    repository       "owner/name"
    api              "https://api.github.com"; of an own server "https://HOST/api/v3"
    app_id           of a GitHub App (or its client id); with it `installation_id`; without both a token is used
    installation_id  of the App on that repository
    check_name       of the check run or status, "Spellbook"
    project_subdir   where dbt's project lies in the repository, "" for its root
    dbt_project      name of that project, "" where the repository holds none
    artifact         name of the artifact that holds manifest.json, "spellbook-manifest"
    logins           {"login at GitHub": "e-mail of a person here"}, so that nobody acknowledges a change of their own
    files            [{"path": "models/*.yaml", "asset": "name of an asset"}], for repositories that are not dbt's; also
                     a list of names, and an empty one where no table is made of these files

Secrets are told apart by their place in `secret_names`: the first is the credential (the token; with `app_id` the App's
private key in PEM), every further one is a webhook secret. With two of these a webhook's secret is changed without a
gap.

Permissions on that repository: contents, actions read; pull requests write (one comment); for an App checks write, for
a token commit statuses write. Events: pull requests, pushes, workflow runs, check runs, check suites.

Hosts go onto SPELLBOOK_OUTBOUND_ALLOW: that of `api`, and for artifacts the storage that GitHub sends us to, such
as `*.blob.core.windows.net`.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from catalog.sources.file_map import FileRule, read_file_map
from foundation.errors import BadInput
from foundation.models import Connection
from foundation.secrets import secret

KIND = "github"
PURPOSE = "code"
API = "https://api.github.com"
CHECK_NAME = "Spellbook"
ARTIFACT = "spellbook-manifest"

_REPOSITORY = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}/[A-Za-z0-9._-]{1,100}")
_APP = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_NUMBER = re.compile(r"[1-9][0-9]{0,17}")
_KNOWN = frozenset({
    "repository", "api", "app_id", "installation_id", "check_name", "project_subdir", "dbt_project", "artifact",
    "files", "logins",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Settings:
    """A connection's parameters and the names of its secrets, checked. `app_id` is "" where a token is used. `logins`
    are the e-mails of people here by their logins at GitHub, as they were written."""

    name: str
    owner: str
    repository: str
    api: str
    app_id: str
    installation_id: str
    check_name: str
    project_subdir: str
    dbt_project: str
    artifact: str
    files: tuple[FileRule, ...]
    logins: Mapping[str, str]
    credential_name: str
    webhook_names: tuple[str, ...]

    @property
    def full_name(self) -> str:
        return f"{self.owner}/{self.repository}"


def read_settings(connection: Connection) -> Settings:
    """The connection's parameters, checked; BadInput with what is wrong. No secret is read."""
    if connection.kind != KIND or connection.purpose != PURPOSE:
        raise BadInput(f"The connection {connection.name} is not one of kind {KIND} and purpose {PURPOSE}.")
    return check_settings(connection.name, connection.params, connection.secret_names)


def check_settings(name: str, params: Mapping[str, Any], secret_names: Sequence[str]) -> Settings:
    """As `read_settings`, for parameters that are not saved yet."""
    where = f"The connection {name}"
    unknown = sorted(set(params) - _KNOWN)
    if unknown:
        raise BadInput(f"{where} has the unknown parameter {unknown[0]!r}; known are {', '.join(sorted(_KNOWN))}.")
    if not secret_names:
        raise BadInput(f"{where} names no secret: first the token or private key, then the webhook's secret.")
    owner, _, repository = _matching(where, params, "repository", "", _REPOSITORY, 'is "owner/name"').partition("/")
    app_id, installation_id = _app(where, params)
    return Settings(
        name=name,
        owner=owner,
        repository=repository,
        api=_api(where, _text(where, params, "api", API)),
        app_id=app_id,
        installation_id=installation_id,
        check_name=_text(where, params, "check_name", CHECK_NAME) or CHECK_NAME,
        project_subdir=_folder(where, _text(where, params, "project_subdir", "")),
        dbt_project=_text(where, params, "dbt_project", ""),
        artifact=_text(where, params, "artifact", ARTIFACT) or ARTIFACT,
        files=read_file_map(params.get("files", []), where),
        logins=_logins(where, params.get("logins", {})),
        credential_name=secret_names[0],
        webhook_names=tuple(secret_names[1:]),
    )


def webhook_secrets(settings: Settings) -> list[str]:
    """The secrets that may sign a webhook; BadInput when the connection names none, Unavailable when one is missing."""
    if not settings.webhook_names:
        raise BadInput(f"The connection {settings.name} names no webhook secret; it is the second of its secrets.")
    return [secret(name) for name in settings.webhook_names]


def _app(where: str, params: Mapping[str, Any]) -> tuple[str, str]:
    app_id, installation_id = (_identifier(where, params, key) for key in ("app_id", "installation_id"))
    if bool(app_id) != bool(installation_id):
        raise BadInput(f"{where} needs app_id and installation_id together, or neither (then it uses a token).")
    if app_id and not _APP.fullmatch(app_id):
        raise BadInput(f"{where}: app_id is the App's number or client id.")
    if installation_id and not _NUMBER.fullmatch(installation_id):
        raise BadInput(f"{where}: installation_id is a number.")
    return app_id, installation_id


def _identifier(where: str, params: Mapping[str, Any], key: str) -> str:
    """GitHub shows these as numbers, so a number is as good as its text."""
    value = params.get(key, "")
    return str(value) if type(value) is int else _text(where, params, key, "")


def _text(where: str, params: Mapping[str, Any], key: str, otherwise: str) -> str:
    value = params.get(key, otherwise)
    if not isinstance(value, str) or len(value) > 300 or not value.isprintable():
        raise BadInput(f"{where}: {key} is a text of at most 300 printable characters.")
    return value.strip()


def _matching(
    where: str, params: Mapping[str, Any], key: str, otherwise: str, pattern: re.Pattern[str], says: str
) -> str:
    value = _text(where, params, key, otherwise)
    if not pattern.fullmatch(value) or value.endswith(("/.", "/..")):
        raise BadInput(f"{where}: {key} {says}.")
    return value


def _api(where: str, text: str) -> str:
    """Without a closing slash. Plain http only on this machine: the token travels in every request."""
    try:
        parts = urlsplit(text)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        raise BadInput(f"{where}: api is no address.") from None
    if parts.scheme not in ("https", "http") or not host or parts.query or parts.fragment or "@" in parts.netloc:
        raise BadInput(f"{where}: api is an address such as {API}, without user, query or fragment.")
    if parts.scheme == "http" and not _loopback(host):
        raise BadInput(f"{where}: api begins with https://, because the token travels in every request.")
    return text.rstrip("/")


def _loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _folder(where: str, text: str) -> str:
    parts = text.strip("/").split("/") if text.strip("/") else []
    if text.startswith("/") or "\\" in text or {"", ".", ".."} & set(parts):
        raise BadInput(f"{where}: project_subdir is a folder inside the repository, such as analytics/dbt.")
    return "/".join(parts)


def _logins(where: str, value: object) -> dict[str, str]:
    texts = [*value, *value.values()] if isinstance(value, Mapping) else [None]
    if not isinstance(value, Mapping) or not all(
        isinstance(text, str) and text.strip() and text.isprintable() for text in texts
    ):
        raise BadInput(f'{where}: logins is {{"login at GitHub": "e-mail of a person here"}}.')
    return {login.strip(): email.strip() for login, email in value.items()}
