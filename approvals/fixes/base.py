"""What a fix class is given and what it answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Protocol

from catalog.code_hosts import local_git
from catalog.models import Asset
from catalog.sources.manifest import Manifest, Node
from foundation.errors import BadInput, NotFound
from incidents.models import Cause, Incident


@dataclass(frozen=True)
class Code:
    """The declared branch of the repository, at the commit that a fix is drafted against."""

    connection: str
    path: str
    branch: str
    base: str
    subdir: str

    def read(self, path: str, commit: str = "") -> str | None:
        """A file of the tree (of `commit`, else of the base) as text; None when it is not there or not UTF-8."""
        try:
            return local_git.show(self.path, commit or self.base, path).decode()
        except (NotFound, BadInput, UnicodeDecodeError):
            return None

    def project_path(self, path: str) -> str:
        """A path of the dbt project as a path of the repository."""
        return str(PurePosixPath(self.subdir) / path) if self.subdir else path


@dataclass(frozen=True)
class Case:
    """One incident whose cause, a change of code in `asset`, is established, and the code it may be fixed in."""

    incident: Incident
    cause: Cause
    asset: Asset
    base: Manifest
    head: Manifest
    code: Code

    @property
    def node(self) -> Node | None:
        """The model that the cause names, as the first bad build saw it."""
        return self.head.nodes.get(str(self.cause.facts.get("unique_id")))

    def number(self, *names: str) -> int | None:
        """The first of these counts of the proof that was measured, or None."""
        proof = self.cause.facts.get("proof", {})
        return next((int(proof[name]) for name in names if proof.get(name) not in (None, "")), None)


@dataclass(frozen=True)
class Claimed:
    """One assertion of a draft."""

    kind: str
    asset: Asset
    params: Mapping[str, str]
    sentence: str


@dataclass(frozen=True)
class FixDraft:
    """Files before and after, what must be true afterwards, and the models (dbt's unique ids) that change."""

    step_class: str
    title: str
    before: Mapping[str, str]
    after: Mapping[str, str]
    undo: str
    changed: tuple[str, ...]
    assertions: tuple[Claimed, ...] = field(default=())


class Fix(Protocol):
    """A fix class: looks at a case and drafts a change, or says that it has none."""

    def __call__(self, case: Case) -> FixDraft | None: ...
