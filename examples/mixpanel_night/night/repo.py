"""The example's own git repository: the project on `main`, the merge of the evening, the merge of the approved repair.

Identities come from the environment of each git call; no configuration of this machine or its user is read or changed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent / "project"
ENGINEER = ("Analytics engineer", "analytics.engineer@example.com")
DBT_OWNER = ("dbt owner", "dbt.owner@example.com")

FACT = Path("models/marts/fct_account_events.sql")
FILTER = "where not a.is_internal\n"
BAD_BRANCH = "leave-out-test-accounts"


def git(repo: Path, *arguments: str, who: tuple[str, str] = DBT_OWNER, text: str | None = None) -> str:
    """What one git command printed. Raises `RuntimeError` with git's own first line when it fails."""
    name, email = who
    environment = {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(repo),
        "LC_ALL": "C",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_AUTHOR_NAME": name,
        "GIT_AUTHOR_EMAIL": email,
        "GIT_COMMITTER_NAME": name,
        "GIT_COMMITTER_EMAIL": email,
    }
    done = subprocess.run(
        ["git", "-c", "core.autocrlf=false", "-c", "commit.gpgsign=false", *arguments],
        cwd=repo,
        env=environment,
        input=text,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines() or ["no message"]
        raise RuntimeError(f"git {arguments[0]} failed: {said[0]}")
    return done.stdout.strip()


def head(repo: Path, ref: str = "main") -> str:
    """The commit that a branch points at."""
    return git(repo, "rev-parse", "--verify", f"{ref}^{{commit}}")


def create_repository(repo: Path, project: Path = PROJECT) -> str:
    """Makes a new repository at `repo` whose only commit is the project, on `main`; returns that commit.

    Raises `FileExistsError` when there is something at `repo` already.
    """
    ignore = shutil.ignore_patterns("target", "logs", ".user.yml", "__pycache__")
    shutil.copytree(project, repo, ignore=ignore)
    git(repo, "init", "--quiet", "--initial-branch=main")
    return commit_all(repo, "Models of the estate", who=ENGINEER)


def commit_all(repo: Path, message: str, *, who: tuple[str, str] = ENGINEER) -> str:
    """Commits everything in the working tree to the current branch; returns the commit."""
    git(repo, "add", "--all", who=who)
    git(repo, "commit", "--quiet", "--message", message, who=who)
    return head(repo, "HEAD")


def merge(repo: Path, branch: str, subject: str, *, who: tuple[str, str] = DBT_OWNER) -> str:
    """Merges a branch into `main` with a merge commit, removes the branch and returns the merge commit."""
    git(repo, "switch", "--quiet", "main")
    git(repo, "merge", "--quiet", "--no-ff", "--message", subject, branch, who=who)
    git(repo, "branch", "--quiet", "--delete", branch)
    return head(repo)


def propose_change(repo: Path, path: Path, before: str, after: str, *, branch: str, message: str) -> str:
    """Replaces `before`, which must occur once, in one file on a new branch and commits it there; the commit."""
    file = repo / path
    content = file.read_text(encoding="utf-8")
    if content.count(before) != 1:
        raise RuntimeError(f"{path} does not hold the text to change exactly once.")
    git(repo, "switch", "--quiet", "--create", branch)
    file.write_text(content.replace(before, after), encoding="utf-8")
    return commit_all(repo, message)


def merge_change(repo: Path, path: Path, before: str, after: str, *, branch: str, message: str, subject: str) -> str:
    """Proposes a change and merges it; the merge commit."""
    propose_change(repo, path, before, after, branch=branch, message=message)
    return merge(repo, branch, subject)


def propose_bad_change(repo: Path) -> str:
    """The branch of the evening: a filter that was meant for test accounts. Returns its commit; it is checked out."""
    last_line = "    on e.account_id = a.account_id\n"
    return propose_change(
        repo,
        FACT,
        last_line,
        last_line + FILTER,
        branch=BAD_BRANCH,
        message="Leave our own test accounts out of activation",
    )


def merge_bad_change(repo: Path) -> str:
    """The pull request of the evening is merged, proposed before if it was not yet. Returns the merge commit."""
    if not git(repo, "branch", "--list", BAD_BRANCH):
        propose_bad_change(repo)
    return merge(repo, BAD_BRANCH, f"Merge pull request #482 from {BAD_BRANCH}")


def apply_and_merge(
    repo: Path, patch_text: str, *, branch: str = "repair", subject: str = "Merge the approved repair"
) -> str:
    """What the dbt owner does with an approved plan: applies its diff on a branch and merges it; the merge commit.

    Raises `RuntimeError` when the diff does not apply to `main`; then nothing is changed.
    """
    git(repo, "switch", "--quiet", "main")
    git(repo, "apply", "--check", "-", text=patch_text)
    git(repo, "switch", "--quiet", "--create", branch)
    git(repo, "apply", "--index", "-", text=patch_text)
    commit_all(repo, "Apply the approved diff", who=DBT_OWNER)
    return merge(repo, branch, subject)


def revert_merge(repo: Path, commit: str) -> str:
    """The undo of a merge: a commit on `main` that takes it back; returns that commit."""
    git(repo, "switch", "--quiet", "main")
    git(repo, "revert", "--no-edit", "--mainline", "1", commit)
    return head(repo)
