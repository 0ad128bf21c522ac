"""The rows of readers and assets, brought up to what all sources together say of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from catalog.declared_readers import told_elsewhere
from catalog.models import Asset, Consumer, Domain, Sync
from catalog.reader_identity import exposures
from catalog.services import declarations
from catalog.services.access import is_agent, person_of
from catalog.services.declarations import DECLARED, SUGGESTED, Merged
from foundation import clock
from foundation.audit import Actor
from foundation.errors import NotAllowed
from foundation.models import Person

LEAD: Final = 60
ENDED: Final = ("refused", "withdrawn")


@dataclass(frozen=True)
class Settling:
    """How rows are brought up to what is said: who spoke, as which source ("": nobody spoke, something said was taken
    back), of what it spoke as readers, and what was said before."""

    key: str
    actor: Actor
    before: Mapping[int, Merged]
    people_changed: Collection[int] = ()
    readers: Collection[int] = ()


@dataclass
class _Known:
    """What is read once for all the rows that are settled together."""

    person: Person | None
    agent: bool
    moment: datetime
    exposures: set[int]
    told: set[int]
    domains: Mapping[str, Domain]
    sources: Mapping[int, Asset]
    new: list[Consumer] = field(default_factory=list)
    changed: list[tuple[Consumer, list[str]]] = field(default_factory=list)


def settle(asset_ids: Collection[int], how: Settling) -> set[int]:
    """Make the rows of these assets what all sources together say; the ids of those that say something else now.

    Inside a transaction, at most a few hundred at once. NotAllowed when an agent would change what a person approved.
    """
    said = declarations.merged(asset_ids)
    assets = Asset.objects.select_related("domain", "consumer__sync").in_bulk(list(asset_ids))
    known = _known(said, how)
    changed = {pk for pk, one in said.items() if one.said != _was(how, pk) or pk in how.people_changed}
    _describe({pk: asset for pk, asset in assets.items() if pk in changed}, said, how, known)
    wanted_syncs: dict[int, tuple[Consumer, Mapping[str, Any]]] = {}
    for pk, asset in assets.items():
        if said[pk].readers or pk in known.exposures or hasattr(asset, "consumer"):
            consumer, differs = _reader(asset, said[pk], pk in changed, how, known)
            wanted_syncs[pk] = (consumer, said[pk].said)
            changed |= {pk} if differs else set()
    _save(known)
    _syncs(wanted_syncs, set(known.new))
    return changed & assets.keys()


def _known(said: Mapping[int, Merged], how: Settling) -> _Known:
    ids = list(said)
    named = {one.said.get("domain") for one in said.values()} - {None, ""}
    confirmed = [(one.said.get("confirm") or {}).get("source_id") for one in said.values()]
    return _Known(
        person=person_of(how.actor),
        agent=is_agent(how.actor),
        moment=clock.now(),
        exposures=set(exposures().filter(asset__in=ids).values_list("asset_id", flat=True)),
        told=told_elsewhere(ids),
        domains={row.key: row for row in Domain.objects.filter(key__in=named)} if named else {},
        sources=Asset.objects.in_bulk([pk for pk in confirmed if pk]) if any(confirmed) else {},
    )


def _was(how: Settling, pk: int) -> Mapping[str, Any]:
    return how.before[pk].said if pk in how.before else {}


def _describe(assets: Mapping[int, Asset], said: Mapping[int, Merged], how: Settling, known: _Known) -> None:
    """Kind and domain; dbt and the warehouse know better what a thing is, and what nobody said is left alone."""
    kinds: dict[str, list[int]] = defaultdict(list)
    domains: dict[int | None, list[int]] = defaultdict(list)
    for pk, asset in assets.items():
        now, was = said[pk].said, _was(how, pk)
        kind = now.get("kind") or ("sync" if now.get("tool") else None)
        if kind and kind != asset.kind and pk not in known.told:
            kinds[kind].append(pk)
        domain = known.domains.get(now.get("domain") or "")
        # a name must not become readable because somebody says less than before
        kept = domain is None and asset.domain is not None and asset.domain.restricted
        if ("domain" in now or "domain" in was) and asset.domain != domain and not kept:
            domains[domain.pk if domain else None].append(pk)
    for kind, ids in kinds.items():
        Asset.objects.filter(pk__in=ids).update(kind=kind)
    for key, ids in domains.items():
        Asset.objects.filter(pk__in=ids).update(domain=key)


def _reader(asset: Asset, merged: Merged, differs: bool, how: Settling, known: _Known) -> tuple[Consumer, bool]:
    created = not hasattr(asset, "consumer")
    consumer = Consumer(asset=asset) if created else asset.consumer
    if known.agent and consumer.approved_by_id is not None and differs:
        raise NotAllowed(f"A person approved the reader {asset.name}; an agent may not change it.")
    wanted = _fields(merged.said, known) | _standing(consumer, merged, asset.pk in known.exposures)
    changed = _set(consumer, wanted)
    changed += _set(consumer, _answer(consumer, how, known, changed=bool(changed) or differs))
    if created:
        known.new.append(consumer)
    elif changed:
        known.changed.append((consumer, changed))
    return consumer, created or bool(changed) or differs


def _standing(consumer: Consumer, merged: Merged, exposure: bool) -> dict[str, str]:
    """Whether it counts, and who brought it; a suggestion is told apart even where others call it a reader too."""
    weightiest = next(reversed(merged.readers), "meta:" if exposure else "")
    origins = {"repository": "repository", "meta": "dbt", "": consumer.origin}
    origin = origins.get(weightiest.partition(":")[0], DECLARED)
    if SUGGESTED in merged.readers:
        return {"status": "suggested", "origin": origin}
    ended = consumer.status if consumer.status in ENDED else "withdrawn"
    return {"status": "standing" if weightiest else ended, "origin": origin}


def _answer(consumer: Consumer, how: Settling, known: _Known, *, changed: bool) -> dict[str, Any]:
    """Who suggested it, who approves it by declaring it; what somebody else changed loses its approval."""
    gone = {"approved_by": None, "approved_at": None}
    if consumer.status == "suggested":
        mine = how.key == SUGGESTED and changed
        return gone | ({"suggested_by": how.actor.principal, "suggested_at": known.moment} if mine else {})
    speaks = how.key == DECLARED and consumer.status == "standing" and consumer.asset_id in how.readers
    if speaks and known.person is not None and (changed or consumer.approved_by_id is None):
        return {"approved_by": known.person, "approved_at": known.moment}
    return gone if known.person is None and changed and consumer.approved_by_id is not None else {}


def _fields(said: Mapping[str, Any], known: _Known) -> dict[str, Any]:
    schedule, confirm = said.get("schedule") or {}, said.get("confirm") or {}
    source = known.sources.get(confirm.get("source_id", 0))
    return {
        "cron": schedule.get("cron", ""),
        "zone": schedule.get("zone") or "UTC",
        "triggered_by_api": schedule.get("triggered_by_api", False),
        "lead_seconds": said.get("lead_seconds", LEAD),
        "consequence": said.get("consequence", ""),
        "contact": said.get("contact", ""),
        "confirm_metric": confirm.get("metric", "") if source else "",
        "confirm_source": source,
    }


def _save(known: _Known) -> None:
    Consumer.objects.bulk_create(known.new)
    for consumer, names in known.changed:
        consumer.save(update_fields=names)


def _syncs(wanted: Mapping[int, tuple[Consumer, Mapping[str, Any]]], made: Collection[Consumer]) -> None:
    """What is a sync has its row; what is none any more loses it."""
    new, gone = [], []
    for consumer, said in wanted.values():
        sync = getattr(consumer, "sync", None) if consumer not in made else None
        mine = {name: said.get(name) or "" for name in ("tool", "mode", "delete_rule")}
        mine["mode"] = mine["mode"] or "unknown"
        if not _is_sync(said):
            gone += [sync.pk] if sync is not None else []
        elif sync is None:
            new.append(Sync(consumer=consumer, **mine))
        elif names := _set(sync, mine):
            sync.save(update_fields=names)
    Sync.objects.bulk_create(new)
    if gone:
        Sync.objects.filter(pk__in=gone).delete()


def _is_sync(said: Mapping[str, Any]) -> bool:
    """Whether it copies into another tool, even where nobody says any more into which."""
    writes = said.get("mode") not in (None, "", "unknown") or bool(said.get("delete_rule"))
    return writes or bool(said.get("tool")) or said.get("kind") == "sync"


def _set(row: Any, wanted: Mapping[str, Any]) -> list[str]:
    """Set the fields that differ (None is a value), and say which; nothing is saved."""
    changes = {name: value for name, value in wanted.items() if getattr(row, name) != value}
    for name, value in changes.items():
        setattr(row, name, value)
    return list(changes)
