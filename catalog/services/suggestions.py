"""What agents (and people of other domains) suggest, and the answer of a person of the domain: who and when stays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, TypeAlias

from django.db.models import QuerySet

from catalog import actions
from catalog.models import Asset, Consumer, Declaration, Definition, Note
from catalog.names import find_each
from catalog.services import declarations, reading, search_index
from catalog.services.access import answers_for, person_of
from catalog.services.declarations import DECLARED, SUGGESTED, Told
from catalog.services.settling import Settling, settle
from foundation import audit, canonical, clock
from foundation.audit import Actor
from foundation.errors import Conflict, NotAllowed, NotFound
from foundation.locks import lock, transaction
from foundation.models import Person, Principal

Row: TypeAlias = Consumer | Note | Definition
KINDS: Final[dict[str, type[Row]]] = {"reader": Consumer, "note": Note, "definition": Definition}


@dataclass(frozen=True)
class Suggestion:
    """One thing that waits for an answer. `said` is what would count; `seen` its digest, which the answer names."""

    kind: str
    pk: int
    asset: Asset
    said: dict[str, Any]
    by: Principal | None
    at: datetime | None
    seen: str


def waiting() -> list[Suggestion]:
    """Everything that waits for an answer, the oldest first; a suggested reader whose source went is not listed."""
    return sorted([*_readers(), *_texts("note"), *_texts("definition")], key=lambda one: str(one.at or ""))


def find(kind: str, pk: int) -> Row:
    """The row of a suggestion. NotFound otherwise."""
    model = KINDS.get(kind)
    row = model._default_manager.select_related("asset__domain").filter(pk=pk).first() if model else None
    if not isinstance(row, Consumer | Note | Definition):
        raise NotFound("There is no such suggestion.")
    return row


def approve(row: Row, *, actor: Actor, seen: str | None = None) -> None:
    """From now on it counts, as the word of the person who approves it.

    NotAllowed for whoever is no person of the domain, agents first of all; Conflict when it does not wait any more, is
    not what was `seen` (its digest), or is a definition that a newer one has passed.
    """
    person = _answerer(row, actor, actions.SUGGESTION_APPROVED)
    with transaction():
        kept = _waiting(row, seen)
        if isinstance(kept, Consumer):
            _take_over(kept, actor)
        else:
            _refuse_passed(kept)
            approval = {"status": "standing", "approved_by": person, "approved_at": clock.now()}
            type(kept)._default_manager.filter(pk=kept.pk, status="suggested").update(**approval)
        search_index.mark_due([kept.asset_id])
        audit.record(actor, actions.SUGGESTION_APPROVED, kept, facts=_facts(kept))


def refuse(row: Row, *, actor: Actor, reason: str = "", seen: str | None = None) -> None:
    """It counts no more; a reader that nobody else tells of leaves the graph. Raises as `approve`."""
    _answerer(row, actor, actions.SUGGESTION_REFUSED)
    with transaction():
        kept = _waiting(row, seen)
        if isinstance(kept, Consumer):
            Consumer.objects.filter(pk=kept.pk).update(status="refused")
            _drop(kept, actor)
        else:
            type(kept)._default_manager.filter(pk=kept.pk, status="suggested").update(status="refused")
        search_index.mark_due([kept.asset_id])
        facts = {**_facts(kept), "reason": reason.strip()[:500] or "no reason given"}
        audit.record(actor, actions.SUGGESTION_REFUSED, kept, facts=facts)


def _answerer(row: Row, actor: Actor, action: str) -> Person:
    person = person_of(actor)
    if person is not None and answers_for(person, row.asset):
        return person
    with transaction():
        facts = {**_facts(row), "reason": "not a person of the domain"}
        audit.record(actor, action, row, facts=facts, refused=True)
    raise NotAllowed(
        "Only a person of the domain answers a suggestion: its owner, who is on call, who has a role there."
    )


def _waiting(row: Row, seen: str | None) -> Row:
    """The row as it is now, locked."""
    locked = lock(type(row)._default_manager.all(), pk=row.pk)
    kept = find(_kind(row), locked.pk)
    if kept.status != "suggested":
        raise Conflict(f"This suggestion does not wait any more; it is {kept.status}.")
    if seen is not None and seen != _digest(_said(kept)):
        raise Conflict("The suggestion was changed since you read it; read it again.")
    return kept


def _take_over(consumer: Consumer, actor: Actor) -> None:
    """What the agent said becomes what people say; first claimed anew, then closed, so that no version lacks it."""
    pk, before = consumer.asset_id, declarations.merged([consumer.asset_id])
    said = declarations.said_by(SUGGESTED)[pk]
    declarations.keep(DECLARED, {pk: Told(said)}, actor=actor, whole=False)
    names = said.get("reads", [])
    one = reading.Reading(pk, consumer.asset.kind, names)
    reading.claim(DECLARED, [one], find_each(names), actor=actor, whole=False)
    declarations.drop(SUGGESTED, [pk])
    reading.close(SUGGESTED, [pk], actor=actor)
    settle([pk], Settling(DECLARED, actor, before, (pk,), (pk,)))


def _drop(consumer: Consumer, actor: Actor) -> None:
    pk, before = consumer.asset_id, declarations.merged([consumer.asset_id])
    declarations.drop(SUGGESTED, [pk])
    reading.close(SUGGESTED, [pk], actor=actor)
    settle([pk], Settling("", actor, before))


def _refuse_passed(row: Row) -> None:
    if isinstance(row, Definition):
        newer = Definition.objects.filter(asset=row.asset, status="standing", number__gt=row.number)
        if newer.exists():
            raise Conflict("A newer definition stands already; write this one anew if it should count.")


def _facts(row: Row) -> dict[str, str]:
    return {"kind": _kind(row), "asset": row.asset.name}


def _kind(row: Row) -> str:
    return next(name for name, model in KINDS.items() if isinstance(row, model))


def _said(row: Row) -> dict[str, Any]:
    if not isinstance(row, Consumer):
        return {"text": row.text}
    said = Declaration.objects.filter(source__key=SUGGESTED, asset=row.asset_id).values_list("said", flat=True).first()
    return {name: value for name, value in (said or {}).items() if name != declarations.READER}


def _digest(said: dict[str, Any]) -> str:
    return canonical.digest(said)


def _readers() -> Iterator[Suggestion]:
    said = declarations.said_by(SUGGESTED)
    rows = Consumer.objects.filter(status="suggested", asset__in=list(said))
    for row in rows.select_related("asset__domain", "suggested_by__name_row"):
        mine = {name: value for name, value in said[row.asset_id].items() if name != declarations.READER}
        yield Suggestion("reader", row.pk, row.asset, mine, row.suggested_by, row.suggested_at, _digest(mine))


def _texts(kind: str) -> Iterator[Suggestion]:
    rows: QuerySet[Any] = KINDS[kind]._default_manager.filter(status="suggested")
    for row in rows.select_related("asset__domain", "author__name_row"):
        said = {"text": row.text}
        yield Suggestion(kind, row.pk, row.asset, said, row.author, row.created_at, _digest(said))
