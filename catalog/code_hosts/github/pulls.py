"""Pull requests: what they are, and which files they change."""

from __future__ import annotations

from catalog.code_hosts.github.api import Api
from catalog.code_hosts.github.fields import Fields
from catalog.code_hosts.github.types import ChangedFile, ChangedFiles, PullRequest
from foundation.errors import BadInput

MOST_OPEN = 1000
MOST_FILES = 3000  # what GitHub lists (https://docs.github.com/en/rest/pulls/pulls#list-pull-requests-files)


def pull_request(api: Api, number: int) -> PullRequest:
    """One pull request."""
    return _pull_request(_fetched(api, number))


def open_pull_requests(api: Api) -> list[PullRequest]:
    """All that are open, the newest first; BadInput when there are more than 1,000."""
    what = f"open pull requests of {api.settings.full_name}"
    params = {"state": "open", "sort": "created", "direction": "desc"}
    found = [_pull_request(one) for one in api.pages(api.repo("pulls"), what, MOST_OPEN + 1, params)]
    if len(found) > MOST_OPEN:
        raise BadInput(f"{api.settings.full_name} has more than {MOST_OPEN} open pull requests.")
    # A pull request opened meanwhile moves the pages, and one is listed twice.
    return list({one.number: one for one in found}.values())


def changed_files(api: Api, number: int) -> ChangedFiles:
    """The files, page by page; after 3,000 GitHub is asked how many there are."""
    what = f"files of pull request {_checked(number)} of {api.settings.full_name}"
    path = api.repo("pulls", number, "files")
    files = tuple(_changed_file(one) for one in api.pages(path, what, MOST_FILES))
    if len(files) < MOST_FILES:
        return ChangedFiles(files, truncated=False)
    return ChangedFiles(files, truncated=_fetched(api, number).number("changed_files") > len(files))


def diff(api: Api, number: int) -> str:
    """The unified diff. Bytes of other encodings become U+FFFD."""
    what = f"difference of pull request {_checked(number)} of {api.settings.full_name}"
    answer = api.read(api.repo("pulls", number), what, accept="application/vnd.github.diff")
    return answer.body.decode("utf-8", "replace")


def _fetched(api: Api, number: int) -> Fields:
    return api.get(api.repo("pulls", _checked(number)), f"pull request {number} of {api.settings.full_name}")


def _checked(number: int) -> int:
    if not 0 < number < 2**63:
        raise BadInput(f"{number} is not the number of a pull request.")
    return number


def _pull_request(one: Fields) -> PullRequest:
    base, head = one.part("base"), one.part("head")
    # GitHub forgets the repository of a deleted fork, and the account of a deleted person.
    head_repository = head.part("repo").text("full_name") if "repo" in head else ""
    return PullRequest(
        number=one.number("number"),
        title=one.text("title"),
        state=one.text("state"),
        merged="merged_at" in one,
        base_sha=base.sha("sha"),
        base_ref=base.text("ref"),
        head_sha=head.sha("sha"),
        head_ref=head.text("ref"),
        head_repository=head_repository,
        from_fork=head_repository.lower() != base.part("repo").text("full_name").lower(),
        author=one.part("user").text("login") if "user" in one else "",
        url=one.text("html_url"),
    )


def _changed_file(one: Fields) -> ChangedFile:
    return ChangedFile(
        path=one.text("filename"),
        status=one.text("status"),
        previous_path=one.text("previous_filename", ""),
    )
