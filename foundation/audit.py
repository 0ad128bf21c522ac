"""Audit rows: one per transition, written in its transaction, with everything personal in an erasable side row.

The row holds the principal's UUID and two commitments, SHA-256(salt || name) and SHA-256(salt || RFC 8785 of the
details); when salt and side row are dropped, nothing about the person can be read or guessed from the row.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from string import Formatter
from typing import Any
from uuid import UUID

from django.db import connection, models
from django.db.models import QuerySet

from foundation import clock
from foundation.canonical import canonical_bytes, sha256_hex, timestamp
from foundation.models import AuditDetail, AuditRow, Principal, PrincipalName

ERASED = "details erased"


@dataclass(frozen=True)
class Actor:
    """Who acts, through which face (web, api, mcp, cli, timer, slack), as part of what."""

    principal: Principal
    source: str
    correlation_id: UUID | None = None


@dataclass(frozen=True)
class Action:
    """A registered kind of act; `sentence` is a `str.format` template over its facts."""

    name: str
    label: str
    sentence: str
    fields: frozenset[str]


_ACTIONS: dict[str, Action] = {}


def register(name: str, label: str, sentence: str) -> str:
    """Register an action once, where its service stands, and return its name. ValueError when the name is taken.

    >>> RECORDED = register("value.recorded", "Value recorded", "recorded {metric} = {value}")  # doctest: +SKIP
    """
    action = Action(name, label, sentence, frozenset(field for _, field, _, _ in Formatter().parse(sentence) if field))
    if _ACTIONS.setdefault(name, action) != action:
        raise ValueError(f"The action {name!r} is registered already.")
    return name


def actions() -> dict[str, Action]:
    """All registered actions by name; timeline, receipts and filters read their labels here."""
    return dict(_ACTIONS)


def record(
    actor: Actor,
    action: str,
    target: models.Model | tuple[str, str],
    *,
    correlation_id: UUID | None = None,
    facts: Mapping[str, str | int | None] | None = None,
    before: object = None,
    after: object = None,
    refused: bool = False,
) -> AuditRow:
    """Add the audit row of an act, inside the transaction of its change (RuntimeError outside of one).

    `target` is a row or `(type, id)`. `facts` fill the action's sentence and must name all its fields. `facts`,
    `before` and `after` (JSON; moments, UUIDs and decimals become text, floats are BadInput) go to the erasable side
    row, only their hash to the row.
    """
    moment, commitment = _begun(actor)
    act = Act(target, facts or {}, before, after)
    row, detail = _written(actor, action, act, moment, commitment)
    row.correlation_id, row.refused = correlation_id or actor.correlation_id, refused
    row.save(force_insert=True)
    if detail is not None:
        detail.audit_id = row.pk
        detail.save(force_insert=True)
    return row


@dataclass(frozen=True)
class Act:
    """One of many like acts: what it was done to, and as `record` takes them its facts, before and after."""

    target: models.Model | tuple[str, str]
    facts: Mapping[str, str | int | None]
    before: object = None
    after: object = None


def record_each(actor: Actor, action: str, acts: Sequence[Act]) -> None:
    """As `record` for many acts of one kind in few statements: each has a row and a side row of its own."""
    moment, commitment = _begun(actor)
    made = [_written(actor, action, act, moment, commitment) for act in acts]
    AuditRow.objects.bulk_create([row for row, _ in made])
    for row, detail in made:
        if detail is not None:
            detail.audit_id = row.pk
    AuditDetail.objects.bulk_create([detail for _, detail in made if detail is not None])


def _begun(actor: Actor) -> tuple[datetime, str]:
    """The moment and the commitment to the actor's name; RuntimeError outside of a transaction."""
    if not connection.in_atomic_block:
        raise RuntimeError("An audit row belongs in the transaction of the change it tells of.")
    return clock.now(), name_commitment(actor.principal)


def _written(
    actor: Actor, action: str, act: Act, moment: datetime, commitment: str
) -> tuple[AuditRow, AuditDetail | None]:
    absent = _ACTIONS[action].fields - set(act.facts)
    if absent:
        raise ValueError(f"The sentence of {action} needs {', '.join(sorted(absent))}.")
    body, salt = _body(act.facts, act.before, act.after), secrets.token_bytes(32)
    target_type, target_id = _target(act.target)
    row = AuditRow(
        at=moment,
        action=action,
        principal=actor.principal,
        name_commitment=commitment,
        source=actor.source,
        correlation_id=actor.correlation_id,
        target_type=target_type,
        target_id=target_id,
        detail_sha256=_detail_hash(salt, body) if body else "",
    )
    return row, AuditDetail(audit=row, salt=salt, body=body) if body else None


def sentence(row: AuditRow) -> str:
    """What happened, in words; "details erased" when the side row is gone; an unknown fact reads "unknown".

    A page that shows many rows reads them with `select_related("detail")`.
    """
    action = _ACTIONS.get(row.action)
    if action is None:
        return row.action
    detail = _detail(row)
    if detail is None:
        return action.sentence if not action.fields else ERASED
    facts = {field: detail.body.get("facts", {}).get(field) for field in action.fields}
    return action.sentence.format_map({field: "unknown" if value is None else value for field, value in facts.items()})


def timeline(correlation_id: UUID) -> QuerySet[AuditRow]:
    """The rows of one incident or request, oldest first."""
    return (
        AuditRow.objects.filter(correlation_id=correlation_id)
        .select_related("principal", "detail")
        .order_by("at", "id")
    )


def intact(row: AuditRow) -> bool | None:
    """Whether the side row is the one that was committed to; None when there is none (erased, or never any)."""
    detail = _detail(row)
    return None if detail is None else _detail_hash(bytes(detail.salt), detail.body) == row.detail_sha256


def name_commitment(principal: Principal) -> str:
    """SHA-256(salt || name in UTF-8), hex; empty for a principal without a name."""
    named = PrincipalName.objects.filter(principal=principal).first()
    return sha256_hex(bytes(named.salt) + named.name.encode()) if named else ""


def _detail(row: AuditRow) -> AuditDetail | None:
    try:
        return row.detail
    except AuditDetail.DoesNotExist:
        return None


def _detail_hash(salt: bytes, body: object) -> str:
    return sha256_hex(salt + canonical_bytes(body))


def _body(facts: Mapping[str, str | int | None] | None, before: object, after: object) -> dict[str, Any]:
    parts = {"facts": dict(facts) if facts else None, "before": before, "after": after}
    return {name: _plain(part) for name, part in parts.items() if part is not None}


def _plain(value: object) -> object:
    """The value as JSON; a NUL, which PostgreSQL cannot store, becomes U+FFFD."""
    if isinstance(value, datetime):
        return timestamp(value)
    if isinstance(value, (UUID, Decimal)):
        return str(value)
    if isinstance(value, str):
        return str.__str__(value).replace("\0", "\ufffd")
    if isinstance(value, Mapping):
        return {_plain(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value


def _target(target: models.Model | tuple[str, str]) -> tuple[str, str]:
    return target if isinstance(target, tuple) else (target._meta.label_lower, str(target.pk))
