"""Small writes that several declarations share: fields that are said and differ, people of a role, names of domains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.db.models import Q
from django.utils.text import slugify

from catalog.models import Asset, AssetRole, Domain
from foundation.errors import BadInput
from foundation.models import Person


def set_fields(row: Any, wanted: Mapping[str, Any]) -> bool:
    """Set the fields that are said (not None) and differ; whether there were any."""
    changes = {name: value for name, value in wanted.items() if value is not None and getattr(row, name) != value}
    for name, value in changes.items():
        setattr(row, name, value)
    if changes:
        row.save(update_fields=list(changes))
    return bool(changes)


def named_domain(key: str | None) -> Domain | None:
    """The domain of that key or name; None for None, BadInput when there is none."""
    if key is None:
        return None
    found = Domain.objects.filter(Q(key=slugify(key)) | Q(name=key)).order_by("key").first()
    if found is None:
        raise BadInput(f"There is no domain {key}.")
    return found


def set_roles(asset: Asset, roles: Mapping[str, Sequence[str]], people: Mapping[str, Person]) -> bool:
    """Make the people of each role that is named be exactly these; whether that changed anything."""
    changed = False
    for role, emails in roles.items():
        wanted = {people[email].pk for email in emails}
        before = set(AssetRole.objects.filter(asset=asset, role=role).values_list("person_id", flat=True))
        AssetRole.objects.filter(asset=asset, role=role, person_id__in=before - wanted).delete()
        AssetRole.objects.bulk_create(AssetRole(asset=asset, role=role, person_id=pk) for pk in sorted(wanted - before))
        changed = changed or wanted != before
    return changed
