"""Small writes that several declarations share: fields that are said and differ, people of a role, names of domains."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Any, TypeAlias

from django.db.models import Q

from catalog.models import AssetRole, Domain
from catalog.words import slug
from foundation.errors import BadInput

RoleRow: TypeAlias = tuple[str, int | None, str]
"""A role, the person's id or None, the label or "" (one of the two is there)."""


def set_fields(row: Any, wanted: Mapping[str, Any]) -> bool:
    """Set the fields that are said (not None) and differ; whether there were any."""
    changes = {name: value for name, value in wanted.items() if value is not None and getattr(row, name) != value}
    for name, value in changes.items():
        setattr(row, name, value)
    if changes:
        row.save(update_fields=list(changes))
    return bool(changes)


def find_domain(key: str) -> Domain | None:
    """The domain of that key or name."""
    return Domain.objects.filter(Q(key=slug(key)) | Q(name=key)).order_by("key").first()


def named_domain(key: str | None) -> Domain | None:
    """The domain of that key or name; None for None, BadInput when there is none."""
    if key is None:
        return None
    found = find_domain(key)
    if found is None:
        raise BadInput(f"There is no domain {key}.")
    return found


def set_roles(wanted: Mapping[int, Collection[RoleRow]], source: str, named: Mapping[int, Sequence[str]]) -> set[int]:
    """Make the people whom `source` gives these assets, in the roles that are `named` for each, exactly these.

    The asset ids whose people changed come back. At most a few hundred assets at once.
    """
    before: dict[int, dict[RoleRow, int]] = defaultdict(dict)
    rows = AssetRole.objects.filter(asset__in=list(named), source=source)
    for pk, asset, role, person, label in rows.values_list("pk", "asset_id", "role", "person_id", "label"):
        if role in named[asset]:
            before[asset][role, person, label] = pk
    gone = [pk for asset, had in before.items() for row, pk in had.items() if row not in wanted.get(asset, ())]
    new = [
        AssetRole(asset_id=asset, role=role, person_id=person, label=label, source=source)
        for asset, rows_wanted in wanted.items()
        for role, person, label in rows_wanted
        if (role, person, label) not in before[asset]
    ]
    AssetRole.objects.filter(pk__in=gone).delete()
    AssetRole.objects.bulk_create(new)
    lost = {asset for asset, had in before.items() for pk in had.values() if pk in set(gone)}
    return lost | {row.asset_id for row in new}
