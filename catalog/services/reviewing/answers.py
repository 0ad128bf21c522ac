"""What a pull request is told: one comment and one check, made of what its row says. Pure but for the escaping."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from catalog.code_hosts.github.limits import COMMENT
from catalog.code_hosts.github.types import Annotation, CheckStatus, Conclusion, StatusState
from catalog.models import PullRequest, Review
from catalog.review.comment import escape
from catalog.review.comment.budget import size
from foundation import canonical

LONGEST: Final = COMMENT
CONCLUSIONS: Final[Mapping[str, Conclusion]] = {"safe": "success", "look": "neutral", "dangerous": "failure"}
STATUSES: Final[Mapping[str | None, StatusState]] = {"success": "success", "neutral": "success", "failure": "failure"}
NAMED: Final = 3
"""So many acknowledgements are shown whole; of the others it is said how many."""
TITLE: Final = 140
"""Characters that a list of checks shows of a title."""


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """Who acknowledged a review, when (in words), and why."""

    name: str
    at: str
    reason: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What stands at the host when all is posted. `comment` is "" where there is nothing to comment yet."""

    comment: str
    status: CheckStatus
    conclusion: Conclusion | None
    title: str
    summary: str
    annotations: tuple[Annotation, ...]

    @property
    def state(self) -> StatusState:
        """As a commit status, for a token that may write no check run: it knows no neutral end."""
        return STATUSES.get(self.conclusion, "pending")

    def digest(self, head_sha: str) -> str:
        """What `PullRequest.posted_digest` holds when it is posted."""
        return canonical.digest([head_sha, self.comment, self.conclusion or self.status, self.title, self.summary])

    def remarks(self, head_sha: str) -> str:
        """What `PullRequest.check_run_for` holds: another check run is made for another commit or other remarks."""
        said = [[one.path, one.line, one.level, one.title, one.message] for one in self.annotations]
        return canonical.digest([head_sha, said])


def marker(row: PullRequest) -> str:
    """What our comment on this pull request is found by."""
    return f"<!-- spellbook:review:{row.pk} -->"


def reviewed(row: PullRequest, review: Review, answered: bool, people: Sequence[Acknowledged]) -> Answer:
    """The answer for a review of the head; `answered` says that all that needs an acknowledgement has one."""
    lines = [_line(one) for one in people[:NAMED]]
    if people[NAMED:]:
        lines.append(f"> and {len(people) - NAMED:,} more")
    conclusion = CONCLUSIONS[review.verdict]
    title = f"{review.verdict.capitalize()}: {next(iter(review.document.get('reasons') or ()), 'no reason is told')}"
    if review.needs_answer:
        conclusion = "neutral" if answered else "failure"
        title = f"{'Acknowledged' if answered else 'To be acknowledged'}. {title}"
        if people and not answered:
            lines.append("Another domain still has to acknowledge it.")
    body = "\n\n".join([*lines, review.markdown])
    return Answer(
        comment=_comment(row, body),
        status="completed",
        conclusion=conclusion,
        title=_words(title),
        summary=body[: LONGEST - 1],
        annotations=tuple(Annotation(**one) for one in review.annotations),
    )


def waiting(row: PullRequest, link: str) -> Answer:
    """The answer while no manifest of the head is there."""
    said = f"Waiting for the manifest of {row.head_sha[:12]}"
    how = f"{said}: a workflow run leaves it as an artifact, or a job posts it. Nothing is known of this commit yet."
    return Answer(_older(row, how, link), "in_progress", None, said, how, ())


def failed(row: PullRequest, problem: str, link: str) -> Answer:
    """The answer when the head cannot be reviewed. It fails: what is not known is never safe."""
    text = escape.plain(problem, 500)
    said = f"{row.head_sha[:12]} is not reviewed"
    return Answer(_older(row, f"{said}: {text}", link), "completed", "failure", said, text, ())


def failing_with(answer: Answer, number: int) -> Answer:
    """The answer with a check that fails: pull request `number` is of the same commit and not acknowledged."""
    said = f"#{number}, of the same commit, has to be acknowledged first"
    summary = f"{said}.\n\n{answer.summary}"[: LONGEST - 1]
    return replace(answer, conclusion="failure", status="completed", title=said, summary=summary)


def _older(row: PullRequest, said: str, link: str) -> str:
    """What our comment says in place of an older review, which would be read as that of this head; "" without one."""
    if row.comment_id is None and row.review is None:
        return ""
    where = f" [The last review]({link})" if link else ""
    return _comment(row, f"**{said}**{where}")


def _comment(row: PullRequest, body: str) -> str:
    text = f"{marker(row)}\n{body}"
    over = size(text) - LONGEST
    return text if over <= 0 else text[: len(text) - over - 1] + "…"


def _words(text: str) -> str:
    """Plain words for a title, which no markdown is read in."""
    one_line = " ".join(escape.masked(escape.visible(text)).split())
    return one_line if len(one_line) <= TITLE else one_line[: TITLE - 1] + "…"


def _line(one: Acknowledged) -> str:
    return f"> **Acknowledged** by {escape.plain(one.name)}, {one.at}: {escape.plain(one.reason, 300)}"


def annotation_as_dict(one: Any) -> dict[str, Any]:
    """A remark as a review keeps it."""
    return {"path": one.path, "line": one.line, "level": one.level, "title": one.title, "message": one.message}
