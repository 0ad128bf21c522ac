"""Finding an asset by what people and tools call it."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence

from django.db.models import Exists, OuterRef, Q

from catalog.models import Asset, NodeClaim
from catalog.models.graph import AssetQuerySet
from foundation.errors import BadInput, NotFound

SHOWN = 5
LONGEST = 1000  # letters of a namespace and a name together
MOST = 500  # candidates looked at; a name that means more is ambiguous in any case


def find_asset(name: str, *, among: AssetQuerySet | None = None) -> Asset:
    """The one asset that `name` means, among `among` (default: all).

    Tried in this order: `namespace/name`, the exact name, a dotted ending of it (`analytics.orders` for
    `db.analytics.orders`), the same two without regard to case. An asset that is in the graph now goes before one that
    only was. Raises NotFound when there is none (an unknown asset is an error, not "no impact") and BadInput when the
    name means several.
    """
    wanted = name.strip()
    if not wanted:
        raise BadInput("The name of an asset is empty.")
    pool = Asset.objects.all() if among is None else among
    if len(wanted) > LONGEST or not wanted.isprintable():  # no database could be asked for it
        raise NotFound(f"No asset is named {_short(wanted)}.")
    found = list(_candidates(wanted, pool))
    for hits in _by_rule(wanted, found):
        present = [asset for asset in hits if asset.in_graph] or hits  # type: ignore[attr-defined]
        if len(present) == 1:
            return present[0]
        if present:
            raise BadInput(f"The name {_short(wanted)} is ambiguous: {_listed(present)}.")
    raise NotFound(f"No asset is named {_short(wanted)}{_near(wanted, pool)}.")


def full_name(asset: Asset) -> str:
    """`namespace/name`, which means this asset and no other."""
    return f"{asset.namespace}/{asset.name}"


def _candidates(wanted: str, pool: AssetQuerySet) -> AssetQuerySet:
    condition = Q(name__iexact=wanted) | Q(name__iendswith="." + wanted)
    for place in (place for place, letter in enumerate(wanted) if letter == "/"):
        condition |= Q(namespace=wanted[:place], name=wanted[place + 1 :])
    standing = NodeClaim.objects.filter(asset=OuterRef("pk"), removed_in__isnull=True)
    return pool.filter(condition).annotate(in_graph=Exists(standing)).order_by("-in_graph", "name", "namespace")[:MOST]


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


def _short(name: str) -> str:
    clean = "".join(letter if letter.isprintable() else "\ufffd" for letter in name)
    return clean if len(clean) <= 200 else clean[:200] + "…"
