"""The double's objects as GitHub shows them; what no reader of ours looks at is filled in from the description."""

from __future__ import annotations

from typing import Any

from tests.github.judge import Judge
from tests.github.world import APP_ID, Check, Comment, Kept, Pull, Run, World

REPOSITORY_ID = 99


class Shapes:
    """Everything in the world as JSON."""

    def __init__(self, world: World, judge: Judge) -> None:
        self.world = world
        self.judge = judge
        self._files: dict[tuple[str, str], list[dict[str, Any]]] = {}

    def user(self, login: str) -> dict[str, Any]:
        kind = "Bot" if login.endswith("[bot]") else "User"
        return {"login": login, "id": sum(login.encode()), "type": kind}

    def repository(self, full_name: str) -> dict[str, Any]:
        owner, _, name = full_name.partition("/")
        number = REPOSITORY_ID if full_name == self.world.full_name else sum(full_name.encode())
        return {
            "id": number, "name": name, "full_name": full_name, "owner": self.user(owner), "private": True,
            "default_branch": "main",
        }  # fmt: skip

    def full_repository(self) -> Any:
        return self.judge.filled("full-repository", self.repository(self.world.full_name))

    def pull(self, pull: Pull, *, simple: bool = False) -> Any:
        world = self.world
        head, base = world.head_of(pull), world.git.tip(pull.base)
        whole = self.repository(world.full_name)
        known = {
            "number": pull.number, "title": pull.title, "state": pull.state, "draft": pull.draft,
            "merged_at": "2026-11-02T03:00:00Z" if pull.merged else None, "user": self.user(pull.author),
            "html_url": f"https://github.com/{world.full_name}/pull/{pull.number}",
            "base": {"label": pull.base, "ref": pull.base, "sha": base, "user": whole["owner"], "repo": whole},
            "head": {
                "label": pull.head_ref, "ref": pull.head_ref, "sha": head, "user": self.user(pull.author),
                "repo": self.repository(pull.head_repository) if pull.head_repository else None,
            },
        }  # fmt: skip
        if simple:
            return self.judge.filled("pull-request-simple", known)
        count = len(self.files(pull))
        return self.judge.filled("pull-request", {**known, "merged": pull.merged, "changed_files": count})

    def files(self, pull: Pull) -> list[dict[str, Any]]:
        """All files; the route gives out 3,000 of them."""
        head = self.world.head_of(pull)
        base = self.world.git.merge_base(self.world.git.tip(pull.base), head)
        if (base, head) not in self._files:
            self._files[base, head] = self._changed(base, head)
        return self._files[base, head]

    def _changed(self, base: str, head: str) -> list[dict[str, Any]]:
        found = []
        for one in self.world.git.changed(base, head):
            known: dict[str, Any] = {"filename": one.path, "status": one.status, "sha": head}
            known |= {"patch": one.patch} if one.patch else {}
            known |= {"previous_filename": one.previous} if one.previous else {}
            found.append(known)
        return found

    def comment(self, comment: Comment) -> Any:
        known = {"id": comment.id, "body": comment.body, "user": self.user(comment.login) if comment.login else None}
        return self.judge.filled("issue-comment", known)

    def check(self, check: Check) -> Any:
        output = check.values.get("output", {})
        known = {
            "id": check.id, "head_sha": check.head_sha, "name": check.values["name"],
            "status": check.values.get("status", "queued"), "conclusion": check.values.get("conclusion"),
            "external_id": check.values.get("external_id", ""), "app": self.app(check.app_id),
            "output": {
                "title": output.get("title"), "summary": output.get("summary"), "text": None,
                "annotations_count": len(check.annotations),
            },
        }  # fmt: skip
        return self.judge.filled("check-run", known)

    def app(self, app_id: int = APP_ID) -> Any:
        slug = self.world.app_slug if app_id == APP_ID else "somebody-else"
        return self.judge.filled("integration", {"id": app_id, "slug": slug, "owner": self.user("acme")})

    def run(self, run: Run) -> Any:
        head = self.repository(run.head_repository) if run.head_repository else None
        known = {
            "id": run.id, "head_sha": run.head_sha, "event": run.event, "status": run.status,
            "conclusion": run.conclusion, "run_number": run.id, "run_attempt": 1, "created_at": run.created_at,
            "repository": self.repository(self.world.full_name), "head_repository": head,
        }  # fmt: skip
        return self.judge.filled("workflow-run", known) | {"head_repository": head and self._minimal(head)}

    def artifact(self, kept: Kept) -> Any:
        size = kept.size if kept.size is not None else len(kept.blob or b"")
        known = {"id": kept.id, "name": kept.name, "size_in_bytes": size, "expired": kept.expired}
        return self.judge.filled("artifact", {**known, "created_at": "2026-11-02T02:00:00Z"})

    def _minimal(self, known: dict[str, Any]) -> Any:
        return self.judge.filled("minimal-repository", known)
