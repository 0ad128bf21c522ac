"""A repository on GitHub, as far as a review of changes needs it.

Every method raises NotFound (there is no such thing, or this token may not see it), NotAllowed (401, 403, a host that
is not on SPELLBOOK_OUTBOUND_ALLOW), Unavailable (GitHub fails, is too slow, says something we cannot read), its kind
RateLimited (with `until`), and BadInput (what was given, an answer too large, or GitHub's 422 with its words). Reads
are tried again when GitHub stumbles; a write never is: after Unavailable it is not known whether it was done, so look
for it first (`find_comment`, `find_check_run`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from catalog.code_hosts.github import artifacts, checks, comments, contents, pulls
from catalog.code_hosts.github.api import Api
from catalog.code_hosts.github.auth import credential_of
from catalog.code_hosts.github.checks import Report
from catalog.code_hosts.github.connection import Settings, read_settings
from catalog.code_hosts.github.types import (
    Artifact,
    ChangedFiles,
    PullRequest,
    Repository,
    StatusState,
)
from foundation.models import Connection


@contextmanager
def open_github(connection: Connection) -> Iterator[GitHub]:
    """A client for one piece of work (`with open_github(connection) as github:`).

    Raises BadInput for a connection that is not one of GitHub's, Unavailable when its secret is not there. Nothing is
    sent before the first method is called.
    """
    settings = read_settings(connection)
    with Api(settings, credential_of(settings)) as api:
        yield GitHub(api, settings)


class GitHub:
    """One repository; made by `open_github`."""

    def __init__(self, api: Api, settings: Settings) -> None:
        self._api = api
        self.settings = settings

    @property
    def may_check(self) -> bool:
        """Whether check runs can be written: GitHub lets only Apps do so. With a token, use `set_status`."""
        return self._api.credential.is_app

    def repository(self) -> Repository:
        """The repository itself; the probe of a connection."""
        return contents.repository(self._api)

    def pull_request(self, number: int) -> PullRequest:
        """One pull request as it is now."""
        return pulls.pull_request(self._api, number)

    def open_pull_requests(self) -> list[PullRequest]:
        """All open ones, the newest first; BadInput when there are more than 1,000."""
        return pulls.open_pull_requests(self._api)

    def pull_requests_of(self, head_sha: str) -> list[PullRequest]:
        """The open ones whose head is exactly this commit, forks included (GitHub's events leave those out)."""
        return [one for one in self.open_pull_requests() if one.head_sha == head_sha]

    def changed_files(self, number: int) -> ChangedFiles:
        """The files that a pull request changes; GitHub lists 3,000 at most (`truncated`)."""
        return pulls.changed_files(self._api, number)

    def diff(self, number: int) -> str:
        """The whole difference as a unified diff; bytes that are not UTF-8 become U+FFFD. BadInput when it is larger
        than GitHub renders (20,000 lines)."""
        return pulls.diff(self._api, number)

    def merge_base(self, base: str, head: str) -> str:
        """The best common ancestor of two commits or branches; NotFound when they have none."""
        return contents.merge_base(self._api, base, head)

    def artifacts(self, head_sha: str, name: str = "") -> list[Artifact]:
        """What the newest 300 completed workflow runs of that commit kept, the newest first; only those called `name`,
        if given."""
        return artifacts.artifacts(self._api, head_sha, name)

    def artifact_file(self, artifact: Artifact, member: str, largest: int) -> bytes:
        """One file out of an artifact's zip, of at most `largest` bytes.

        `member` is its path in the zip, or the end of it when only one file ends so. NotFound when the artifact has
        expired or has no such file; BadInput when it is no zip, too large, or packed as a bomb is.
        """
        return artifacts.artifact_file(self._api, artifact, member, largest)

    def find_comment(self, number: int, marker: str) -> int | None:
        """The first comment of our own account that holds the marker; others that hold it do not count."""
        return comments.find_comment(self._api, number, marker)

    def create_comment(self, number: int, body: str) -> int:
        """The new comment's id; BadInput when the body is empty or longer than 65,536 characters."""
        return comments.create_comment(self._api, number, body)

    def update_comment(self, comment_id: int, body: str) -> None:
        """Replace a comment's text; NotFound when it was deleted."""
        comments.update_comment(self._api, comment_id, body)

    def find_check_run(self, head_sha: str, name: str, external_id: str) -> int | None:
        """The newest check run of our own App on that commit with that name and external id."""
        return checks.find_check_run(self._api, head_sha, name, external_id)

    def create_check_run(self, head_sha: str, report: Report, *, name: str, external_id: str = "") -> int:
        """The new check run's id.

        A summary over 65,535 characters is cut, and says so; annotations are sent in fifties. When a later fifty fails,
        the check run stands with its conclusion, and `find_check_run` finds it.
        """
        return checks.create_check_run(self._api, head_sha, name, external_id, report)

    def update_check_run(self, check_run_id: int, report: Report) -> None:
        """Change what a check run says; NotFound when there is none.

        GitHub adds annotations to those that are there: where they differ, create a new check run of the same name,
        which takes the old one's place.
        """
        checks.update_check_run(self._api, check_run_id, report)

    def set_status(
        self, head_sha: str, *, state: StatusState, context: str, description: str, details_url: str = ""
    ) -> None:
        """A commit status: what a token can set where only an App could write a check run. Branch protection can
        require its context. The description is cut to 140 characters."""
        checks.set_status(self._api, head_sha, state, context, description, details_url)
