"""What a dbt repository declares in its own file, `spellbook.yml` beside dbt_project.yml, as it stands at the commit
that was built. What the file says no more is withdrawn; people's own words here go before it.

The file names assets, readers and notes. It adds no people, says not who decides, and lifts no restriction: a merge is
no sign-in.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any, Final

from catalog.code_hosts import local_git
from catalog.models import Build
from catalog.services import declarations, whole
from catalog.sources import declared
from catalog.sources.declared_file import read_yaml
from foundation import audit
from foundation.audit import Actor
from foundation.errors import BadInput, NotFound, SpellbookError, Unavailable
from foundation.locks import transaction
from foundation.models import Connection

FILE: Final = "spellbook.yml"
SECTIONS: Final = ("assets", "consumers", "notes")
LOOKED_AT: Final = 20
MOST: Final = 20_000  # kept in parts, since the file says it all again after a crash

READ = audit.register(
    "repository.read", "File of a repository", "read {file} of {repository} at {commit}: {changed} changed{problems}"
)
REFUSED = audit.register(
    "repository.refused", "File of a repository", "could not use {file} of {repository} at {commit}: {reason}"
)


def read_of(build: Build, *, actor: Actor) -> dict[str, Any] | None:
    """Keep what the file at the built commit declares; None when nothing is to be read.

    Nothing is read of a build without commit or of a repository that is no code connection here, of a commit that its
    branch does not hold, or that a newer build's commit contains. A file that cannot be used is told of in an audit
    row, and what was declared before stays. Unavailable (git is missing) is raised, to be tried again.
    """
    repository = Connection.objects.filter(name=build.repository, kind="git", purpose="code").first()
    if not build.commit or repository is None or not _counts(build, repository):
        return None
    key, file = f"repository:{repository.name}", _path(repository)
    try:
        document = _document(repository, build.commit, file)
    except (BadInput, NotFound) as error:
        return _refused(build, file, str(error), actor)
    if document is None and not declarations.says_anything(key):
        return None
    return _keep(document or {}, build, key, file, actor)


def _keep(document: dict[str, Any], build: Build, key: str, file: str, actor: Actor) -> dict[str, Any]:
    problems: list[str] = [f"{name} is not read from a repository" for name in document if name not in SECTIONS]
    try:
        read = declared.parse({name: document.get(name) for name in SECTIONS}, most=MOST)
    except BadInput as error:
        return _refused(build, file, str(error), actor)
    problems += [f"{name} means nothing here" for name in read.ignored]
    batch = whole.gather([whole.Part(FILE, read)], lambda _, reason: problems.append(reason))
    report = whole.keep(batch, key=key, actor=actor)
    changed = [*report.assets, *report.consumers, *report.withdrawn]
    if changed or report.notes or report.definitions or problems:
        said = f", {len(problems)} not: {'; '.join(problems)}"[:400] if problems else ""
        facts = {**_facts(build, file), "changed": len(changed), "problems": said}
        _note(build, READ, facts, actor)
    return report.as_dict() | {"problems": problems}


def _document(repository: Connection, commit: str, file: str) -> dict[str, Any] | None:
    """The file at this commit; None when the commit has none."""
    path = str(repository.params.get("path", ""))
    local_git.commit_info(path, commit)  # a commit that is not there is no file that was removed
    try:
        data = local_git.show(path, commit, file)
    except NotFound:
        return None
    return read_yaml(data, file)


def _counts(build: Build, repository: Connection) -> bool:
    """Whether the branch holds the commit, and no build of a later commit was read before."""
    path, branch = str(repository.params.get("path", "")), str(repository.params.get("branch", "main"))
    try:
        if not local_git.is_ancestor(path, build.commit, local_git.head(path, branch)):
            return False
        return not any(local_git.is_ancestor(path, build.commit, commit) for commit in _newer(build))
    except Unavailable:
        raise
    except SpellbookError:
        return False


def _newer(build: Build) -> list[str]:
    rows = Build.objects.filter(repository=build.repository, processed_at__isnull=False).exclude(commit="")
    others = rows.exclude(commit=build.commit).exclude(pk=build.pk).order_by("-processed_at")
    return list(dict.fromkeys(others.values_list("commit", flat=True)[:LOOKED_AT]))


def _path(repository: Connection) -> str:
    folder = str(repository.params.get("project_subdir") or ".")
    return str(PurePosixPath(folder) / FILE)


def _refused(build: Build, file: str, reason: str, actor: Actor) -> dict[str, Any]:
    _note(build, REFUSED, {**_facts(build, file), "reason": reason[:400]}, actor, refused=True)
    return {"refused": reason}


def _note(
    build: Build, action: str, facts: dict[str, str | int | None], actor: Actor, *, refused: bool = False
) -> None:
    with transaction():
        audit.record(actor, action, build, facts=facts, refused=refused)


def _facts(build: Build, file: str) -> dict[str, str | int | None]:
    return {"file": file, "repository": build.repository, "commit": build.commit[:12]}
