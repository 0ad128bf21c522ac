"""A bare git repository that stands behind the double: commits, differences and merge bases are git's own."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

WHO = {
    "GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.org", "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.org", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1",
}  # fmt: skip
EMPTY = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"  # git's empty tree
STATUSES = {"A": "added", "M": "modified", "D": "removed", "R": "renamed", "C": "copied", "T": "changed"}


@dataclass(frozen=True)
class Changed:
    path: str
    status: str
    previous: str
    patch: str


class Bare:
    """`path` is the bare repository, made here."""

    def __init__(self, path: Path) -> None:
        self.path = path
        subprocess.run(["git", "init", "--quiet", "--bare", "-b", "main", str(path)], check=True)

    def git(self, *arguments: str, stdin: bytes = b"", index: str = "") -> bytes:
        extra = {"GIT_INDEX_FILE": str(self.path / index)} if index else {}
        command = ["git", "-c", "core.quotePath=false", *arguments]
        done = subprocess.run(
            command, cwd=self.path, input=stdin, capture_output=True, env={**os.environ, **WHO, **extra}, check=True
        )
        return done.stdout

    def word(self, *arguments: str, stdin: bytes = b"", index: str = "") -> str:
        return self.git(*arguments, stdin=stdin, index=index).decode().strip()

    def commit(self, ref: str, files: dict[str, str | bytes | None], *, parent: str = "", message: str = "m") -> str:
        """Put files onto the tip of `ref` (or onto `parent`); None removes one. Gives the new tip."""
        parent = parent or self.tip(ref)
        self.git("read-tree", parent or EMPTY, index="making")
        lines = []
        blobs: dict[bytes, str] = {}
        for path, content in files.items():
            if content is None:
                lines.append(f"0 {'0' * 40}\t{path}\0")
                continue
            data = content.encode() if isinstance(content, str) else content
            blobs[data] = blobs.get(data) or self.word("hash-object", "-w", "--stdin", stdin=data)
            lines.append(f"100644 {blobs[data]}\t{path}\0")
        self.git("update-index", "-z", "--index-info", stdin="".join(lines).encode(), index="making")
        tree = self.word("write-tree", index="making")
        sha = self.word("commit-tree", tree, *(["-p", parent] if parent else []), "-m", message)
        self.git("update-ref", ref, sha)
        return sha

    def tip(self, ref: str) -> str:
        """The commit of a ref, branch or id; "" when there is none."""
        for name in (ref, f"refs/heads/{ref}"):
            try:
                return self.word("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
            except subprocess.CalledProcessError:
                continue
        return ""

    def merge_base(self, one: str, other: str) -> str:
        try:
            return self.word("merge-base", one, other)
        except subprocess.CalledProcessError:
            return ""

    def diff(self, base: str, head: str) -> bytes:
        return self.git("diff", "-M", base, head)

    def changed(self, base: str, head: str) -> list[Changed]:
        """The files between two commits, with their hunks."""
        names = self.git("diff", "-M", "--name-status", "-z", base, head).decode().split("\0")[:-1]
        sections = f"\n{self.diff(base, head).decode('utf-8', 'replace')}".split("\ndiff --git ")[1:]
        found = []
        for section in sections:
            letter, path = names.pop(0)[0], names.pop(0)
            previous, path = (path, names.pop(0)) if letter in "RC" else ("", path)
            start = section.find("\n@@ ")
            patch = section[start + 1 :].rstrip("\n") if start >= 0 else ""
            found.append(Changed(path, STATUSES[letter], previous, patch))
        return found
