"""What a change is compared with: the manifest of the code that it starts from, as near as one is known."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from django.db.models import QuerySet

from catalog.code_hosts import local_git
from catalog.models import Build, BuildArtifact, PullRequest
from catalog.selectors import manifest_of
from catalog.services.reviewing import files
from catalog.services.reviewing.pull_requests import repository_of
from foundation.errors import SpellbookError
from foundation.models import Connection

LOOKED_AT: Final = 50
"""Builds whose commits are looked for in the history of the base, the newest first."""


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
        read = manifest_of(build)
        return read is not None and read.project == project
    return False


def _of(build: Build, sentence: str) -> Base:
    sha256 = BuildArtifact.objects.filter(build=build, kind="manifest").values_list("sha256", flat=True).get()
    return Base(sha256, build.commit, sentence)


def _names(connection: Connection) -> list[str]:
    """What an announcement may call this repository: the connection, its full name, its address, and the connections to
    a clone on this machine that say that they are it."""
    full = repository_of(connection)
    address = f"https://github.com/{full}"
    return [connection.name, full, address, f"{address}.git", f"git@github.com:{full}.git", *_clones(connection)]


def _clones(connection: Connection) -> dict[str, str]:
    """Connections to git on this machine whose parameter `repository` names this one, with their paths."""
    full = repository_of(connection).lower()
    rows = Connection.objects.filter(kind="git", purpose="code").order_by("name")
    mine = [one for one in rows if str(one.params.get("repository", "")).lower() == full]
    return {one.name: str(one.params.get("path", "")) for one in mine}


def _ancestor(connection: Connection, built: Sequence[Build], merge_base: str, project: str) -> Build | None:
    for path in _clones(connection).values():
        for build in built:
            with suppress(SpellbookError):  # a commit that this clone does not have tells nothing
                if merge_base and local_git.is_ancestor(path, build.commit, merge_base) and _fits(build, project):
                    return build
    return None


def _short(sha: str) -> str:
    return sha[:12]
