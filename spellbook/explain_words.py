"""What one table means, whose it is, and what was written of it, for `explain`."""

from __future__ import annotations

from typing import Any

from catalog.damage_order import LIVE
from catalog.graph.answering import everybody
from catalog.models import Asset, Note
from catalog.selectors import ColumnView, dbt_node, definition_of, definitions_of
from catalog.selectors import columns as columns_of
from catalog.words import ROLES
from foundation.canonical import timestamp
from foundation.models import Person
from foundation.people import display_name
from spellbook.made_of import MadeOf, made_of
from spellbook.sight import Sight

CODE = ("materialized", "package", "path", "patch_path", "checksum", "relation", "adapter", "version", "tags")
MOST_NOTES = 100


def definition(asset: Asset) -> dict[str, Any] | None:
    """The newest definition that stands, with its author and who approved it for the domain; `suggested` counts those
    that wait for an answer. None when nobody wrote one."""
    newest = definition_of(asset)
    waiting = definitions_of(asset).filter(status="suggested").count()
    if newest is None:
        return {"text": "not known yet", "suggested": waiting} if waiting else None
    return {
        "text": newest.text,
        "number": newest.number,
        "author": display_name(newest.author),
        "at": timestamp(newest.created_at),
        "approved_by": _name(newest.approved_by),
        "approved_at": timestamp(newest.approved_at) if newest.approved_at else None,
        "suggested": waiting,
    }


def code(asset: Asset) -> dict[str, Any] | None:
    """What the dbt project that builds the asset says of its code; None when none does."""
    node = dbt_node(asset)
    if node is None:
        return None
    known = {name: node.attributes[name] for name in CODE if node.attributes.get(name)}
    return {"source": node.source.key, "id": node.local_id, "since_version": node.added_in_id, **known}


def columns(asset: Asset, sight: Sight) -> list[dict[str, Any]]:
    """The columns in their order, each with those that it is made of; names of hidden assets are not given."""
    made = made_of(asset, sight)
    return [_column(column, made) for column in columns_of(asset)]


def people(asset: Asset) -> dict[str, list[str]]:
    """Who answers for the asset, by role: people by name, then schedules and teams as they are called."""
    answers = everybody([asset.pk]).get(asset.pk, {})
    return {role: [one.name for one in answers.get(role, ())] for role in ROLES}


def notes(asset: Asset) -> dict[str, Any]:
    """The notes that stand or wait for an answer, newest first."""
    rows = Note.objects.filter(asset=asset, status__in=LIVE).order_by("-created_at", "-pk")
    related = ("author__name_row", "approved_by__principal__name_row")
    total = rows.count()
    items = [_note(note) for note in rows.select_related(*related)[:MOST_NOTES]]
    return {"total": total, "truncated": total > len(items), "items": items}


def documentation(asset: Asset) -> dict[str, Any]:
    """How much of the asset is described, and in which file."""
    found, node = columns_of(asset), dbt_node(asset)
    return {
        "described": bool(asset.description.strip()),
        "columns": len(found) or "not known yet",
        "columns_described": sum(bool(column.description.strip()) for column in found),
        "file": (node.attributes.get("patch_path") if node else None) or "not known yet",
    }


def _column(column: ColumnView, made: MadeOf) -> dict[str, Any]:
    told = made.of(column.name)
    return {
        "name": column.name,
        "type": column.type or "not known yet",
        "description": column.description,
        "nullable": column.nullable,
        "made_of": told.as_dict() if told else made.reason,
    }


def _note(note: Note) -> dict[str, Any]:
    return {
        "text": note.text,
        "status": note.status,
        "author": display_name(note.author),
        "at": timestamp(note.created_at),
        "approved_by": _name(note.approved_by),
        "approved_at": timestamp(note.approved_at) if note.approved_at else None,
    }


def _name(person: Person | None) -> str | None:
    return None if person is None else display_name(person.principal)
