"""The assets that a search looks at: those in the graph that a person may see, narrowed by the filters.

Names of restricted domains are left out in the query itself (D1). What the index has not read yet is looked for by its
plain name and description, and what left the graph since is left out, so that a late index is slower, never wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from django.db.models import Exists, F, OuterRef, Q, QuerySet, Value
from django.db.models.functions import Concat

from catalog.graph.versions import head_version
from catalog.models import Asset, AssetRole, Domain, NodeClaim, SearchDue, SearchEntry, SearchState
from catalog.models.graph import AssetQuerySet
from catalog.search import engine as search_engine
from catalog.search.asked import Asked
from catalog.search.engine import Holds, Wanted, Where
from foundation.models import Person

LAST = "\U0010ffff"  # sorts after every letter: what begins with a text lies between it and this
Order: TypeAlias = F | Concat
SORTED = Concat("tail", Value(""))  # not the column itself: nobody is to walk its index in search of a rare word
STANDING = NodeClaim.objects.filter(asset=OuterRef("pk"), removed_in__isnull=True)


@dataclass(frozen=True)
class Pool:
    """`entries` of the index, and `fresh` assets that it may not know as they are now (none unless `behind`).

    `hidden` are the entries left out for these eyes; `narrowed` says that others are left out, too.
    """

    entries: QuerySet[SearchEntry]
    fresh: QuerySet[Asset]
    hidden: QuerySet[SearchEntry] | None
    narrowed: bool
    behind: bool

    def count(self, asked: Asked) -> int:
        """How many assets `asked` describes."""
        if self.behind:
            return self.entries.filter(_described(asked)).count() + self._fresh(asked).count()
        if self.narrowed or not asked.wanted:
            return self.entries.filter(_described(asked)).count()
        # The full text counts without reading an entry; what is hidden is little, and is taken off.
        hidden = self.hidden.filter(_described(asked)).count() if self.hidden is not None else 0
        return search_engine.count(asked.wanted) - hidden

    def holds(self, wanted: Sequence[Wanted], where: Where = "all") -> bool:
        """Whether anything in the index holds all these words.

        Counted, since a planner that expects to come upon one soon reads a whole table that has none.
        """
        if self.hidden is None and not self.narrowed and not self.behind:
            return search_engine.count(wanted, where) > 0
        return self.entries.filter(Holds(wanted, where)).count() > 0

    def names_hold(self, asked: Asked) -> bool:
        """Whether the name of anything begins with the text or holds its words."""
        begun = _exact(asked) | _tail_begins(asked) | _name_begins(asked)
        return self.entries.filter(begun).exists() or bool(asked.wanted and self.holds(asked.wanted, "name"))

    def tiers(self, asked: Asked, *, many: bool = False) -> Iterator[QuerySet[Any, int]]:
        """Ids of what `asked` describes, the best first, none in two of them; with `many` the last is not sorted."""
        for entries, order in self._entry_tiers(asked, many):
            yield entries.order_by(order, "asset_id").values_list("pk", flat=True)
        if self.behind:
            yield self._fresh(asked).order_by("name", "pk").values_list("pk", flat=True)

    def assets(self, asked: Asked) -> QuerySet[Asset]:
        """The same as one set of assets, to be ordered."""
        known = Q(pk__in=self.entries.filter(_described(asked)).values("pk"))
        return Asset.objects.filter(known | Q(pk__in=self._fresh(asked).values("pk")) if self.behind else known)

    def _entry_tiers(self, asked: Asked, many: bool) -> Iterator[tuple[QuerySet[SearchEntry], Order]]:
        if not asked.text:
            yield self.entries, F("name")
            return
        exact, tail, name = _exact(asked), _tail_begins(asked), _name_begins(asked)
        yield self.entries.filter(exact), F("name")
        yield self.entries.filter(tail & ~exact), F("tail")
        yield self.entries.filter(name & ~tail & ~exact), F("name")
        if asked.wanted:
            held, rest = Q(Holds(asked.wanted, "name")), Q(Holds(asked.wanted, "rest"))
            yield self.entries.filter(held & ~exact & ~tail & ~name), SORTED
            yield self.entries.filter(rest & ~exact), F("asset_id") if many else SORTED

    def _fresh(self, asked: Asked) -> QuerySet[Asset]:
        rows = self.fresh.exclude(pk__in=self.entries.filter(_described(asked)).values("pk"))
        for word in asked.words or ((asked.text,) if asked.text else ()):
            rows = rows.filter(Q(name__icontains=word) | Q(description__icontains=word))
        return rows


def pool(
    person: Person | None, *, kinds: Sequence[str] = (), domains: Sequence[str] = (), owner: Person | None = None
) -> Pool:
    """What `person` may see (None: everything), of these kinds, domains (keys; "" is none) and this owner."""
    narrow = _filters(kinds, domains, owner)
    visible = Asset.objects.all() if person is None else Asset.objects.visible_to(person)
    hidden = None if person is None else _hidden(visible)
    entries = SearchEntry.objects.all()
    if narrow:
        entries = entries.filter(asset__in=Asset.objects.filter(narrow))
    if hidden is not None:
        entries = entries.exclude(asset__in=hidden)
    left = None if hidden is None else SearchEntry.objects.filter(asset__in=hidden)
    seen = SearchState.objects.values_list("version", flat=True).first() or 0
    head = head_version()
    if head <= seen and not SearchDue.objects.exists():
        return Pool(entries, Asset.objects.none(), left, narrowed=bool(narrow), behind=False)
    changed = NodeClaim.objects.filter(added_in__gt=seen).values("asset")
    unread = Q(pk__in=SearchDue.objects.values("pk")) | Q(pk__in=changed)
    fresh = visible.filter(narrow).filter(unread).filter(Exists(STANDING))
    return Pool(entries.filter(Exists(STANDING)), fresh, left, narrowed=bool(narrow), behind=True)


def _filters(kinds: Sequence[str], domains: Sequence[str], owner: Person | None) -> Q:
    found = Q()
    if kinds:
        found &= Q(kind__in=list(kinds))
    if domains:
        none = Q(domain__isnull=True) if "" in domains else Q(pk__in=[])
        found &= Q(domain__key__in=[key for key in domains if key]) | none
    if owner is not None:
        roles = AssetRole.objects.filter(asset=OuterRef("pk"), role="owner")
        found &= Q(Exists(roles.filter(person=owner))) | (Q(domain__owner=owner) & ~Q(Exists(roles)))
    return found


def _hidden(visible: AssetQuerySet) -> QuerySet[Asset] | None:
    """The assets of restricted domains of which nothing is visible: leaving them out is quicker than asking of each."""
    seen = visible.filter(domain=OuterRef("pk"))
    domains = list(Domain.objects.filter(~Exists(seen), restricted=True).values_list("pk", flat=True))
    return Asset.objects.filter(domain__in=domains) if domains else None


def _described(asked: Asked) -> Q:
    """Everything that the tiers hold together: whatever has the text in its name holds its words, too."""
    if not asked.text:
        return Q()
    if asked.wanted:
        return Q(Holds(asked.wanted))
    return _exact(asked) | _tail_begins(asked) | _name_begins(asked)


def _exact(asked: Asked) -> Q:
    return Q(tail=asked.folded) | Q(name=asked.folded) | Q(pk__in=asked.whole)


def _tail_begins(asked: Asked) -> Q:
    return Q(tail__gte=asked.folded, tail__lt=asked.folded + LAST)


def _name_begins(asked: Asked) -> Q:
    return Q(name__gte=asked.folded, name__lt=asked.folded + LAST)
