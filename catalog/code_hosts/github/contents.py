"""The repository itself: its name, and the common ancestor of two commits."""

from __future__ import annotations

from catalog.code_hosts.github.api import Api
from catalog.code_hosts.github.types import Repository
from foundation.errors import BadInput


def repository(api: Api) -> Repository:
    """The repository as GitHub calls it now."""
    one = api.get(api.repo(), f"repository {api.settings.full_name}")
    return Repository(
        full_name=one.text("full_name"),
        id=one.number("id"),
        default_branch=one.text("default_branch"),
        private=one.flag("private"),
    )


def merge_base(api: Api, base: str, head: str) -> str:
    """The commit that `base` and `head` have in common."""
    what = f"common ancestor of {_checked_ref(base)} and {_checked_ref(head)}"
    # One commit a page: the files of the comparison are not needed.
    one = api.get(api.repo("compare", f"{base}...{head}"), what, {"per_page": 1, "page": 2})
    return one.part("merge_base_commit").sha("sha")


def _checked_ref(ref: str) -> str:
    """A branch or commit id: what git itself allows, as far as an address is concerned."""
    if not ref or len(ref) > 300 or not ref.isprintable() or ".." in ref or " " in ref or ref.startswith(("-", "/")):
        raise BadInput(f"{ref[:80]!r} is not the name of a branch or commit.")
    return ref
