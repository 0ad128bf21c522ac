"""Connections: declared by people, validated, versioned; the secret itself never comes near them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from foundation import clock
from foundation.audit import Actor, record, register
from foundation.canonical import canonical_bytes
from foundation.errors import BadInput, Conflict, NotFound
from foundation.locks import transaction
from foundation.models import Connection
from foundation.models.connections import PURPOSES
from foundation.secrets import check_name

ADDED = register("connection.added", "Connection added", "added the connection {name} ({kind}, {purpose})")
CHANGED = register("connection.changed", "Connection changed", "changed the connection {name} ({kind}, {purpose})")

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_KIND = re.compile(r"[a-z][a-z0-9_]{0,59}")
_SECRET_INSIDE = re.compile(
    r"passw|passphrase|passcode|token|secret|credential|apikey|private|bearer|authoriz|cookie|dsn"
)
_SECRET_WORD = re.compile(r"pass|pwd|pw|auth|sas|key.*|.*key|keys")
_PASSWORD_IN_TEXT = re.compile(r"\b(password|passwd|pwd|token|secret|api_?key)\s*[=:]", re.IGNORECASE)


@dataclass(frozen=True)
class _Wanted:
    """What a connection is to be, as far as a person says it."""

    kind: str
    purpose: str
    namespace: str
    params: dict[str, Any]
    secret_names: list[str]


def get(name: str) -> Connection:
    """The connection of that name; NotFound otherwise."""
    try:
        return Connection.objects.get(name=name)
    except Connection.DoesNotExist:
        raise NotFound(f"There is no connection named {name!r}.") from None


def find(kind: str, purpose: str, namespace: str | None = None) -> Connection | None:
    """The first connection (by name) of that kind and purpose, of that namespace when one is given.

    None when there is none.
    """
    found = Connection.objects.filter(kind=kind, purpose=purpose)
    return (found if namespace is None else found.filter(namespace=namespace)).order_by("name").first()


def save(
    name: str,
    *,
    kind: str,
    purpose: str,
    namespace: str,
    params: Mapping[str, Any],
    secret_names: Sequence[str],
    actor: Actor,
) -> Connection:
    """Add the connection, or change it: then its version rises and its last test no longer counts.

    When nothing is new, nothing happens. Raises BadInput for a name, purpose, parameter or secret name that is not
    allowed (a parameter may not look like a secret).
    """
    if not _NAME.fullmatch(name):
        raise BadInput("A connection's name has letters, digits, dots, dashes and underscores, at most 100.")
    wanted = _checked(kind, purpose, namespace, params, secret_names)
    with transaction():
        # On SQLite the transaction is the lock.
        present = Connection.objects.select_for_update().filter(name=name).first()
        if present is None:
            row, made = Connection.objects.get_or_create(name=name, defaults=vars(wanted))
            if not made:
                raise Conflict(f"The connection {name} was just added by somebody else.")
            return _noted(row, actor, ADDED, before=None)
        before = _shape(present)
        if canonical_bytes(before) == canonical_bytes(vars(wanted)):
            return present
        changes = {**vars(wanted), "tested_at": None, "tested_ok": None, "version": present.version + 1}
        if not Connection.objects.filter(pk=present.pk, version=present.version).update(**changes):
            raise Conflict(f"The connection {name} was just changed by somebody else.")
        return _noted(get(name), actor, CHANGED, before=before)


def note_test(connection: Connection, *, ok: bool) -> bool:
    """Note the outcome of a probe; False, and nothing is noted, when the connection was changed since it was read."""
    same = Connection.objects.filter(pk=connection.pk, version=connection.version)
    return bool(same.update(tested_at=clock.now(), tested_ok=ok))


def _noted(row: Connection, actor: Actor, action: str, *, before: dict[str, Any] | None) -> Connection:
    facts = {"name": row.name, "kind": row.kind, "purpose": row.purpose}
    record(actor, action, row, facts=facts, before=before, after=_shape(row))
    return row


def _shape(row: Connection) -> dict[str, Any]:
    return vars(_Wanted(row.kind, row.purpose, row.namespace, row.params, row.secret_names))


def _checked(
    kind: str, purpose: str, namespace: str, params: Mapping[str, Any], secret_names: Sequence[str]
) -> _Wanted:
    if not _KIND.fullmatch(kind):
        raise BadInput("A connection's kind is one lower-case word of at most 60 characters.")
    if purpose not in PURPOSES:
        raise BadInput(f"A connection's purpose is one of {', '.join(PURPOSES)}.")
    if len(namespace) > 300 or _userinfo(namespace):
        raise BadInput("A namespace has at most 300 characters and no user or password in it.")
    canonical_bytes(params)  # refuses what has no one written form
    for key, value in params.items():
        _check_param(key, value)
    if isinstance(secret_names, str):
        raise BadInput("Secret names are given as a list.")
    return _Wanted(kind, purpose, namespace, dict(params), [check_name(name) for name in secret_names])


def _check_param(key: str, value: object) -> None:
    if _secret_looking(key):
        raise BadInput(f"The parameter {key!r} looks like a secret; name it in secret_names instead.")
    if isinstance(value, Mapping):
        for inner, item in value.items():
            _check_param(inner, item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            _check_param(key, item)
    elif isinstance(value, str) and (_userinfo(value) or _PASSWORD_IN_TEXT.search(value)):
        raise BadInput(
            f"The parameter {key!r} holds what looks like a password; name a secret in secret_names instead."
        )


def _secret_looking(key: str) -> bool:
    words = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", key).lower()
    joined = re.sub(r"[^a-z0-9]", "", words)
    return bool(_SECRET_INSIDE.search(joined)) or any(
        _SECRET_WORD.fullmatch(word) for word in re.split(r"[^a-z0-9]+", words)
    )


def _userinfo(text: str) -> bool:
    """Whether an address carries a password, as in scheme://user:password@host."""
    try:
        return bool(urlsplit(text).password)
    except ValueError:
        return False
