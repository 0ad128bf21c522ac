"""What the database holds of the graph, read straight into arrays: every standing claim, or what changed between two.

Nothing is sorted or joined by the database; a million rows are a few array operations here.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np
from django.db import connection
from django.db.models import Q, QuerySet
from numpy.typing import NDArray

from catalog.graph.raw_rows import fetched
from catalog.models import Asset, EdgeClaim, NodeClaim

CHUNK = 500
PAIR = np.dtype([("fields", ">i2"), ("size", ">i4"), ("above", ">i8"), ("size2", ">i4"), ("below", ">i8")])
"""A row of two bigint columns in PostgreSQL's binary COPY format (its manual, "COPY", "File Formats")."""
HEADER, TRAILER = 19, 2


def pairs(version: int) -> NDArray[np.int64]:
    """Each edge claim that stands in graph version `version` as (from, to): an edge stands once for every claim."""
    standing = Q(removed_in__isnull=True) | Q(removed_in__gt=version)
    rows = EdgeClaim.objects.filter(standing, added_in__lte=version).values_list("from_asset_id", "to_asset_id")
    if connection.vendor == "postgresql":
        return _copied(rows)
    with fetched(rows) as found:
        return np.fromiter(chain.from_iterable(found), dtype=np.int64).reshape(-1, 2)


def changes(base: int, version: int, *, most: int) -> NDArray[np.int64] | None:
    """(from, to, claims more or less) of what `version` has and `base` has not, in either direction of time.

    None when more than `most` claims lie between.
    """
    low, high = sorted((base, version))
    between = Q(added_in__gt=low, added_in__lte=high) | Q(removed_in__gt=low, removed_in__lte=high)
    fields = ("from_asset_id", "to_asset_id", "added_in_id", "removed_in_id")
    rows = list(EdgeClaim.objects.filter(between).values_list(*fields)[: most + 1])
    if len(rows) > most:
        return None
    sign = 1 if version >= base else -1
    inside = range(low + 1, high + 1)
    net = [(above, below, sign * ((added in inside) - (removed in inside))) for above, below, added, removed in rows]
    return np.array([one for one in net if one[2]], dtype=np.int64).reshape(-1, 3)


def kinds() -> tuple[NDArray[np.int64], list[str]]:
    """The ids of all assets and the kind of each."""
    with fetched(Asset.objects.order_by().values_list("id", "kind")) as rows:
        known = list(rows)
    return np.fromiter((pk for pk, _ in known), dtype=np.int64, count=len(known)), [kind for _, kind in known]


def changed_kinds(base: int, version: int, also: Sequence[int], *, most: int) -> dict[int, str] | None:
    """The kinds of the assets `also` and of those that a claim between the two versions tells of.

    None when more than `most` claims lie between.
    """
    low, high = sorted((base, version))
    claims = NodeClaim.objects.filter(added_in__gt=low, added_in__lte=high).values_list("asset_id", "asset__kind")
    rows = list(claims[: most + 1])
    if len(rows) > most:
        return None
    found = dict(rows)
    missing = [pk for pk in also if pk not in found]
    for start in range(0, len(missing), CHUNK):
        found.update(Asset.objects.filter(pk__in=missing[start : start + CHUNK]).values_list("id", "kind"))
    return found


def _copied(rows: QuerySet[Any, Any]) -> NDArray[np.int64]:
    """The rows through COPY, about five times as fast as fetching them."""
    text, parameters = rows.query.sql_with_params()
    copying = f"COPY ({text}) TO STDOUT (FORMAT BINARY)"
    with connection.cursor() as cursor, cursor.cursor.copy(copying, parameters) as copy:  # psycopg's own cursor
        data = b"".join(bytes(block) for block in copy)
    found = np.frombuffer(data, dtype=PAIR, offset=HEADER, count=(len(data) - HEADER - TRAILER) // PAIR.itemsize)
    return np.stack([found["above"], found["below"]], axis=1).astype(np.int64)
