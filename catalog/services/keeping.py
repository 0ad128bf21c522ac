"""Keeping a whole batch: what is said, the rows that follow from it, and one audit row for each thing that changed."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from catalog import actions
from catalog.models import Asset, Consumer, Declaration
from catalog.services import declarations, reading, search_index
from catalog.services.access import is_agent, person_of, spoken_for_by
from catalog.services.declarations import CHUNK, DECLARED, READER, SUGGESTED, Merged, Told
from catalog.services.graph_lock import hold_graph
from catalog.services.settling import Settling, settle
from foundation import audit
from foundation.audit import Actor
from foundation.bulk import chunks
from foundation.locks import transaction


@dataclass
class Kept:
    """The assets of which something else is said now, and those of which the source says nothing any more."""

    changed: set[int] = field(default_factory=set)
    gone: set[int] = field(default_factory=set)
    skipped: set[int] = field(default_factory=set)


def keep(told: Mapping[int, Told], key: str, *, actor: Actor, whole: bool) -> Kept:
    """Keep what source `key` tells; with `whole`, what it does not tell of any more is withdrawn.

    In short transactions of a few hundred assets each: what a source says at once it says again after a crash.
    """
    kept = Kept(gone=set(declarations.said_by(key)) - told.keys() if whole else set())
    for ids in chunks([*told, *sorted(kept.gone)], CHUNK):
        with transaction():
            hold_graph()  # what was said is read, added to and written back
            _chunk(ids, told, key, kept, actor=actor, whole=whole)
    if kept.gone:
        reading.close(key, kept.gone, actor=actor)
    return kept


def _chunk(ids: Sequence[int], told: Mapping[int, Told], key: str, kept: Kept, *, actor: Actor, whole: bool) -> None:
    before = declarations.merged(ids)
    mine = {pk: told[pk] for pk in ids if pk in told}
    if is_agent(actor):
        known = _says_nothing_new(mine)
        kept.skipped |= known
        mine = {pk: one for pk, one in mine.items() if pk not in known}
    said, named = declarations.keep(key, mine, actor=actor, whole=whole)
    dropped = declarations.drop(key, [pk for pk in ids if pk in kept.gone])
    answered = _answered(mine, key, actor)
    touched = {*said, *named, *dropped, *answered} if whole else {*mine, *dropped, *answered}
    readers = {pk for pk, one in mine.items() if one.said.get(READER)}
    changed = settle(touched, Settling(key, actor, before, named, readers))
    kept.changed |= changed
    if changed:
        search_index.mark_due(sorted(changed))
        _tell(changed, before, key, actor)


def _says_nothing_new(mine: Mapping[int, Told]) -> set[int]:
    """The readers that stand already just as an agent suggests them."""
    now = declarations.merged(mine, besides=SUGGESTED)
    standing = Consumer.objects.filter(asset__in=list(mine), status="standing").values_list("asset_id", flat=True)
    return {pk for pk in standing if now[pk].readers and _holds(now[pk], mine[pk])}


def _holds(now: Merged, one: Told) -> bool:
    return all(name == READER or now.said.get(name) == value for name, value in one.said.items())


def _answered(mine: Mapping[int, Told], key: str, actor: Actor) -> set[int]:
    """A person of the domain who says all that an agent suggested of a reader, alike or otherwise, has answered. As
    long as some of it is the agent's word alone it goes on waiting."""
    person = person_of(actor)
    if key != DECLARED or person is None:
        return set()
    readers = [pk for pk, one in mine.items() if one.said.get(READER)]
    rows = Declaration.objects.filter(asset__in=readers)
    waiting = dict(rows.filter(source__key=SUGGESTED).values_list("asset_id", "said"))
    said = dict(rows.filter(source__key=DECLARED).values_list("asset_id", "said"))
    found = {pk for pk, suggested in waiting.items() if suggested.keys() <= said.get(pk, {}).keys()}
    assets = Asset.objects.select_related("domain").in_bulk(sorted(found))
    found = spoken_for_by(person, list(assets.values()))
    if found:
        declarations.drop(SUGGESTED, found)
        reading.close(SUGGESTED, found, actor=actor)
    return found


def _tell(changed: Collection[int], before: Mapping[int, Merged], key: str, actor: Actor) -> None:
    if key not in (DECLARED, SUGGESTED):
        facts: dict[str, str | int | None] = {"source": key, "changed": len(changed)}
        audit.record(actor, actions.SOURCE_DECLARED, ("catalog.source", key), facts=facts)
        return
    after = declarations.merged(changed)
    readers = {row.asset_id: row for row in Consumer.objects.filter(asset__in=list(changed)).select_related("asset")}
    acts: dict[str, list[audit.Act]] = {}
    for pk, asset in Asset.objects.in_bulk(list(changed)).items():
        was, now = before[pk].said, after[pk].said
        if pk in readers:
            action = actions.CONSUMER_SUGGESTED if key == SUGGESTED else actions.CONSUMER_DECLARED
            acts.setdefault(action, []).append(audit.Act(readers[pk], {"consumer": asset.name}, was, now))
        else:
            acts.setdefault(actions.ASSET_DECLARED, []).append(audit.Act(asset, {"asset": asset.name}, was, now))
    for action, listed in acts.items():
        audit.record_each(actor, action, listed)
