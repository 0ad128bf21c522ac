"""Which asset a reader is: the same thing under the names that people, dbt's exposures and their labels give it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import Final

from django.db.models import QuerySet

from catalog.declared_readers import NAMESPACE, SUGGESTED
from catalog.models import Asset, Declaration, NodeClaim
from catalog.models.graph import AssetQuerySet
from catalog.names import find_asset, find_each
from catalog.sources.declared import ConsumerEntry
from foundation.bulk import chunks
from foundation.errors import BadInput, NotFound, SpellbookError

CHUNK: Final = 500


def find(entry: ConsumerEntry, labels: Mapping[str, Sequence[int]], pool: AssetQuerySet | None = None) -> Asset | None:
    """The asset that is this reader already; None when it is new. BadInput when several could be meant.

    Looked for in this order: under its own namespace; among the readers by name; among dbt's exposures by the name or
    label that `labels` (see `lookup`) gives, without regard to case.
    """
    assets = Asset.objects.all() if pool is None else pool
    own = assets.filter(namespace=entry.namespace or NAMESPACE, name=entry.name).first()
    if own is not None or entry.namespace:
        return own
    with suppress(NotFound):
        return find_asset(entry.name, among=assets.filter(consumer__isnull=False))
    found = _labelled(entry, labels, assets)
    if isinstance(found, SpellbookError):
        raise found
    return found


def find_all(
    entries: Sequence[ConsumerEntry], pool: AssetQuerySet | None = None
) -> list[Asset | SpellbookError | None]:
    """As `find` for each of the entries, with few queries; a name that means several things gives its refusal."""
    if len(entries) == 1:
        return [_found(entries[0], lookup(), pool)]
    assets = Asset.objects.all() if pool is None else pool
    spaces, names = {one.namespace or NAMESPACE for one in entries}, [one.name for one in entries]
    own: dict[tuple[str, str], Asset] = {}
    for chunk in chunks(names, CHUNK):
        rows = assets.filter(namespace__in=spaces, name__in=chunk)
        own |= {(asset.namespace, asset.name): asset for asset in rows}
    rest = [one for one in entries if not one.namespace and (NAMESPACE, one.name) not in own]
    known = find_each([one.name for one in rest], among=assets.filter(consumer__isnull=False))
    labels = lookup() if rest else {}
    found: list[Asset | SpellbookError | None] = []
    for one in entries:
        mine: Asset | SpellbookError | None = own.get((one.namespace or NAMESPACE, one.name))
        if mine is None and not one.namespace:
            mine = known[one.name]
            mine = _labelled(one, labels, assets) if isinstance(mine, NotFound) else mine
        found.append(mine)
    return found


def _found(
    entry: ConsumerEntry, labels: Mapping[str, Sequence[int]], pool: AssetQuerySet | None
) -> Asset | SpellbookError | None:
    try:
        return find(entry, labels, pool)
    except BadInput as error:
        return error


def _labelled(
    entry: ConsumerEntry, labels: Mapping[str, Sequence[int]], assets: AssetQuerySet
) -> Asset | SpellbookError | None:
    same = labels.get(entry.name.casefold(), ())
    if len(same) > 1:
        return BadInput(f"Several exposures are called {entry.name}; name one of them by its full name.")
    return assets.filter(pk=same[0]).first() if same else None


def lookup() -> dict[str, list[int]]:
    """The assets of dbt's exposures by their folded names and labels."""
    found: dict[str, list[int]] = {}
    for pk, attributes in exposures().values_list("asset_id", "attributes"):
        for name in {str(attributes.get(part) or "").casefold() for part in ("name", "label")} - {""}:
            found[name] = [*found.get(name, []), *([] if pk in found.get(name, []) else [pk])]
    return found


def known_as(names: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """For exposures, by dbt's unique id with their names and labels: the declared reader that is the same thing.

    One that became the same asset in an earlier import stays so while the reader is declared. What agents alone suggest
    takes no exposure over, and nothing does that stands outside of the exposure's restricted domain (D1).
    """
    if not names:
        return {}
    readers = Asset.objects.filter(namespace=NAMESPACE, consumer__isnull=False)
    declared = dict(readers.values_list("pk", "domain_id"))
    if not declared:
        return {}
    told = readers.filter(declarations__in=Declaration.objects.exclude(source__key=SUGGESTED))
    by_name = {name.casefold(): pk for pk, name in told.values_list("pk", "name")}
    hidden = dict(exposures().filter(asset__domain__restricted=True).values_list("local_id", "asset__domain_id"))
    joined = exposures().filter(asset__in=list(declared)).values_list("local_id", "asset_id")
    before = dict(joined)
    taken = {pk: node for node, pk in before.items()}
    found: dict[str, int] = {}
    for node, called in names.items():
        meant = [by_name[name.casefold()] for name in called if name and name.casefold() in by_name]
        meant = [pk for pk in meant if node not in hidden or hidden[node] == declared[pk]]
        pk = before.get(node) or next(iter(meant), None)
        if pk is not None and taken.setdefault(pk, node) == node:
            found[node] = pk
    return found


def exposures() -> QuerySet[NodeClaim]:
    """The standing claims of dbt projects about exposures."""
    return NodeClaim.objects.filter(
        source__kind="dbt", removed_in__isnull=True, attributes__resource_type="exposure", asset__consumer__isnull=False
    )


def told_besides_agents(asset_ids: Collection[int]) -> set[int]:
    """Those of these assets that somebody else than an agent calls a reader: people, a file, dbt."""
    if not asset_ids:
        return set()
    ids = list(asset_ids)
    said = Declaration.objects.filter(asset__in=ids, said__reader=True).exclude(source__key=SUGGESTED)
    known = exposures().filter(asset__in=ids)
    return {*said.values_list("asset_id", flat=True), *known.values_list("asset_id", flat=True)}
