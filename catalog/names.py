"""Finding an asset by what people and tools call it."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain

from django.db.models import Exists, OuterRef, Q

from catalog.declared_readers import KIND, SUGGESTED
from catalog.models import Asset, EdgeClaim, NamespaceAlias, NodeClaim
from catalog.models.graph import AssetQuerySet
from catalog.sources.naming import printable, spellings
from foundation.errors import BadInput, NotFound, SpellbookError

SHOWN = 5
NAME_SHOWN = 200
LONGEST = 1000  # letters of a namespace and a name together
MOST = 500  # candidates looked at; a name that means more is ambiguous in any case
FEW = 5  # up to so many names are looked for one by one; for more, all names are read once


def find_asset(name: str, *, among: AssetQuerySet | None = None) -> Asset:
    """The one asset that `name` means, among `among` (default: all).

    Tried in this order: `namespace/name`, the exact name, a dotted ending of it (`analytics.orders` for
    `db.analytics.orders`), the same two without regard to case. An asset that is in the graph now goes before one that
    only was; one that no source ever claimed is none, and what an agent alone suggests means something only where
    nothing else has the name. Raises NotFound when there is none (an unknown asset is an error,
    not "no impact") and BadInput when the name means several.
    """
    wanted = name.strip()
    if not wanted:
        raise BadInput("The name of an asset is empty.")
    pool = Asset.objects.all() if among is None else among
    if len(wanted) > LONGEST or not wanted.isprintable():  # no database could be asked for it
        raise NotFound(f"No asset is named {short(wanted)}.")
    wanted = _unaliased([wanted])[wanted]
    found = _chosen(wanted, list(_candidates_of([wanted], pool, MOST)))
    if isinstance(found, Asset):
        return found
    raise NotFound(f"No asset is named {short(wanted)}{_near(wanted, pool)}.") if found is None else found


def find_each(names: Collection[str], *, among: AssetQuerySet | None = None) -> dict[str, Asset | SpellbookError]:
    """As `find_asset` for many names in few queries: the asset of each name, or the refusal that it gives."""
    pool = Asset.objects.all() if among is None else among
    wanted = {name: name.strip() for name in names}
    usable = [name for name in dict.fromkeys(wanted.values()) if name and len(name) <= LONGEST and name.isprintable()]
    meant = _unaliased(usable)
    near = _candidates_by_name([meant[name] for name in usable], pool)
    found = {name: _chosen(meant[name], near[meant[name]]) for name in usable}
    return {name: found.get(plain) or NotFound(f"No asset is named {short(plain)}.") for name, plain in wanted.items()}


def still_meant(name: str, read: Collection[int], found: Asset) -> Asset | None:
    """What of the assets `read` goes on being meant by `name`, which would mean `found` if it were new: the one that
    has the name and is in the graph. None when there is none, or agents alone say that it is there."""
    mine = [asset for asset in _claimed(Asset.objects.filter(pk__in=list(read))) if asset.in_graph]  # type: ignore[attr-defined]
    kept = _chosen(name.strip(), [asset for asset in mine if not asset.offered or found.offered])  # type: ignore[attr-defined]
    return kept if isinstance(kept, Asset) else None


def full_name(asset: Asset) -> str:
    """`namespace/name`, which means this asset and no other."""
    return f"{asset.namespace}/{asset.name}"


def short(name: str) -> str:
    """What somebody called something, as a sentence may repeat it."""
    clean = printable(name)
    return clean if len(clean) <= NAME_SHOWN else clean[:NAME_SHOWN] + "…"


def _unaliased(names: Collection[str]) -> dict[str, str]:
    """The names, where they begin with the alias of a namespace with what it means instead."""
    if not any("/" in name for name in names):
        return {name: name for name in names}
    aliases = dict(NamespaceAlias.objects.values_list("alias", "namespace"))
    return {name: _without_alias(name, aliases) for name in names}


def _without_alias(name: str, aliases: Mapping[str, str]) -> str:
    for place in (place for place, letter in enumerate(name) if letter == "/" and aliases):
        with suppress(BadInput):  # what stands before the line may be no namespace at all
            for way in (name[:place], *spellings(name[:place])):
                if way in aliases:
                    return f"{aliases[way]}/{name[place + 1 :]}"
    return name


def _chosen(wanted: str, candidates: Sequence[Asset]) -> Asset | SpellbookError | None:
    """The asset that the first rule with a hit gives, the refusal of an ambiguous name, or None.

    What dbt, a warehouse or an event tells of goes before what is only declared, so that nobody takes the name of a
    table by declaring something; and what a person declares before what an agent suggests.
    """
    things = [asset for asset in candidates if asset.in_graph and not asset.declared]  # type: ignore[attr-defined]
    said = [asset for asset in candidates if not asset.offered]  # type: ignore[attr-defined]
    for hits in chain(*(_by_rule(wanted, some) for some in (things, said, candidates))):
        present = [asset for asset in hits if asset.in_graph] or hits  # type: ignore[attr-defined]
        if len(present) == 1:
            return present[0]
        if present:
            return BadInput(f"The name {short(wanted)} is ambiguous: {_listed(present)}.")
    return None


def _candidates_by_name(names: Sequence[str], pool: AssetQuerySet) -> dict[str, list[Asset]]:
    """The candidates of each name: with a few names the database looks for them, for many every name is read once."""
    if len(names) <= FEW:
        return {name: list(_candidates_of([name], pool, MOST)) for name in names}
    wanted: dict[str, list[str]] = {}
    for name in names:
        for way in {name, name.casefold()}:
            wanted.setdefault(way, []).append(name)
    hits: dict[str, set[int]] = {name: set() for name in names}
    spaces = any("/" in name for name in names)
    for pk, namespace, name in pool.order_by().values_list("pk", "namespace", "name").iterator(chunk_size=10_000):
        folded = name.casefold()
        ends = [folded, *(folded[place + 1 :] for place, letter in enumerate(folded) if letter == ".")]
        for end in [*ends, f"{namespace}/{name}"] if spaces else ends:
            for one in wanted.get(end, ()):
                hits[one].add(pk)
    return _loaded(hits, pool)


def _loaded(hits: Mapping[str, Collection[int]], pool: AssetQuerySet) -> dict[str, list[Asset]]:
    first = {name: sorted(pks)[:MOST] for name, pks in hits.items()}
    ids = sorted({pk for pks in first.values() for pk in pks})
    found: dict[int, Asset] = {}
    for start in range(0, len(ids), MOST):
        found.update({asset.pk: asset for asset in _claimed(pool.filter(pk__in=ids[start : start + MOST]))})
    both = {name: [found[pk] for pk in pks if pk in found] for name, pks in first.items()}
    return {name: sorted(rows, key=lambda asset: (asset.name, asset.namespace)) for name, rows in both.items()}


def _candidates_of(names: Sequence[str], pool: AssetQuerySet, most: int) -> AssetQuerySet:
    condition = Q()
    for wanted in names:
        condition |= Q(name__iexact=wanted) | Q(name__iendswith="." + wanted)
        places = [place for place, letter in enumerate(wanted) if letter == "/"]
        if places:  # more than the one that fits (`_by_rule`): a condition for each is too deep for SQLite
            starts, ends = [wanted[:place] for place in places], [wanted[place + 1 :] for place in places]
            condition |= Q(namespace__in=starts, name__in=ends)
    return _claimed(pool.filter(condition))[:most]


def _claimed(rows: AssetQuerySet) -> AssetQuerySet:
    """Those that some source ever claimed, with `in_graph`: whether one does now; such go first; `declared`: whether
    declarations alone do, and `offered`: whether those of agents alone do. The row of another is all that an import
    left that never ended, and says nothing of what it feeds."""
    named = NodeClaim.objects.filter(asset=OuterRef("pk"))
    feeds, fed = EdgeClaim.objects.filter(from_asset=OuterRef("pk")), EdgeClaim.objects.filter(to_asset=OuterRef("pk"))
    known = rows.filter(Exists(named) | Exists(feeds) | Exists(fed))
    standing = named.filter(removed_in__isnull=True)
    offered = Exists(standing) & ~Exists(standing.exclude(source__key=SUGGESTED))
    declared = Exists(standing) & ~Exists(standing.exclude(source__kind=KIND))
    marked = known.annotate(in_graph=Exists(standing), declared=declared, offered=offered)
    return marked.order_by("-in_graph", "name", "namespace")


def _by_rule(wanted: str, found: Sequence[Asset]) -> Iterator[list[Asset]]:
    folded = wanted.casefold()
    yield [asset for asset in found if full_name(asset) == wanted]
    yield [asset for asset in found if asset.name == wanted]
    yield [asset for asset in found if asset.name.endswith("." + wanted)]
    yield [asset for asset in found if asset.name.casefold() == folded]
    yield [asset for asset in found if asset.name.casefold().endswith("." + folded)]


def _listed(assets: Sequence[Asset]) -> str:
    twice = len({asset.name for asset in assets}) < len(assets)
    names = [full_name(asset) if twice else asset.name for asset in assets[:SHOWN]]
    more = f" and {len(assets) - SHOWN} more" if len(assets) > SHOWN else ""
    return ", ".join(names) + more


def _near(wanted: str, pool: AssetQuerySet) -> str:
    tails: dict[str, list[str]] = {}
    for name in pool.present().values_list("name", flat=True)[:20_000]:
        tails.setdefault(name.rpartition(".")[2].casefold(), []).append(name)
    close = difflib.get_close_matches(wanted.rpartition(".")[2].casefold(), tails, n=3, cutoff=0.75)
    names = [name for tail in close for name in tails[tail]][:SHOWN]
    return f"; near it are {', '.join(names)}" if names else ""
