"""The tree that a patch would give, without a checkout: git's own apply on an index and objects of our own."""

from __future__ import annotations

import tempfile
from pathlib import Path

from catalog.code_hosts.git_objects import with_commit
from catalog.code_hosts.git_process import run
from foundation.errors import BadInput, Conflict


def tree_of(repo: Path | str, sha: str) -> str:
    """The id of a commit's tree: equal ids are equal files, names and modes."""
    path = with_commit(repo, sha)
    return run(path, "rev-parse", "--verify", f"{sha}^{{tree}}").stdout.decode().strip()


def patched_tree(repo: Path | str, sha: str, patch: str) -> str:
    """The id of the tree that the commit has with `patch` put onto it; nothing is written into the repository.

    Raises Conflict when it does not fit or is no patch; otherwise as `git_objects`."""
    path = with_commit(repo, sha)
    objects = run(path, "rev-parse", "--path-format=absolute", "--git-path", "objects").stdout.decode().strip()
    with tempfile.TemporaryDirectory(prefix="tree-") as folder:
        own = {
            "GIT_INDEX_FILE": f"{folder}/index",
            "GIT_OBJECT_DIRECTORY": folder,
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": objects,
        }
        run(path, "read-tree", sha, more=own)
        try:
            run(path, "apply", "--cached", "--whitespace=nowarn", "-", stdin=_bytes(patch), more=own)
        except BadInput as error:
            raise Conflict("the patch does not fit the files of this commit") from error
        return run(path, "write-tree", more=own).stdout.decode().strip()


def _bytes(patch: str) -> bytes:
    try:
        return patch.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raise Conflict("the patch holds half a character") from None
