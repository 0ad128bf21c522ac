"""What agents (and people of other domains) suggest, and the answer of a person of the domain: who and when stays."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple, TypeAlias

from django.db.models import QuerySet

from catalog import actions
from catalog.declared_readers import standing
from catalog.models import Asset, Consumer, Declaration, Definition, EdgeClaim, Note
from catalog.services import declarations, search_index, suggested_readers
from catalog.services.access import answers_for, person_of
from catalog.services.declarations import SUGGESTED
from catalog.services.graph_lock import hold_graph
from foundation import audit, canonical, clock
from foundation.audit import Actor
from foundation.bulk import among
from foundation.errors import Conflict, NotAllowed, NotFound
from foundation.locks import lock, transaction
from foundation.models import Person, Principal
from foundation.refusals import kept

Row: TypeAlias = Consumer | Note | Definition
KINDS: Final[dict[str, type[Row]]] = {"reader": Consumer, "note": Note, "definition": Definition}


@dataclass(frozen=True)
class Suggestion:
    """One thing that waits for an answer. `said` is what would count; `reads` are the assets that its names mean and
    `unmatched` the names that nobody knows; `seen` is the digest of all three, which the answer names."""

    kind: str
    pk: int
    asset: Asset
    said: dict[str, Any]
    by: Principal | None
    at: datetime | None
    seen: str
    reads: tuple[Asset, ...] = ()
    unmatched: tuple[str, ...] = ()


class _Meant(NamedTuple):
    """What the names that a reader is said to read mean now."""

    reads: tuple[Asset, ...] = ()
    unmatched: tuple[str, ...] = ()


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
    with kept(actor, actions.SUGGESTION_APPROVED, row, _facts(row)), transaction():
        now = _waiting(row, seen, actor)
        if isinstance(now, Consumer):
            suggested_readers.take_over(now, actor)
        else:
            _refuse_passed(now)
            approval = {"status": "standing", "approved_by": person_of(actor), "approved_at": clock.now()}
            type(now)._default_manager.filter(pk=now.pk, status="suggested").update(**approval)
        search_index.mark_due([now.asset_id])
        audit.record(actor, actions.SUGGESTION_APPROVED, now, facts=_facts(now))


def refuse(row: Row, *, actor: Actor, reason: str = "", seen: str | None = None) -> None:
    """It counts no more; a reader that nobody else tells of leaves the graph. Raises as `approve`."""
    facts = {**_facts(row), "reason": reason.strip()[:500] or "no reason given"}
    with kept(actor, actions.SUGGESTION_REFUSED, row, facts), transaction():
        now = _waiting(row, seen, actor)
        if isinstance(now, Consumer):
            Consumer.objects.filter(pk=now.pk).update(status="refused")
            suggested_readers.drop(now, actor)
        else:
            type(now)._default_manager.filter(pk=now.pk, status="suggested").update(status="refused")
        search_index.mark_due([now.asset_id])
        audit.record(actor, actions.SUGGESTION_REFUSED, now, facts=facts)


def _waiting(row: Row, seen: str | None, actor: Actor) -> Row:
    """The row as it is now, locked, for a person who may answer it.

    Before it what every other writer of it takes first: the head of the graph for a reader, the asset for a text.
    """
    if isinstance(row, Consumer):
        hold_graph()
    else:
        lock(Asset.objects.all(), pk=row.asset_id)
    lock(type(row)._default_manager.all(), pk=row.pk)
    now = find(_kind(row), row.pk)
    _check(person_of(actor), now.asset)
    if now.status != "suggested":
        raise Conflict(f"This suggestion does not wait any more; it is {now.status}.")
    if seen is not None and seen != _seen_now(now):
        raise Conflict("The suggestion was changed since you read it; read it again.")
    return now


def _check(person: Person | None, asset: Asset) -> None:
    if person is None or not answers_for(person, asset):
        raise NotAllowed(
            "Only a person of the domain answers a suggestion: its owner, who is on call, who has a role there."
        )


def _refuse_passed(row: Row) -> None:
    if isinstance(row, Definition):
        newer = Definition.objects.filter(asset=row.asset, status="standing", number__gt=row.number)
        if newer.exists():
            raise Conflict("A newer definition stands already; write this one anew if it should count.")


def _facts(row: Row) -> dict[str, str]:
    return {"kind": _kind(row), "asset": row.asset.name}


def _kind(row: Row) -> str:
    return next(name for name, model in KINDS.items() if isinstance(row, model))


def _seen_now(row: Row) -> str:
    if not isinstance(row, Consumer):
        return _digest({"text": row.text})
    rows = Declaration.objects.filter(source__key=SUGGESTED, asset=row.asset_id)
    said = rows.values_list("said", flat=True).first() or {}
    return _digest(_shown(said), _meant([row.asset_id]).get(row.asset_id, _Meant()))


def _shown(said: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in said.items() if name != declarations.READER}


def _digest(said: dict[str, Any], meant: _Meant | None = None) -> str:
    known = [] if meant is None else [sorted(asset.pk for asset in meant.reads), sorted(meant.unmatched)]
    return canonical.digest([said, *known])


def _readers() -> Iterator[Suggestion]:
    said = declarations.said_by(SUGGESTED)
    rows = Consumer.objects.filter(status="suggested", asset__in=among(list(said)))
    listed = list(rows.select_related("asset__domain", "suggested_by__name_row"))
    meant = _meant([row.asset_id for row in listed])
    for row in listed:
        mine, found = _shown(said[row.asset_id]), meant.get(row.asset_id, _Meant())
        digest = _digest(mine, found)
        yield Suggestion("reader", row.pk, row.asset, mine, row.suggested_by, row.suggested_at, digest, *found)


def _meant(readers: Collection[int]) -> dict[int, _Meant]:
    """What agents suggest that these readers read, as it stands in the graph."""
    ids = among(list(readers))
    claims = standing(SUGGESTED).filter(asset__in=ids)
    edges = EdgeClaim.objects.filter(source__key=SUGGESTED, removed_in__isnull=True, to_asset__in=ids)
    above: dict[int, list[Asset]] = {}
    for edge in edges.select_related("from_asset__domain").order_by("from_asset__name", "pk"):
        above.setdefault(edge.to_asset_id, []).append(edge.from_asset)
    return {
        one.asset_id: _Meant(tuple(above.get(one.asset_id, ())), tuple(one.attributes["unmatched"])) for one in claims
    }


def _texts(kind: str) -> Iterator[Suggestion]:
    rows: QuerySet[Any] = KINDS[kind]._default_manager.filter(status="suggested")
    for row in rows.select_related("asset__domain", "author__name_row"):
        said = {"text": row.text}
        yield Suggestion(kind, row.pk, row.asset, said, row.author, row.created_at, _digest(said))
