"""A git repository on this machine, read only: everything that other rooms call, in one place.

`repo` is the path of a repository (its work tree or a bare one); a commit is named by its whole id."""

from __future__ import annotations

from catalog.code_hosts.checkouts import apply_patch, checkout
from catalog.code_hosts.git_objects import (
    CommitInfo,
    Entry,
    commit_info,
    commits_between,
    contained,
    head,
    is_ancestor,
    ls_files,
    ls_tree,
    show,
)
from catalog.code_hosts.patches import unified_diff
from catalog.code_hosts.trees import patched_tree, tree_of

__all__ = [
    "CommitInfo",
    "Entry",
    "apply_patch",
    "checkout",
    "commit_info",
    "commits_between",
    "contained",
    "head",
    "is_ancestor",
    "ls_files",
    "ls_tree",
    "patched_tree",
    "show",
    "tree_of",
    "unified_diff",
]
