"""Which commit between two builds changed a model's file, and the merge that brought it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath

from catalog.code_hosts import local_git
from catalog.code_hosts.local_git import CommitInfo
from catalog.models import Build
from foundation import connections
from foundation.canonical import timestamp
from foundation.errors import SpellbookError
from foundation.models import Connection


def commit_of(good: Build, bad: Build, path: str) -> dict[str, str]:
    """The newest commit after the good build that touched a file of the dbt project, as facts; {} when unknown.

    commit, subject, committed_at, commits (how many touched the file) and, where one brought it, merge, merge_subject,
    merged_at. No author: who that was is read in git, where the name can change.
    """
    row = _repository(bad)
    if row is None or not path or not good.commit or not bad.commit:
        return {}
    try:
        return _facts(row.params, good.commit, bad.commit, path)
    except SpellbookError:  # the repository is gone, or does not hold these commits: then it is not known
        return {}


def _repository(build: Build) -> Connection | None:
    if not build.repository:
        return connections.find("git", "code")
    return Connection.objects.filter(name=build.repository, kind="git", purpose="code").first()


def _facts(params: Mapping[str, object], good: str, bad: str, path: str) -> dict[str, str]:
    repo = str(params["path"])
    where = str(PurePosixPath(str(params.get("project_subdir") or ".")) / path)
    touched = local_git.commits_between(repo, good, bad, [where])
    changes = [one for one in touched if len(one.parents) < 2] or touched
    if not changes:
        return {}
    facts = {
        "commit": changes[0].sha,
        "subject": changes[0].subject,
        "committed_at": timestamp(changes[0].committed_at),
        "commits": str(len(changes)),
    }
    merge = _merge(repo, good, bad, changes[0].sha)
    if merge is None:
        return facts
    return facts | {
        "merge": merge.sha,
        "merge_subject": merge.subject,
        "merged_at": timestamp(merge.committed_at),
    }


def _merge(repo: str, good: str, bad: str, commit: str) -> CommitInfo | None:
    """The oldest merge between the builds that contains the commit."""
    merges = [one for one in local_git.commits_between(repo, good, bad) if len(one.parents) > 1 and one.sha != commit]
    return next((one for one in reversed(merges) if local_git.is_ancestor(repo, commit, one.sha)), None)
