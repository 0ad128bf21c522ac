"""What GitHub says, as plain values. Texts are those of others: whoever shows them escapes them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

CheckStatus = Literal["queued", "in_progress", "completed"]
Conclusion = Literal["success", "neutral", "failure", "action_required", "cancelled", "skipped", "timed_out"]
Level = Literal["notice", "warning", "failure"]
StatusState = Literal["pending", "success", "failure", "error"]


@dataclass(frozen=True, slots=True)
class Repository:
    """`full_name` is what GitHub calls it now, which differs from the connection's after a renaming."""

    full_name: str
    id: int
    default_branch: str
    private: bool


@dataclass(frozen=True, slots=True)
class PullRequest:
    """`state` is open or closed. `head_repository` is "" when the fork was deleted; then `from_fork` is True.

    `base_sha` is the tip of the base branch when GitHub last looked, not the merge base.
    """

    number: int
    title: str
    state: str
    merged: bool
    base_sha: str
    base_ref: str
    head_sha: str
    head_ref: str
    head_repository: str
    from_fork: bool
    author: str
    url: str


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """`status` is added, removed, modified, renamed, copied, changed or unchanged. `previous_path` is "" unless it was
    renamed or copied."""

    path: str
    status: str
    previous_path: str


@dataclass(frozen=True, slots=True)
class ChangedFiles:
    """The files of a pull request. `truncated`: there are more than GitHub lists (3,000)."""

    files: tuple[ChangedFile, ...]
    truncated: bool

    def __iter__(self) -> Iterator[ChangedFile]:
        return iter(self.files)

    def __len__(self) -> int:
        return len(self.files)


@dataclass(frozen=True, slots=True)
class Artifact:
    """A file kept by a completed workflow run; `size` is that of the zip."""

    id: int
    name: str
    size: int
    expired: bool
    run_id: int
    created_at: datetime | None


@dataclass(frozen=True, slots=True)
class Annotation:
    """A remark on one line of a file of the head commit: plain text, no markdown. `line` counts from 1, `level` is one
    of `Level`."""

    path: str
    line: int
    level: str
    title: str
    message: str
