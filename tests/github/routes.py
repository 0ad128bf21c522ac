"""What the double answers: one function for each operation, after the caller's permission was looked at."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from tests.github.shapes import Shapes
from tests.github.world import APP_ID, INSTALLATION_ID, Account, Check, Comment, Pull, World

MOST_FILES, MOST_DIFF = 3000, 20_000


@dataclass(frozen=True)
class Ask:
    """A request behind /repos/{owner}/{repo}; `path` is unquoted."""

    method: str
    path: str
    query: dict[str, str]
    body: dict[str, Any]
    accept: str
    who: Account


@dataclass(frozen=True)
class Say:
    """An answer; JSON unless `raw`."""

    status: int
    value: Any = None
    raw: bytes | None = None
    headers: dict[str, str] = field(default_factory=dict)


def no(status: int, message: str, **more: Any) -> Say:
    return Say(status, {"message": message, "documentation_url": "https://docs.github.com/rest", **more})


MISSING = no(404, "Not Found")
Route = Callable[..., Say]


class Routes:
    """`storage` is the address of the other host that keeps artifacts."""

    def __init__(self, world: World, shapes: Shapes, storage: str) -> None:
        self.world, self.shapes, self.storage = world, shapes, storage
        table: list[tuple[str, str, str, Route]] = [
            ("GET", "", "contents:read", self.repository),
            ("GET", "/pulls", "pulls:read", self.pulls),
            ("GET", r"/pulls/(\d+)", "pulls:read", self.pull),
            ("GET", r"/pulls/(\d+)/files", "pulls:read", self.files),
            ("GET", r"/compare/(.+)\.\.\.(.+)", "contents:read", self.compare),
            ("GET", "/actions/runs", "actions:read", self.runs),
            ("GET", r"/actions/runs/(\d+)/artifacts", "actions:read", self.artifacts),
            ("GET", r"/actions/artifacts/(\d+)/zip", "actions:read", self.zip),
            ("GET", r"/issues/(\d+)/comments", "pulls:read", self.comments),
            ("POST", r"/issues/(\d+)/comments", "pulls:write", self.comment),
            ("PATCH", r"/issues/comments/(\d+)", "pulls:write", self.edit),
            ("GET", "/commits/([^/]+)/check-runs", "checks:write", self.checks),
            ("POST", "/check-runs", "checks:write", self.check),
            ("PATCH", r"/check-runs/(\d+)", "checks:write", self.recheck),
            ("POST", "/statuses/([^/]+)", "statuses:write", self.status),
        ]
        self._table = [(method, re.compile(path), needs, call) for method, path, needs, call in table]

    def answer(self, ask: Ask) -> Say:
        """The answer to a request on the repository."""
        if not ask.who.may:
            return MISSING  # GitHub does not say that it is there
        for method, path, needs, call in self._table:
            match = path.fullmatch(ask.path)
            if match is None or method != ask.method:
                continue
            if needs not in ask.who.may:
                kind = "integration" if ask.who.is_app else "personal access token"
                return no(403, f"Resource not accessible by {kind}")
            if "check" in ask.path and not ask.who.is_app and method != "GET":
                return no(403, "You must authenticate via a GitHub App.")
            return call(ask, *match.groups())
        return MISSING

    def repository(self, ask: Ask) -> Say:
        return Say(200, self.shapes.full_repository())

    def pulls(self, ask: Ask) -> Say:
        state = ask.query.get("state", "open")
        found = [pull for pull in self.world.pulls.values() if state in ("all", pull.state)]
        return _page(ask, sorted(found, key=lambda pull: -pull.number), lambda one: self.shapes.pull(one, simple=True))

    def pull(self, ask: Ask, number: str) -> Say:
        pull = self.world.pulls.get(int(number))
        if pull is None:
            return MISSING
        if "diff" not in ask.accept:
            return Say(200, self.shapes.pull(pull))
        head = self.world.head_of(pull)
        text = self.world.git.diff(self.world.git.merge_base(self.world.git.tip(pull.base), head), head)
        if text.count(b"\n") > MOST_DIFF:
            return no(406, f"Sorry, the diff exceeded the maximum number of lines ({MOST_DIFF})")
        return Say(200, raw=text, headers={"Content-Type": "application/vnd.github.diff; charset=utf-8"})

    def files(self, ask: Ask, number: str) -> Say:
        pull: Pull | None = self.world.pulls.get(int(number))
        if pull is None:
            return MISSING
        found = self.shapes.files(pull)[:MOST_FILES]
        return _page(ask, found, lambda one: self.shapes.judge.filled("diff-entry", one))

    def compare(self, ask: Ask, base: str, head: str) -> Say:
        git = self.world.git
        one, other = git.tip(base), git.tip(head)
        if not one or not other:
            return MISSING
        common = git.merge_base(one, other)
        if not common:
            return no(404, f"No common ancestor between {base} and {head}.")
        known = {"base_commit": {"sha": one}, "merge_base_commit": {"sha": common}, "status": "diverged"}
        return Say(200, self.shapes.judge.filled("commit-comparison", {**known, "commits": [], "files": []}))

    def runs(self, ask: Ask) -> Say:
        runs = [run for run in self.world.runs if run.head_sha == ask.query.get("head_sha", run.head_sha)]
        found = [run for run in runs if run.status == ask.query.get("status", run.status)]
        return _page(ask, found[::-1], self.shapes.run, key="workflow_runs")

    def artifacts(self, ask: Ask, run_id: str) -> Say:
        run = next((run for run in self.world.runs if run.id == int(run_id)), None)
        if run is None:
            return MISSING
        found = [kept for kept in run.artifacts if kept.name == ask.query.get("name", kept.name)]
        return _page(ask, found, self.shapes.artifact, key="artifacts")

    def zip(self, ask: Ask, artifact_id: str) -> Say:
        kept = next((kept for run in self.world.runs for kept in run.artifacts if kept.id == int(artifact_id)), None)
        if kept is None:
            return MISSING
        if kept.expired:
            return no(410, "Artifact has expired")
        return Say(302, raw=b"", headers={"Location": f"{self.storage}/kept/{kept.id}?sig=storage-signature"})

    def comments(self, ask: Ask, number: str) -> Say:
        found = [comment for comment in self.world.comments.values() if comment.number == int(number)]
        return _page(ask, found, self.shapes.comment) if int(number) in self.world.pulls else MISSING

    def comment(self, ask: Ask, number: str) -> Say:
        if int(number) not in self.world.pulls:
            return MISSING
        if len(ask.body["body"]) > 65_536:
            return _invalid("body is too long (maximum is 65536 characters)")
        return Say(201, self.shapes.comment(self.world.say(int(number), ask.who.login, ask.body["body"])))

    def edit(self, ask: Ask, comment_id: str) -> Say:
        comment: Comment | None = self.world.comments.get(int(comment_id))
        if comment is None:
            return MISSING
        comment.body = ask.body["body"]
        return Say(200, self.shapes.comment(comment))

    def checks(self, ask: Ask, ref: str) -> Say:
        sha = self.world.git.tip(ref)
        found = [check for check in self.world.checks.values() if check.head_sha == sha]
        found = [check for check in found if check.values["name"] == ask.query.get("check_name", check.values["name"])]
        return _page(ask, found[::-1], self.shapes.check, key="check_runs") if sha else _invalid("No commit found")

    def check(self, ask: Ask) -> Say:
        if not self.world.git.tip(ask.body["head_sha"]):
            return _invalid(f"No commit found for SHA: {ask.body['head_sha']}")
        check = Check(next(self.world.ids), APP_ID, ask.body["head_sha"], {})
        self.world.checks[check.id] = check
        return Say(201, self._changed(check, ask))

    def recheck(self, ask: Ask, check_id: str) -> Say:
        check = self.world.checks.get(int(check_id))
        return MISSING if check is None else Say(200, self._changed(check, ask))

    def status(self, ask: Ask, sha: str) -> Say:
        if not self.world.git.tip(sha):
            return _invalid(f"No commit found for SHA: {sha}")
        self.world.statuses.append({**ask.body, "sha": sha})
        return Say(201, self.shapes.judge.filled("status", {**ask.body, "creator": self.shapes.user(ask.who.login)}))

    def _changed(self, check: Check, ask: Ask) -> Any:
        """Annotations are added to those that are there; all else is replaced."""
        check.values |= ask.body
        check.annotations += ask.body.get("output", {}).get("annotations", [])
        return self.shapes.check(check)


def token(world: World, installation: str, body: dict[str, Any], shapes: Shapes) -> Say:
    """An installation token for the App, which has shown a good JWT."""
    if int(installation) != INSTALLATION_ID or not world.installed:
        return MISSING
    name = world.full_name.partition("/")[2]
    if body.get("repositories", [name]) != [name]:
        return _invalid("There is at least one repository that does not exist or is not accessible")
    text = world.token(f"{world.app_slug}[bot]", is_app=True)
    known = {"token": text, "expires_at": "2999-01-01T00:00:00Z", "permissions": {}}
    return Say(201, shapes.judge.filled("installation-token", known))


def split(path: str, world: World) -> str | None:
    """What follows the repository in a path, unquoted; None when it is another's."""
    prefix = f"/repos/{world.full_name}"
    rest = unquote(path)
    fits = rest.lower().startswith(prefix.lower()) and rest[len(prefix) :][:1] in ("", "/")
    return rest[len(prefix) :] if fits else None


def _invalid(message: str) -> Say:
    return no(422, "Validation Failed", errors=[message])


def _page(ask: Ask, found: list[Any], shape: Callable[[Any], Any], key: str = "") -> Say:
    size, page = min(int(ask.query.get("per_page", 30)), 100), int(ask.query.get("page", 1))
    shown = [shape(one) for one in found[(page - 1) * size : page * size]]
    more = page * size < len(found)
    headers = {"Link": f'<https://api.github.com/x?page={page + 1}>; rel="next"'} if more else {}
    return Say(200, {"total_count": len(found), key: shown} if key else shown, headers=headers)
