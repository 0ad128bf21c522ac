"""Bearer tokens: shown once, kept as a SHA-256, checked against scope, end, revocation and the owner being active."""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db import OperationalError
from django.db import transaction as django_transaction
from django.db.models import Q

from foundation import clock
from foundation.audit import Actor, record, register
from foundation.canonical import sha256_hex
from foundation.errors import BadInput, Conflict, NotAllowed
from foundation.locks import transaction
from foundation.models import Principal, Token

ISSUED = register("token.issued", "Token issued", "issued a token with the scopes {scopes}")
REVOKED = register("token.revoked", "Token revoked", "revoked a token")

_PREFIX = "sbk_"
_SCOPE = re.compile(r"[a-z][a-z_]*:[a-z][a-z_]*")
_USE_NOTED_EVERY = timedelta(minutes=1)


def issue_token(
    principal: Principal,
    *,
    label: str,
    scopes: Sequence[str],
    expires_at: datetime | None = None,
    actor: Actor | None = None,
) -> tuple[Token, str]:
    """A new token of a person's or an agent's principal, and its text ("sbk_" + 256 random bits), kept nowhere.

    Raises BadInput for a system principal, an unfit scope (`thing:verb`) or an end that is not in the future.
    """
    moment = clock.now()
    _check(principal, scopes, expires_at, moment)
    raw = _PREFIX + secrets.token_urlsafe(32)
    with transaction():
        token = Token.objects.create(
            principal=principal,
            label=label[:200],
            prefix=raw[:8],
            hash=sha256_hex(raw.encode()),
            scopes=sorted(set(scopes)),
            created_at=moment,
            expires_at=expires_at,
        )
        by = actor or Actor(_responsible(principal), "cli")
        record(by, ISSUED, token, facts={"scopes": ", ".join(token.scopes)})
    return token, raw


def revoke_token(token: Token, *, actor: Actor) -> None:
    """End the token now and for good. Conflict when it is revoked already."""
    moment = clock.now()
    with transaction():
        if not Token.objects.filter(pk=token.pk, revoked_at__isnull=True).update(revoked_at=moment):
            raise Conflict("This token is revoked already.")
        record(actor, REVOKED, token)
    token.revoked_at = moment


def principal_for_token(raw: str, *, scope: str) -> Principal:
    """The principal that bears this token, if it carries `scope`; NotAllowed otherwise.

    Notes the use at most once a minute. The lookup is by the hash of 256 random bits, so its timing tells nothing
    about the token (no comparison touches the text).
    """
    token = standing_token(raw)
    if scope not in token.scopes:
        raise NotAllowed(f"This token does not carry the scope {scope}.")
    _note_use(token, clock.now())
    return token.principal


def standing_token(raw: str) -> Token:
    """The token of this text, whatever its scopes; NotAllowed when it is unknown, revoked, expired or unanswered for.

    For a door that lets a bearer in before it is known what will be asked; its use is not noted.
    """
    hashed = sha256_hex(raw.encode("utf-8", "surrogatepass"))
    related = ("principal__owner", "principal__person", "principal__name_row")
    token = Token.objects.select_related(*related).filter(hash=hashed).first()
    if token is None or not secrets.compare_digest(token.hash, hashed):
        raise NotAllowed("This token is not known here.")
    if token.revoked_at is not None:
        raise NotAllowed("This token was revoked.")
    if token.expires_at is not None and token.expires_at <= clock.now():
        raise NotAllowed("This token has expired.")
    if not _answerable(token.principal):
        raise NotAllowed("The person who answers for this token is deactivated.")
    return token


def _check(principal: Principal, scopes: Sequence[str], expires_at: datetime | None, moment: datetime) -> None:
    if principal.kind == Principal.Kind.SYSTEM:
        raise BadInput("A system principal has no tokens.")
    if not scopes or not all(_SCOPE.fullmatch(scope) for scope in scopes):
        raise BadInput("A token needs scopes such as build:write.")
    if expires_at is not None and (expires_at.tzinfo is None or expires_at <= moment):
        raise BadInput("The end of a token is a moment in the future, with its time zone.")


def _responsible(principal: Principal) -> Principal:
    return principal.owner.principal if principal.owner is not None else principal


def _answerable(principal: Principal) -> bool:
    """Whether the human behind the principal, or behind the agent, is active."""
    if principal.owner is not None:
        return principal.owner.is_active
    return hasattr(principal, "person") and principal.person.is_active


def _note_use(token: Token, moment: datetime) -> None:
    due = Q(last_used_at__isnull=True) | Q(last_used_at__lte=moment - _USE_NOTED_EVERY)
    if token.last_used_at is not None and token.last_used_at > moment - _USE_NOTED_EVERY:
        return
    try:
        with django_transaction.atomic():
            Token.objects.filter(due, pk=token.pk).update(last_used_at=moment)
    except OperationalError:
        return  # a busy database must not turn a good token away
