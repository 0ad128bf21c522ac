"""What the double knows: who may do what, pull requests, comments, checks, workflow runs with their artifacts.

A test builds this world with the methods below; the routes read and change it. Commits, differences and merge bases
come from the bare repository.
"""

from __future__ import annotations

import io
import itertools
import secrets
import time
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.github.bare import Bare

APP_ID, INSTALLATION_ID, SLUG = 4711, 815, "spellbook-test"
ALL = frozenset({"contents:read", "pulls:read", "pulls:write", "actions:read", "checks:write", "statuses:write"})
KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
PEM = KEY.private_bytes(
    serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
).decode()
PUBLIC = KEY.public_key().public_bytes(
    serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
).decode()  # fmt: skip


@dataclass
class Account:
    """Who a token belongs to."""

    login: str
    may: frozenset[str]
    is_app: bool = False
    until: float = float("inf")


@dataclass
class Pull:
    number: int
    title: str
    base: str
    head_ref: str
    head_repository: str | None
    author: str
    state: str = "open"
    merged: bool = False
    draft: bool = False


@dataclass
class Comment:
    id: int
    number: int
    login: str
    body: str


@dataclass
class Check:
    id: int
    app_id: int
    head_sha: str
    values: dict[str, Any]
    annotations: list[dict[str, Any]] = field(default_factory=list)


@dataclass
class Kept:
    """An artifact; `blob` is what its storage gives out, None: the storage has it no longer."""

    id: int
    name: str
    blob: bytes | None
    expired: bool = False
    size: int | None = None


@dataclass
class Run:
    id: int
    head_sha: str
    event: str
    head_repository: str | None
    status: str = "completed"
    conclusion: str = "success"
    created_at: str = "2026-11-02T02:00:00Z"
    artifacts: list[Kept] = field(default_factory=list)


class World:
    """One repository, `full_name`, on one GitHub."""

    def __init__(self, folder: Path, full_name: str = "acme/shop.models") -> None:
        self.git = Bare(folder / "bare.git")
        self.full_name = full_name
        self.ids = itertools.count(1001)
        self.numbers = itertools.count(1)
        self.tokens: dict[str, Account] = {}
        self.installed = True
        self.app_slug = SLUG
        self.pulls: dict[int, Pull] = {}
        self.comments: dict[int, Comment] = {}
        self.checks: dict[int, Check] = {}
        self.statuses: list[dict[str, Any]] = []
        self.runs: list[Run] = []

    def token(self, login: str = "machine", may: frozenset[str] = ALL, *, is_app: bool = False) -> str:
        """A new token of an account, with these permissions on the repository (none: it does not see it)."""
        text = ("ghs_" if is_app else "github_pat_") + secrets.token_hex(18)
        self.tokens[text] = Account(login, may, is_app, time.time() + 3600 if is_app else float("inf"))
        return text

    def commit(self, branch: str, files: dict[str, str | bytes | None], *, parent: str = "") -> str:
        return self.git.commit(f"refs/heads/{branch}", files, parent=parent)

    def open_pull(
        self,
        files: dict[str, str | bytes | None],
        *,
        base: str = "main",
        head: str = "change",
        fork: str = "",
        title: str = "A change",
        author: str = "dev",
    ) -> Pull:
        """A pull request with these files changed, from a branch of ours or of the repository `fork`."""
        number = next(self.numbers)
        pull = Pull(number, title, base, head, fork or self.full_name, author)
        self.pulls[number] = pull
        if not fork:
            self.git.commit(f"refs/heads/{head}", {}, parent=self.git.tip(base))
        self.push_to(pull, files)
        return pull

    def push_to(self, pull: Pull, files: dict[str, str | bytes | None]) -> str:
        """One more commit on the pull request; gives its id."""
        ref = f"refs/pull/{pull.number}/head"
        sha = self.git.commit(ref, files, parent=self.git.tip(ref) or self.git.tip(pull.base))
        if pull.head_repository == self.full_name:
            self.git.git("update-ref", f"refs/heads/{pull.head_ref}", sha)
        return sha

    def head_of(self, pull: Pull) -> str:
        return self.git.tip(f"refs/pull/{pull.number}/head")

    def say(self, number: int, login: str, body: str) -> Comment:
        """Somebody's comment."""
        comment = Comment(next(self.ids), number, login, body)
        self.comments[comment.id] = comment
        return comment

    def run(self, head_sha: str, *, event: str = "pull_request", **more: Any) -> Run:
        """A workflow run; give `artifact` files with `keep`."""
        found = Run(next(self.ids), head_sha, event, more.pop("head_repository", self.full_name), **more)
        self.runs.append(found)
        return found

    def keep(self, run: Run, name: str, blob: bytes | None, **more: Any) -> Kept:
        """An artifact of a run."""
        kept = Kept(next(self.ids), name, blob, **more)
        run.artifacts.append(kept)
        return kept


def zipped(files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A zip of these files."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", method) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return target.getvalue()
