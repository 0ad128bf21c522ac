"""What hangs on one asset and goes over to the one that it turned out to be; what cannot, stays and is told."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from django.db.models import ForeignObjectRel, Model

from catalog.models import (
    Asset,
    AssetRole,
    BuildOutput,
    ColumnLineage,
    ColumnList,
    Consumer,
    Declaration,
    Definition,
    EdgeClaim,
    LineageDataset,
    Note,
    ReviewRule,
    TableSize,
)
from catalog.selectors import RANK
from catalog.services.fields import set_fields
from foundation import clock

OWN_FLOOR = "catalog"
ALIKE: tuple[tuple[type[Model], tuple[str, ...]], ...] = (
    (AssetRole, ("person_id", "label", "role", "source")),
    (Declaration, ("source_id",)),
    (BuildOutput, ("build_id",)),
    (ColumnLineage, ("source",)),
    (ReviewRule, ("lifted_at",)),
)
"""Rows of which an asset has one of each kind, by what makes two of them alike."""


def choose(asked: Asset, holder: Asset, above: Mapping[int, Collection[str]]) -> tuple[Asset, Asset]:
    """(the row that goes, the row that stays) of an asset that is asked to become `holder`: they exchange names where
    the floors above know `asked` alone. The row that stays has the holder's name in either case."""
    if above.get(asked.pk) and not above.get(holder.pk):
        name, other = (holder.namespace, holder.name), (asked.namespace, asked.name)
        Asset.objects.filter(pk=holder.pk).update(name=f"{holder.pk} is becoming another", namespace=other[0])
        Asset.objects.filter(pk=asked.pk).update(namespace=name[0], name=name[1])
        Asset.objects.filter(pk=holder.pk).update(namespace=other[0], name=other[1])
        asked.namespace, asked.name, holder.namespace, holder.name = *name, *other
        _fill(asked, holder, first=holder)
        return holder, asked
    _fill(holder, asked, first=holder)
    return asked, holder


def move(into: Mapping[int, int], above: Mapping[int, Collection[str]]) -> list[dict[str, str]]:
    """Move the rows of this floor from each key of `into` to its value; what stays behind, as {asset, what}.

    A number of queries that does not grow with the assets of which nothing is said.
    """
    for model, same in ALIKE:
        _move_unlike(model, into, same)
    for model, field in ((Note, "asset_id"), (LineageDataset, "asset_id"), (Consumer, "confirm_source_id")):
        _move_all(model, into, field)
    for model in (ColumnList, TableSize):
        _copy_one(model, into)
    _move_unlike(Consumer, into, ())
    _copy_definitions(into)
    _read_again(into)
    return _left(into, above)


def _fill(kept: Asset, other: Asset, *, first: Asset) -> None:
    """Kind, meaning and domain as they are known of the two together; `first` is believed before the other."""
    second = other if first is kept else kept
    best = max((first, second), key=lambda asset: RANK.get(asset.kind, 0))
    wanted = {"kind": best.kind, "description": first.description or second.description}
    set_fields(kept, {**wanted, "domain": first.domain or second.domain})


def _rows(model: type[Model]) -> Any:
    return model._default_manager


def _move_unlike(model: type[Model], into: Mapping[int, int], same: tuple[str, ...]) -> None:
    """Move rows that the asset that stays does not have alike; of two alike its own says it."""
    rows = list(_rows(model).filter(asset__in=into))
    there = set(_rows(model).filter(asset__in=set(into.values())).values_list("asset_id", *same)) if rows else set()
    for row in rows:
        key = into[row.asset_id], *(getattr(row, name) for name in same)
        if key not in there:
            there.add(key)
            _rows(model).filter(pk=row.pk).update(asset=into[row.asset_id])


def _move_all(model: type[Model], into: Mapping[int, int], field: str) -> None:
    for pk in set(_rows(model).filter(**{f"{field}__in": into}).values_list(field, flat=True)):
        _rows(model).filter(**{field: pk}).update(**{field: into[pk]})


def _copy_one(model: type[Model], into: Mapping[int, int]) -> None:
    """Copy the one row that an asset may have, where there is none: its key is the asset, so it cannot be moved."""
    there = set(_rows(model).filter(asset__in=set(into.values())).values_list("pk", flat=True))
    for row in _rows(model).filter(asset__in=into):
        kept = into[row.pk]
        if kept not in there:
            there.add(kept)
            row.pk = kept
            row.save(force_insert=True)


def _copy_definitions(into: Mapping[int, int]) -> None:
    """Definitions are kept for good where they are; an asset without any takes over a copy of all of one other's."""
    taken = set(Definition.objects.filter(asset__in=set(into.values())).values_list("asset_id", flat=True))
    giver: dict[int, int] = {}
    rows = [one for one in Definition.objects.filter(asset__in=into) if into[one.asset_id] not in taken]
    rows = [one for one in rows if giver.setdefault(into[one.asset_id], one.asset_id) == one.asset_id]
    for row in rows:
        row.pk, row.asset_id = None, into[row.asset_id]
    Definition.objects.bulk_create(rows)


def _read_again(into: Mapping[int, int]) -> None:
    """What is made of the columns of what goes names it by id; that code is due to be read anew."""
    below = EdgeClaim.objects.filter(from_asset__in=into, removed_in__isnull=True).values("to_asset_id")
    ColumnLineage.objects.filter(asset__in=below).exclude(sql="").update(due_at=clock.now())


def known_above(pks: Collection[int]) -> dict[int, list[str]]:
    """What the floors above keep about each of these assets, in words; they are asked by their foreign keys alone."""
    found: dict[int, list[str]] = {}
    for relation in Asset._meta.get_fields(include_hidden=True):
        if not isinstance(relation, ForeignObjectRel) or relation.related_model._meta.app_label == OWN_FLOOR:
            continue
        rows = relation.related_model._base_manager.filter(**{f"{relation.field.name}__in": pks})
        for pk in set(rows.values_list(relation.field.attname, flat=True)):
            found.setdefault(pk, []).append(str(relation.related_model._meta.verbose_name_plural))
    return found


def _left(into: Mapping[int, int], above: Mapping[int, Collection[str]]) -> list[dict[str, str]]:
    """Rows of the floors above, and readers of their own, that stay with what goes."""
    told = [(pk, what) for pk in into for what in dict.fromkeys(above.get(pk, ()))]
    readers = Consumer.objects.filter(asset__in=into).values_list("asset_id", flat=True)
    told += [(pk, "the declaration of a reader, which its other name has too") for pk in readers]
    rows = Asset.objects.in_bulk({pk for pk, _ in told})
    return [{"asset": f"{rows[pk].namespace}/{rows[pk].name}", "what": what} for pk, what in told]
