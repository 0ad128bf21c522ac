"""What an answer makes of a suggested reader: its claims become those of people in one graph version, or they close.

Both inside of the transaction that holds the graph (`graph_lock`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.db.models import QuerySet

from catalog.declared_readers import standing
from catalog.models import Consumer, EdgeClaim
from catalog.services import claims, declarations, reading
from catalog.services.claims import Difference
from catalog.services.declarations import DECLARED, SUGGESTED, Told
from catalog.services.settling import Settling, settle
from foundation.audit import Actor


def take_over(consumer: Consumer, actor: Actor) -> None:
    """What the agent said becomes what people say, and its claims theirs: one version, in which nothing goes."""
    pk, before = consumer.asset_id, declarations.merged([consumer.asset_id])
    said = declarations.said_by(SUGGESTED)[pk]
    declarations.keep(DECLARED, {pk: Told(said)}, actor=actor, whole=False)
    declarations.drop(SUGGESTED, [pk])
    reading.write(DECLARED, lambda: _difference(pk, said), actor=actor)
    settle([pk], Settling(DECLARED, actor, before, (pk,), (pk,)))


def drop(consumer: Consumer, actor: Actor) -> None:
    """Nobody suggests it any more."""
    pk, before = consumer.asset_id, declarations.merged([consumer.asset_id])
    declarations.drop(SUGGESTED, [pk])
    reading.close(SUGGESTED, [pk], actor=actor)
    settle([pk], Settling("", actor, before))


def _difference(pk: int, said: Mapping[str, Any]) -> Difference:
    """What people claim of the reader instead of the agent; where the agent named nothing that it reads, what they
    claimed before stays."""
    suggested, own = standing(SUGGESTED).filter(asset=pk), standing(DECLARED).filter(asset=pk).first()
    one = suggested.first() if "reads" in said or own is None else own
    nodes = {own.local_id if own else f"reader:{pk}": (pk, one.attributes)} if one else {}
    edges = _edges(one.source.key if one else DECLARED, pk)
    found = claims.difference(DECLARED, nodes, edges.values_list("from_asset_id", "to_asset_id", "kind"), partial=True)
    return replace(
        found,
        closed=[*found.closed, *suggested.values_list("pk", flat=True)],
        closed_edges=[*found.closed_edges, *_edges(SUGGESTED, pk).values_list("pk", flat=True)],
        added=0,
        changed=1,
    )


def _edges(key: str, pk: int) -> QuerySet[EdgeClaim]:
    return EdgeClaim.objects.filter(source__key=key, to_asset=pk, removed_in__isnull=True)
