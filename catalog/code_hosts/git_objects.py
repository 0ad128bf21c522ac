"""Commits and files of a git repository on this machine, read only.

Objects are read with plumbing commands; attributes, filters, hooks and settings of the repository have no say.
`repo` is the path of the repository (its work tree or a bare one); a commit is named by its whole id.
Every function raises NotFound when repository, branch, commit or path is missing, BadInput for a name that
is none, Unavailable when git is missing or too slow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from catalog.code_hosts.git_process import SHA, checked_branch, checked_path, checked_sha, opened, run
from foundation.errors import BadInput, NotFound

FORMAT = "%H%x00%an%x00%ae%x00%aI%x00%cI%x00%s%x00%P"
LINK, SUBMODULE = "120000", "160000"


@dataclass(frozen=True)
class CommitInfo:
    """One commit; times are aware, `subject` is the message's first paragraph in one line."""

    sha: str
    author_name: str
    author_email: str
    authored_at: datetime
    committed_at: datetime
    subject: str
    parents: tuple[str, ...]


@dataclass(frozen=True)
class Entry:
    """One file of a tree: git's mode ("100644", "100755", "120000" a link, "160000" a submodule), object id, path."""

    mode: str
    object_id: str
    path: str


def head(repo: Path | str, branch: str) -> str:
    """The commit at the tip of a branch."""
    path, name = opened(repo), checked_branch(branch)
    done = run(path, "rev-parse", "--verify", "--quiet", f"refs/heads/{name}^{{commit}}", codes=(0, 1, 128))
    if done.returncode:
        raise NotFound(f"the repository {path.name} has no branch {name}")
    return done.stdout.decode().strip()


def ls_tree(repo: Path | str, sha: str) -> list[Entry]:
    """Every file, link and submodule of a commit's tree, in git's order."""
    path = with_commit(repo, sha)
    return list(_entries(run(path, "ls-tree", "-r", "-z", "--full-tree", sha).stdout))


def ls_files(repo: Path | str, sha: str) -> list[str]:
    """The paths of a commit's ordinary files; links and submodules are not files."""
    return [entry.path for entry in ls_tree(repo, sha) if entry.mode not in (LINK, SUBMODULE)]


def show(repo: Path | str, sha: str, path: str) -> bytes:
    """The bytes of one file as committed. BadInput for a symbolic link."""
    where, name = with_commit(repo, sha), checked_path(path)
    found = list(_entries(run(where, "ls-tree", "-z", "--full-tree", sha, "--", name).stdout))
    if len(found) != 1 or found[0].path != name or found[0].mode in ("040000", SUBMODULE):
        raise NotFound(f"the commit {sha[:12]} has no file {name}")
    if found[0].mode == LINK:
        raise BadInput(f"{name} is a symbolic link, not a file")
    return run(where, "cat-file", "blob", found[0].object_id).stdout


def is_ancestor(repo: Path | str, a: str, b: str) -> bool:
    """Whether commit `b` contains commit `a` (a commit contains itself)."""
    path = with_commit(repo, a, b)
    return run(path, "merge-base", "--is-ancestor", a, b, codes=(0, 1)).returncode == 0


def contained(repo: Path | str, shas: Sequence[str], tip: str) -> frozenset[str]:
    """Those of `shas` that the repository has and that the commit `tip` contains, with a few calls of git."""
    path = with_commit(repo, tip)
    wanted = [sha for sha in shas if SHA.fullmatch(sha)]
    asked = "".join(f"{sha}\n" for sha in wanted).encode()
    answers = run(path, "cat-file", "--batch-check=%(objectname) %(objecttype)", stdin=asked).stdout.decode()
    there = [sha for sha, line in zip(wanted, answers.splitlines(), strict=True) if line == f"{sha} commit"]
    if not there:
        return frozenset()
    outside = run(path, "rev-list", *there, f"^{tip}").stdout.decode().split()
    return frozenset(there) - frozenset(outside)


def commit_info(repo: Path | str, sha: str) -> CommitInfo:
    """Author, times, subject and parents of a commit."""
    return _commits(with_commit(repo, sha), "--no-walk", sha)[0]


def commits_between(repo: Path | str, a: str, b: str, paths: Sequence[str] = ()) -> list[CommitInfo]:
    """The commits that `b` contains and `a` does not, newest first; with `paths`, those that touched one of them."""
    path = with_commit(repo, a, b)
    return _commits(path, b, f"^{a}", "--", *(checked_path(name) for name in paths))


def with_commit(repo: Path | str, *shas: str) -> Path:
    """The path of a repository that has all these commits. Raises NotFound, BadInput for what is no id."""
    path = opened(repo)
    wanted = "".join(f"{checked_sha(sha)}\n" for sha in shas).encode()
    for line in run(path, "cat-file", "--batch-check=%(objectname) %(objecttype)", stdin=wanted).stdout.splitlines():
        sha, kind = line.decode().split(" ", 1)
        if kind != "commit":
            raise NotFound(f"the repository {path.name} has no commit {sha[:12]}")
    return path


def _entries(listing: bytes) -> Iterator[Entry]:
    for line in listing.split(b"\0")[:-1]:
        meta, _, path = line.partition(b"\t")
        mode, _, object_id = meta.decode().split()
        yield Entry(mode, object_id, path.decode("utf-8", "surrogateescape"))


def _commits(path: Path, *arguments: str) -> list[CommitInfo]:
    listing = run(path, "rev-list", f"--format={FORMAT}", *arguments).stdout
    lines = listing.decode("utf-8", "replace").split("\n")
    return [_commit(line) for line in lines if line and not line.startswith("commit ")]


def _commit(line: str) -> CommitInfo:
    sha, name, email, authored, committed, subject, parents = line.split("\0")
    times = datetime.fromisoformat(authored), datetime.fromisoformat(committed)
    return CommitInfo(sha, name, email, *times, subject, tuple(parents.split()))
