"""Keeping the search index in step: at once for a few assets, by the sweep for many and for what anybody forgot.

An asset whose entry may be behind is *due*. Until it was read again, the search finds it by its plain name and
description, so nothing that is in the graph is ever hidden. The sweep marks due what graph versions changed, reads
what is due, and when nothing is, checks the entries round by round.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence

from django.db.models import QuerySet

from catalog.graph.versions import head_version
from catalog.models import Asset, NodeClaim, SearchDue, SearchEntry, SearchState
from catalog.search import engine as search_engine
from catalog.search.source import Row, rows_of
from catalog.services import search_words
from foundation import bulk
from foundation.locks import transaction

AT_ONCE = 1000  # assets that a caller waits for
CHUNK = 1000  # assets in one transaction: far below half a second on SQLite
MARKED = 20_000  # marks in one transaction
ROUND = 500  # entries that one call checks when nothing is due

FIELDS = Row._fields


def refresh(asset_ids: Sequence[int]) -> int:
    """Bring the entries of these assets up to what is known of them now; how many were read at once.

    Up to 1000 are read before it returns; of more, all are marked due and left to the sweep. May be called inside a
    transaction or outside of one; raises Busy when the database cannot be had.
    """
    ids = sorted(set(asset_ids))
    if len(ids) > AT_ONCE:
        mark_due(ids)
        return 0
    head = head_version()  # before the assets are read: what comes meanwhile is left to the sweep
    for chunk in bulk.chunks(ids, CHUNK):
        _read(chunk)
    _note_seen(ids, head)
    return len(ids)


def mark_due(asset_ids: Sequence[int]) -> None:
    """Leave these assets to the sweep; until then they are found by their plain name and description."""
    for chunk in bulk.chunks(asset_ids, MARKED):
        with transaction():
            bulk.insert(SearchDue, ["asset_id"], [(pk,) for pk in chunk], ignore=True)


def catch_up(limit: int = 5000) -> int:
    """What the sweep does: mark what changed, read up to `limit` due assets, else check a round; how many were wrong.

    Short transactions; to be called outside of one. Returns 0 when everything it looked at was right.
    """
    _mark_changed()
    done = 0
    while done < limit:
        ids = list(SearchDue.objects.order_by("pk").values_list("pk", flat=True)[: min(CHUNK, limit - done)])
        if not ids:
            break
        _read(ids)
        done += len(ids)
    return done or _check_round()


def _read(ids: Sequence[int]) -> int:
    """Make the entries of `ids` anew; how many were not as they should be.

    The marks go before the assets are read: who changes one meanwhile waits for our commit and marks it again.
    """
    with transaction():
        SearchDue.objects.filter(pk__in=bulk.among(ids)).delete()
        now = rows_of(ids)
        before = {row[0]: Row(*row) for row in SearchEntry.objects.filter(pk__in=bulk.among(ids)).values_list(*FIELDS)}
        changed = [row for pk, row in now.items() if before.get(pk) != row]
        gone = [pk for pk in before if pk not in now]
        _write(changed, gone, before)
        search_words.learn(changed, before)
    return len(changed) + len(gone)


def _write(changed: Sequence[Row], gone: Sequence[int], before: Container[int]) -> None:
    ids = [row.asset_id for row in changed]
    search_engine.forget([pk for pk in (*ids, *gone) if pk in before])
    SearchEntry.objects.filter(pk__in=bulk.among(gone)).delete()
    bulk.put(SearchEntry, FIELDS, changed, key="asset_id")
    search_engine.learn(ids)


def _mark_changed() -> None:
    """Mark due every asset that a graph version since the last call added, changed or removed."""
    state, _ = SearchState.objects.get_or_create(pk=1)
    head = head_version()
    if head <= state.version:
        return
    for claims in _changed(state.version, head):
        for ids in _paged(claims):
            mark_due(ids)
    SearchState.objects.filter(pk=1, version=state.version).update(version=head)


def _note_seen(ids: Sequence[int], head: int) -> None:
    """Where the versions up to `head` changed nothing but `ids`, which were read after it, nothing is behind."""
    state, _ = SearchState.objects.get_or_create(pk=1)
    if head <= state.version:
        return
    claims = _changed(state.version, head)
    if not any(one.exclude(asset_id__in=bulk.among(ids)).exists() for one in claims):
        SearchState.objects.filter(pk=1, version=state.version).update(version=head)


def _changed(seen: int, head: int) -> tuple[QuerySet[NodeClaim], QuerySet[NodeClaim]]:
    """The claims that the versions after `seen` up to `head` opened, and those that they closed."""
    opened = NodeClaim.objects.filter(added_in__gt=seen, added_in__lte=head)
    return opened, NodeClaim.objects.filter(removed_in__gt=seen, removed_in__lte=head)


def _paged(claims: QuerySet[NodeClaim]) -> Iterator[list[int]]:
    last = 0
    while ids := list(
        claims.filter(asset_id__gt=last).order_by("asset_id").values_list("asset_id", flat=True).distinct()[:MARKED]
    ):
        yield ids
        last = ids[-1]


def _check_round() -> int:
    """Read the next entries in the order of the assets: what was changed without a word to us comes right here."""
    state, _ = SearchState.objects.get_or_create(pk=1)
    ids = list(Asset.objects.filter(pk__gt=state.checked).order_by("pk").values_list("pk", flat=True)[:ROUND])
    SearchState.objects.filter(pk=1).update(checked=ids[-1] if len(ids) == ROUND else 0)
    return _read(ids) if ids else 0
