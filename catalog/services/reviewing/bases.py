"""What a change is compared with: the manifest of the code that it starts from, as near as one is known."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from django.db.models import QuerySet

from catalog.code_hosts import local_git
from catalog.models import Build, BuildArtifact, PullRequest
from catalog.services.reviewing import files
from catalog.services.reviewing.pull_requests import clones_of, repository_of
from catalog.sources import manifest
from foundation import artifacts
from foundation.errors import SpellbookError
from foundation.models import Connection

LOOKED_AT: Final = 50
"""Builds whose commits are looked for in the history of the base, the newest first."""
REMEMBERED: Final = 4_096
"""Manifests of which it is remembered whose project they are, so that each is read once and not at every look."""


@dataclass(frozen=True, slots=True)
class Base:
    """A manifest to compare with: its digest, the commit it was made from ("" where nobody said), and in a sentence
    which it is."""

    sha256: str
    commit: str
    sentence: str


def find(row: PullRequest, project: str, merge_base: str) -> Base | None:
    """The manifest that the head of `row` is compared with; None when nothing fits.

    Tried in this order: the newest build of the merge base; the base that a job posted with the head; the newest build
    of a commit that the merge base contains, as far as git on this machine can tell; the newest build of the project
    from this repository. `project` is dbt's name of it: a manifest of another project is no base.
    """
    built = _builds(row.connection, project)
    exact = _first(built.filter(commit=merge_base), project) if merge_base else None
    if exact is not None:
        return _of(exact, f"the build {exact.key} of {_short(merge_base)}, where the change starts from")
    posted = files.posted(row, "base_manifest")
    if posted is not None:
        start = f" for {_short(merge_base)}" if merge_base else ""
        return Base(
            posted.sha256, "", f"the base manifest that a job posted with the head{start}; no build of it is known"
        )
    before = _ancestor(row.connection, list(built.exclude(commit="")[:LOOKED_AT]), merge_base, project)
    if before is not None:
        said = f"the build {before.key} of {_short(before.commit)}, which {_short(merge_base)} contains"
        return _of(before, f"{said}; what was merged between the two counts as part of this change")
    newest = _first(built, project)
    if newest is None:
        return None
    of = f" of {_short(newest.commit)}" if newest.commit else ", of a commit that nobody named"
    start = _short(merge_base) if merge_base else "the place where the change starts from"
    return _of(newest, f"the newest build here, {newest.key}{of}; it is not known whether {start} contains it")


def missing(row: PullRequest, project: str) -> str:
    """That there is no base, and what to do."""
    return (
        f"Nothing is known to compare with: no processed build of the project {project or 'in this manifest'} from "
        f"{repository_of(row.connection)} left a manifest here. Announce a build of "
        f"{row.base_ref or 'the base branch'} with its manifest, or post base_manifest with the head."
    )


def _builds(connection: Connection, project: str) -> QuerySet[Build]:
    """Processed builds from this repository that left a manifest of this project, the newest first."""
    rows = Build.objects.filter(processed_at__isnull=False, refusal="", repository__in=_names(connection))
    rows = rows.filter(artifacts__kind="manifest").exclude(status="failed")
    return rows.filter(project__in=["", project]).order_by("-announced_at", "-pk")


def _first(built: QuerySet[Build], project: str) -> Build | None:
    return next((build for build in built[:LOOKED_AT] if _fits(build, project)), None)


def _fits(build: Build, project: str) -> bool:
    """Whether its manifest is one of this project; the announcement says so, or else the file itself."""
    if build.project:
        return build.project == project
    with suppress(SpellbookError):  # a file that is gone or cannot be read is no base
        return _project_in(_sha256_of(build)) == project
    return False


@lru_cache(maxsize=REMEMBERED)
def _project_in(sha256: str) -> str:
    """dbt's name of the project that a manifest is of; the file of a digest never changes."""
    return manifest.read(artifacts.load(sha256)).project


def _sha256_of(build: Build) -> str:
    return str(BuildArtifact.objects.filter(build=build, kind="manifest").values_list("sha256", flat=True).get())


def _of(build: Build, sentence: str) -> Base:
    return Base(_sha256_of(build), build.commit, sentence)


def _names(connection: Connection) -> list[str]:
    """What an announcement may call this repository: the connection, its full name, its address, and the connections to
    a clone on this machine that say that they are it."""
    full = repository_of(connection)
    address = f"https://github.com/{full}"
    return [connection.name, full, address, f"{address}.git", f"git@github.com:{full}.git", *clones_of(connection)]


def _ancestor(connection: Connection, built: Sequence[Build], merge_base: str, project: str) -> Build | None:
    """The first of `built` that the merge base contains, as far as a clone here can tell."""
    for path in clones_of(connection).values() if merge_base and built else ():
        with suppress(SpellbookError):  # a clone that does not have the merge base tells nothing
            within = local_git.contained(path, sorted({one.commit for one in built}), merge_base)
            found = next((one for one in built if one.commit in within and _fits(one, project)), None)
            if found is not None:
                return found
    return None


def _short(sha: str) -> str:
    return sha[:12]
