"""One comment of ours on a pull request: found by a marker that only counts in comments of our own account."""

from __future__ import annotations

from catalog.code_hosts.github.api import Api
from catalog.code_hosts.github.fields import Fields
from catalog.code_hosts.github.limits import COMMENT
from foundation.errors import BadInput

MOST = 5000  # comments of one pull request that are looked through


def find_comment(api: Api, number: int, marker: str) -> int | None:
    """The id of our first comment with the marker, None when there is none.

    BadInput for an empty marker, and when it is not among 5,000 comments while there may be more.
    """
    if not marker:
        raise BadInput("The marker of a comment is empty.")
    what = f"comments of pull request {number} of {api.settings.full_name}"
    seen = 0
    account = ""
    for one in api.pages(api.repo("issues", number, "comments"), what, MOST):
        seen += 1
        if marker not in one.text("body", ""):
            continue
        account = account or our_account(api)
        if _author(one) == account:
            return one.number("id")
    if seen >= MOST:
        raise BadInput(f"Pull request {number} has {MOST} comments or more; ours was not among the first.")
    return None


def create_comment(api: Api, number: int, body: str) -> int:
    """The new comment's id."""
    what = f"comment on pull request {number} of {api.settings.full_name}"
    return api.write("POST", api.repo("issues", number, "comments"), what, {"body": _checked(body)}).number("id")


def update_comment(api: Api, comment_id: int, body: str) -> None:
    """Replace the text; NotFound when the comment was deleted."""
    what = f"comment {comment_id} of {api.settings.full_name}"
    api.write("PATCH", api.repo("issues", "comments", comment_id), what, {"body": _checked(body)})


def our_account(api: Api) -> str:
    """The login that our comments carry: the token's user, or `slug[bot]` of the App."""
    if api.credential.is_app:
        return f"{api.as_app('/app', 'the App itself').text('slug')}[bot]".lower()
    return api.get("/user", "the token's own account").text("login").lower()


def _author(comment: Fields) -> str:
    """GitHub gives no name for a deleted account. Nobody else's login can end in [bot]."""
    return comment.part("user").text("login").lower() if "user" in comment else ""


def _checked(body: str) -> str:
    if not body.strip():
        raise BadInput("A comment has a text.")
    if len(body) > COMMENT:
        raise BadInput(f"A comment has at most {COMMENT:,} characters on GitHub; this one has {len(body):,}.")
    return body
