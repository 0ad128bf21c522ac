"""One entry of the difference while it is looked at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from catalog.diff.row_set import RowSetChange
from catalog.lints.types import Finding
from catalog.review.estate.estate import Vertex
from catalog.review.states import Sides
from catalog.review.types import Reached
from catalog.sources.manifest_types import Node

MODIFIED, ADDED, REMOVED, RENAMED = "modified", "added", "removed", "renamed"
NEAREST = 10
CODE_KINDS = frozenset({"body", "macro", "compiled"})
"""Kinds of change that alter the query itself."""


@dataclass(slots=True)
class Case:
    """A node that changed: what it was (`before`) and is (`after`), and all that was found out of it.

    `still_read_by` are nodes of head that read what is gone, `direct` the readers that read the changed table itself,
    `reader_places` where all its readers stand.
    `moved`: a renamed table has another place in the warehouse. `config` are the keys of its configuration that
    changed. `followed` is False where the change was too large to be followed, `untold` are the models through which
    its columns could not be. `feeds_old`: a reader, or what was there before, is fed by it. `cosmetic`: only the form
    of the code changed; `doubt` says why that cannot be told.
    """

    unique_id: str
    action: str
    before: Node | None
    after: Node | None
    vertex: Vertex
    was: str = ""
    kinds: tuple[str, ...] = ()
    row_set: tuple[RowSetChange, ...] = ()
    direction: str = ""
    sides: Sides | None = None
    findings: tuple[Finding, ...] = ()
    only_columns: frozenset[str] | None = None
    reached: Mapping[str, int] = field(default_factory=dict)
    nearest: tuple[str, ...] = ()
    readers: tuple[Reached, ...] = ()
    direct: tuple[Reached, ...] = ()
    reader_places: frozenset[int] = frozenset()
    still_read_by: tuple[str, ...] = ()
    moved: bool = False
    feeds_old: bool = False
    config: tuple[str, ...] = ()
    followed: bool = True
    untold: tuple[str, ...] = ()
    cosmetic: bool = False
    doubt: str = ""

    @property
    def node(self) -> Node:
        """The node as it is, or as it was when it is gone."""
        node = self.after if self.after is not None else self.before
        if node is None:
            raise TypeError("a case has a node on one side at least")
        return node

    def reaches_nothing(self) -> None:
        """Forget what its table feeds, when no table is another one."""
        self.reached, self.nearest, self.readers, self.direct, self.reader_places = {}, (), (), (), frozenset()
