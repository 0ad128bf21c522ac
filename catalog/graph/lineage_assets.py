"""What lists of many assets say of each: its names, and who answers for it. Values, not rows: a page has hundreds."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any, NamedTuple

from django.db.models import Q

from catalog.models import Asset, AssetRole
from catalog.selectors import DECLARED
from foundation.people import ERASED_NAME

CHUNK = 500


class Known(NamedTuple):
    """An asset, with its domain and the name of who owns that (None where nobody active does)."""

    pk: int
    name: str
    namespace: str
    kind: str
    domain_id: int | None
    domain: str | None
    domain_owner: str | None


def known(ids: Collection[int]) -> dict[int, Known]:
    """The assets with these ids; one query for every 500."""
    owner = ("domain__owner__is_active", "domain__owner__principal__name_row__name")
    fields = ("pk", "name", "namespace", "kind", "domain_id", "domain__name", *owner)
    rows = (row for chunk in _chunks(ids) for row in _plain(Asset.objects.filter(pk__in=chunk), fields))
    return {
        pk: Known(pk, name, namespace, kind, domain_id, domain, (owner or ERASED_NAME) if active else None)
        for pk, name, namespace, kind, domain_id, domain, active, owner in rows
    }


def answering(ids: Collection[int], roles: Collection[str]) -> dict[int, dict[str, str]]:
    """The name of the first who answers for each asset in each of `roles`: an active person, else a label.

    Whom people declared goes before whom a dbt project names. One query for every 500.
    """
    counting = AssetRole.objects.filter(Q(person__is_active=True) | Q(person__isnull=True), role__in=roles)
    fields = ("asset_id", "role", "person_id", "source", "pk", "label", "person__principal__name_row__name")
    rows = [row for chunk in _chunks(ids) for row in _plain(counting.filter(asset__in=chunk), fields)]
    found: dict[int, dict[str, str]] = {}
    for pk, role, person, _, _, label, name in sorted(rows, key=_last_first):
        found.setdefault(pk, {})[role] = label if person is None else name or ERASED_NAME
    return found


def _last_first(row: tuple[Any, ...]) -> tuple[bool, bool, int]:
    return row[2] is not None, row[3] == DECLARED, -row[4]


def _plain(rows: Any, fields: tuple[str, ...]) -> Iterable[tuple[Any, ...]]:
    found: Iterable[tuple[Any, ...]] = rows.order_by().values_list(*fields)
    return found


def _chunks(ids: Collection[int]) -> Iterator[list[int]]:
    wanted = list(ids)
    for start in range(0, len(wanted), CHUNK):
        yield wanted[start : start + CHUNK]
