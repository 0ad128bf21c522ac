"""What a review of two manifests is made from: files, and the facts of installations. No Django, no database."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Protocol, TypeAlias

from catalog.review.engine import review
from catalog.review.known.facts_document import FactsDocument
from catalog.review.known.facts_document import read as read_facts
from catalog.review.known.from_declared import MOST
from catalog.review.known.knowledge import gather
from catalog.review.types import Knowledge, Policy, Review
from catalog.sources import artifact, catalog_file, manifest
from catalog.sources.catalog_file import CatalogFile
from catalog.sources.declared import parse
from catalog.sources.declared_file import LARGEST as LARGEST_DECLARATION
from catalog.sources.declared_file import read_yaml
from catalog.sources.manifest_types import Manifest
from foundation.errors import BadInput, SpellbookError
from spellbook.facts_url import TOKEN, fetch, is_url, said

MANIFEST: Final = "manifest.json"
DECLARATION: Final = "spellbook.yml"
PROJECT: Final = "dbt_project.yml"


@dataclass(frozen=True)
class Asked:
    """What is to be reviewed, and with which knowledge. `facts_needed`: without them there is no review."""

    base: Path
    head: Path
    at: datetime
    declared: Sequence[Path] | None = None
    catalog: Path | None = None
    facts: Sequence[str] = ()
    facts_needed: bool = True
    compared: str = ""


Reviewed: TypeAlias = Callable[[Knowledge], Review]


class Installation(Protocol):
    """What the machine that reviews knows by itself."""

    def facts(self, project: str) -> Sequence[FactsDocument]:
        """What it knows for the dbt project of that name."""

    def review(self, known: Knowledge, reviewed: Reviewed) -> Review:
        """The review that `reviewed` makes of what is known and of what can be found out now."""


class Nowhere:
    """Where there is no installation."""

    def facts(self, project: str) -> Sequence[FactsDocument]:
        return ()

    def review(self, known: Knowledge, reviewed: Reviewed) -> Review:
        return reviewed(known)


def reviewed(asked: Asked, here: Installation) -> Review:
    """The review that was asked for; BadInput, with one sentence that names the file, for what cannot be read.

    Facts that cannot be had and are not needed are told among the problems; readers then count as not known, since
    there may be more of them than all other sources tell.
    """
    base, head = _manifest("base", asked.base), _manifest("head", asked.head)
    documents, missing = _facts(asked)
    facts = [*documents, *here.facts(head.project)]
    known = gather(base, head, declared=_declared(asked), facts=facts, catalog=_catalog(asked.catalog))
    if missing:
        known = replace(known, sources=(), problems=(*missing, *known.problems))
    policy = Policy(tuple(rule for one in facts for rule in one.rules))
    return here.review(known, lambda facts: review(base, head, facts, policy, at=asked.at, compared=asked.compared))


def _manifest(side: str, path: Path) -> Manifest:
    found = path / MANIFEST if path.is_dir() else path
    if path.is_dir() and not found.exists():
        raise BadInput(f"{side}: the folder {path} holds no {MANIFEST}; run `dbt parse` or `dbt compile` there.")
    try:
        return manifest.read(_bytes(found, "manifest"))
    except BadInput as error:
        where = side if str(found) in str(error) else f"{side} {found}"
        raise BadInput(f"{where}: {error}") from None


def _catalog(path: Path | None) -> CatalogFile | None:
    if path is None:
        return None
    try:
        return catalog_file.read(_bytes(path, "catalog"))
    except BadInput as error:
        raise BadInput(str(error) if str(path) in str(error) else f"{path}: {error}") from None


def _declared(asked: Asked) -> list[tuple[str, dict[str, Any]]]:
    paths = asked.declared
    if paths is None:
        own = Path(DECLARATION)
        paths = [own] if own.is_file() and Path(PROJECT).is_file() else []
    return [(str(path), _declaration(path)) for path in paths]


def _declaration(path: Path) -> dict[str, Any]:
    """The declaration; BadInput for an entry that cannot be used: a reader that is left out would not be warned of."""
    document = read_yaml(_bytes(path, "declaration", LARGEST_DECLARATION + 1), str(path))
    try:
        parse(document, most=MOST)
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from None
    return document


def _facts(asked: Asked) -> tuple[list[FactsDocument], list[str]]:
    found: list[FactsDocument] = []
    missing: list[str] = []
    for where in asked.facts:
        try:
            found.append(_facts_of(where))
        except SpellbookError as error:
            if asked.facts_needed:
                raise
            missing.append(f"Facts were asked for and are not used: {error}")
    return found, missing


def _facts_of(where: str) -> FactsDocument:
    if is_url(where):
        data = fetch(where, os.environ.get(TOKEN, ""))
        return read_facts(data, said(where))
    return read_facts(_bytes(Path(where), "facts document"), where)


def _bytes(path: Path, what: str, most: int | None = None) -> bytes:
    """The bytes of a regular file, at most the first `most` of them; a device or a pipe might never end."""
    if path.exists() and not path.is_file():
        raise BadInput(f"the {what} {path} is no file")
    if most is None:
        return artifact.read_bytes(path, what)
    try:
        with path.open("rb") as file:
            return file.read(most)
    except OSError as error:
        raise BadInput(f"the {what} {path} cannot be read: {error.strerror or error}") from None
