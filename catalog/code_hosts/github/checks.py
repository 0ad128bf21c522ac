"""Check runs with their remarks on lines, and commit statuses, within GitHub's limits.

Limits as in https://docs.github.com/en/rest/checks/runs, those of texts in `limits.py`; 50 annotations a request. What
is longer is cut where it then says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, get_args

from catalog.code_hosts.git_process import checked_path
from catalog.code_hosts.github.answers import check_sha
from catalog.code_hosts.github.api import Api
from catalog.code_hosts.github.limits import DESCRIPTION, MESSAGE, SUMMARY, TITLE
from catalog.code_hosts.github.types import Annotation, CheckStatus, Conclusion, Level, StatusState
from foundation.errors import BadInput

BATCH = 50
MOST = 1000  # annotations of one check run
_CUT = "\n\n(The rest does not fit here.)"


@dataclass(frozen=True, slots=True)
class Report:
    """What a check run says; the conclusion is given exactly when the status is completed."""

    status: CheckStatus = "completed"
    conclusion: Conclusion | None = None
    title: str = ""
    summary: str = ""
    annotations: tuple[Annotation, ...] = ()
    details_url: str = ""


def find_check_run(api: Api, head_sha: str, name: str, external_id: str) -> int | None:
    """The newest of our own App's; None when there is none, or when we are no App."""
    if not api.credential.is_app:
        return None
    what = f"check runs of commit {check_sha(head_sha)[:12]}"
    app = api.as_app("/app", "the App itself").number("id")
    params: dict[str, str | int] = {"check_name": name, "app_id": app, "filter": "all"}
    runs = api.pages(api.repo("commits", head_sha, "check-runs"), what, MOST, params, key="check_runs")
    ours = [one for one in runs if "app" in one and one.part("app").number("id") == app]
    return max((one.number("id") for one in ours if one.text("external_id", "") == external_id), default=None)


def create_check_run(api: Api, head_sha: str, name: str, external_id: str, report: Report) -> int:
    """The new check run's id. Everything is checked before the first request."""
    if not name or len(name) > 100:
        raise BadInput("A check run's name has 1 to 100 characters.")
    head = {"name": name, "head_sha": check_sha(head_sha)}
    first, *rest = _bodies(report)
    what = f"check run on {api.settings.full_name}"
    body = {**head, **({"external_id": external_id} if external_id else {}), **first}
    check_run_id = api.write("POST", api.repo("check-runs"), what, body).number("id")
    _add(api, check_run_id, rest)
    return check_run_id


def update_check_run(api: Api, check_run_id: int, report: Report) -> None:
    """Change title, summary, status; annotations are added to those that are there."""
    _add(api, check_run_id, _bodies(report))


def set_status(api: Api, head_sha: str, state: StatusState, context: str, description: str, details_url: str) -> None:
    """A commit status under the name `context`."""
    _known(state, StatusState, "status")
    if not context or len(context) > 100:
        raise BadInput("A status has a context of 1 to 100 characters.")
    body = {"state": state, "context": context, "description": _short(description, DESCRIPTION)}
    if details_url:
        body["target_url"] = details_url
    api.write("POST", api.repo("statuses", check_sha(head_sha)), f"status on {api.settings.full_name}", body)


def _add(api: Api, check_run_id: int, bodies: list[dict[str, Any]]) -> None:
    what = f"check run {check_run_id} of {api.settings.full_name}"
    for body in bodies:
        api.write("PATCH", api.repo("check-runs", check_run_id), what, body)


def _bodies(report: Report) -> list[dict[str, Any]]:
    """One body for each fifty annotations, at least one; each holds the whole report, as GitHub asks of an update."""
    _known(report.status, CheckStatus, "check run's status")
    if (report.status == "completed") != (report.conclusion is not None):
        raise BadInput("A check run has a conclusion exactly when it is completed.")
    body: dict[str, Any] = {"status": report.status}
    if report.conclusion is not None:
        _known(report.conclusion, Conclusion, "check run's conclusion")
        body["conclusion"] = report.conclusion
    if report.details_url:
        body["details_url"] = report.details_url
    if not report.title:
        if report.summary or report.annotations:
            raise BadInput("A check run with a summary or annotations has a title.")
        return [body]
    placed = [(path, one) for one in report.annotations if (path := _path(one.path))]
    notes = [_annotation(path, one) for path, one in placed[:MOST]]
    said = _left(len(report.annotations) - len(placed), "annotations name no file of the repository")
    said += _left(len(placed) - len(notes), "more annotations do not fit here")
    output = {"title": _short(report.title, TITLE), "summary": _cut(report.summary, SUMMARY - len(said)) + said}
    fifties = [notes[start : start + BATCH] for start in range(0, len(notes), BATCH)] or [[]]
    return [{**body, "output": {**output, **({"annotations": fifty} if fifty else {})}} for fifty in fifties]


def _annotation(path: str, one: Annotation) -> dict[str, Any]:
    _known(one.level, Level, "annotation's level")
    if not 0 < one.line < 2**31:
        raise BadInput(f"The annotation on {path} names no line.")
    if not one.message.strip():
        raise BadInput(f"The annotation on {path}, line {one.line} has no message.")
    found: dict[str, Any] = {"path": path, "start_line": one.line, "end_line": one.line}
    found |= {"annotation_level": one.level, "message": _cut_bytes(one.message, MESSAGE)}
    return found | ({"title": _short(one.title, TITLE)} if one.title else {})


def _path(path: str) -> str:
    """The file's path as GitHub writes it; "" for none. Paths come from manifests: those of Windows have backslashes,
    and those of strangers lead anywhere, which must not keep a verdict from being said."""
    try:
        return checked_path(path.replace("\\", "/"))
    except BadInput:
        return ""


def _left(count: int, what: str) -> str:
    return f"\n\n({count:,} {what}.)" if count else ""


def _known(value: str, words: Any, what: str) -> None:
    if value not in get_args(words):
        raise BadInput(f"{value[:40]!r} is no {what}; it is one of {', '.join(get_args(words))}.")


def _short(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - len(_CUT)] + _CUT


def _cut_bytes(text: str, longest: int) -> str:
    data = text.encode("utf-8", "replace")
    if len(data) <= longest:
        return data.decode()
    return data[: longest - len(_CUT)].decode("utf-8", "ignore") + _CUT
