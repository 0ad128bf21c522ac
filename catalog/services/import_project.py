"""Which dbt project a manifest is of, and whether it is the one that is known by that name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from django.db.models.fields.json import KeyTextTransform

from catalog.models import NodeClaim
from catalog.sources import artifact
from catalog.sources.manifest_types import Manifest
from foundation.errors import BadInput, Conflict

LONGEST: Final = 180
BUILT: Final = ("model", "seed", "snapshot")


def project_of(read: Manifest, project: str | None) -> str:
    """The name of the project; BadInput when neither the file nor the caller says it."""
    name = (project or read.project).strip()
    if not name:
        raise BadInput("The manifest does not name its project; give its name.")
    if len(name) > LONGEST or not name.isprintable():
        raise BadInput(f"The name of a project has at most {LONGEST} printable characters.")
    return name


def default_namespace(read: Manifest, project: str) -> str:
    """The namespace of a project whose connection nobody named: a manifest holds no host."""
    return f"{read.adapter or 'dbt'}://{project}"


def refuse_another(read: Manifest, data: bytes, name: str, key: str) -> None:
    """Conflict when a manifest whose project is only guessed would replace the claims `key` of another warehouse: of
    another adapter, or of databases of which it builds in none."""
    adapters, databases = _known(key)
    others = [*_other({read.adapter}, adapters), *_other({*_databases(read)}, databases)]
    if others and not _names_project(data):
        raise Conflict(
            f"The manifest does not name its project; its models suggest {name}, which is known here from another "
            f"warehouse ({', '.join(others)}). Nothing was changed; say which project it is: --project NAME."
        )


def _other(now: set[str], before: set[str]) -> Iterator[str]:
    """What was known, if it and what is said now have nothing in common."""
    now, before = now - {""}, before - {""}
    if now and before and not now & before:
        yield " and ".join(sorted(before)[:3])


def _known(key: str) -> tuple[set[str], set[str]]:
    """The adapters and databases of what the source builds by its standing claims."""
    rows = NodeClaim.objects.filter(source__key=key, removed_in__isnull=True, attributes__resource_type__in=BUILT)
    parts = KeyTextTransform("adapter", "attributes"), KeyTextTransform("database", "attributes__relation")
    found = list(rows.order_by().values_list(*parts).distinct())
    return {adapter or "" for adapter, _ in found}, {(database or "").casefold() for _, database in found}


def _databases(read: Manifest) -> Iterator[str]:
    for node in read.nodes.values():
        if node.resource_type in BUILT and node.has_relation and not node.external:
            yield (node.database or "").casefold()


def _names_project(data: bytes) -> bool:
    metadata: Any = artifact.load(data, "manifest").get("metadata")
    said = metadata.get("project_name") if isinstance(metadata, Mapping) else None
    return isinstance(said, str) and bool(said.strip())
