"""Readers: which asset is meant, what exposures make of an asset, and how a reader is withdrawn."""

from __future__ import annotations

from collections.abc import Iterable

from catalog import actions
from catalog.models import Asset, Consumer
from catalog.services import declarations, reading, search_index
from catalog.services.access import is_agent, may_change, person_of
from catalog.services.declarations import CHUNK, DECLARED, SUGGESTED
from catalog.services.graph_lock import hold_graph
from catalog.services.settling import ENDED, Settling, settle
from foundation import audit
from foundation.audit import Actor
from foundation.bulk import chunks
from foundation.errors import Conflict, NotAllowed
from foundation.locks import lock, transaction


def exposed(asset_ids: Iterable[int]) -> None:
    """An exposure is a reader, whose times nobody may have told: the repository says that it reads, so nobody has to
    approve it. One that was withdrawn or refused stands again, since dbt says so."""
    pks = set(asset_ids)
    for chunk in chunks(sorted(pks), CHUNK):
        known = set(Consumer.objects.filter(asset__in=chunk).values_list("asset_id", flat=True))
        new = [Consumer(asset_id=pk, origin="dbt") for pk in chunk if pk not in known]
        Consumer.objects.bulk_create(new, ignore_conflicts=True)
        Consumer.objects.filter(asset__in=chunk, status__in=ENDED).update(status="standing", origin="dbt")


def withdraw(asset: Asset, *, actor: Actor, reason: str = "") -> None:
    """What people and agents said of this reader is withdrawn, and its claims are closed; its row and the audit stay.

    What a file of the repository or dbt says of it goes on counting. NotAllowed for who does not answer for it,
    Conflict when nobody declared it here.
    """
    _check_withdrawal(asset, actor)
    with transaction():
        hold_graph()
        consumer = lock(Consumer.objects.all(), asset=asset)
        mine = [key for key in (SUGGESTED, DECLARED) if asset.pk in declarations.said_by(key)]
        if not mine or consumer.status in ENDED:
            raise Conflict(f"Nobody declared the reader {asset.name} here, so there is nothing to withdraw.")
        before = declarations.merged([asset.pk])
        for key in mine:
            declarations.drop(key, [asset.pk])
            reading.close(key, [asset.pk], actor=actor)
        settle([asset.pk], Settling("", actor, before))
        search_index.mark_due([asset.pk])
        facts = {"consumer": asset.name, "reason": reason[:500]}
        audit.record(actor, actions.CONSUMER_WITHDRAWN, consumer, facts=facts, before=before[asset.pk].said)


def _check_withdrawal(asset: Asset, actor: Actor) -> None:
    if is_agent(actor):
        raise NotAllowed("An agent withdraws no reader; ask a person of the domain.")
    person = person_of(actor)
    if person is not None and not may_change(person, asset):
        raise NotAllowed(f"Only a person of its domain, or one who is named for it, withdraws the reader {asset.name}.")
