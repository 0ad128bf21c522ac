"""The SQL of one node in two builds, made comparable: the same names for the same tables, Jinja out of the way."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from catalog.diff import row_set
from catalog.diff.jinja import without_jinja
from catalog.diff.row_set import RowSetChange
from catalog.diff.same import same_tokens
from catalog.sources.manifest_types import Node

MOST = 500
"""So many nodes are parsed in one comparison, which takes some seconds; the rest is called unknown, and said so."""


@dataclass(frozen=True)
class CodePair:
    """`before` and `after` with the nodes of their manifests, of which the names of the tables they read are taken."""

    before: Node
    after: Node
    all_before: Mapping[str, Node]
    all_after: Mapping[str, Node]

    @property
    def is_sql(self) -> bool:
        return self.before.language == self.after.language == "sql"

    @property
    def compiled(self) -> tuple[str, str] | None:
        """The compiled SQL of both, the first with the names that the second reads; None where either has none."""
        before, after = self.before.compiled_code, self.after.compiled_code
        return (self._with_names_of_after(before), after) if before and after else None

    def same_text(self, dialect: str) -> bool:
        """Whether the compiled SQL is the same but for white space, comments and the names of tables."""
        if self.before.compiled_code == self.after.compiled_code:
            return True
        found = self.compiled
        return found is None or same_tokens(*found, dialect)

    def _with_names_of_after(self, sql: str) -> str:
        """dbt writes each relation's name into the compiled text exactly as the manifest holds it.

        All in one go, so that a new name which is the old one of another table is not replaced once more.
        """
        names = dict(self._names())
        if not names:
            return sql
        found = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
        return re.sub(rf"(?<!\w)(?:{found})(?!\w)", lambda match: names[match.group()], sql)

    def _names(self) -> Iterator[tuple[str, str]]:
        for key in {*self.before.depends_on, self.before.unique_id}:
            if key in self.all_before and key in self.all_after:
                before, after = self.all_before[key].relation_name, self.all_after[key].relation_name
                if before and after and before != after:
                    yield before, after


class Classifier:
    """Says what changes of code do to rows, for so many nodes as can be parsed in a few seconds."""

    def __init__(self, dialect: str) -> None:
        self.dialect, self.left, self.skipped = dialect, MOST, 0

    def row_set(self, pair: CodePair) -> tuple[RowSetChange, ...]:
        """What the change does to the rows; from raw text, and said so, where either build was not compiled."""
        if not pair.is_sql:
            return (row_set.unknown("the model is not SQL", basis="raw"),)
        compiled = pair.compiled
        if compiled is None and pair.before.raw_code == pair.after.raw_code:
            return (row_set.unknown("only a macro changed, and not both builds compiled the model", basis="raw"),)
        if not self._may_parse():
            return (row_set.unknown(f"more than {MOST} models changed, and this one was not looked at"),)
        if compiled is not None:
            return tuple(row_set.classify(*compiled, self.dialect))
        raw = without_jinja(pair.before.raw_code), without_jinja(pair.after.raw_code)
        return tuple(row_set.classify(*raw, self.dialect, basis="raw"))

    def compiled_differently(self, pair: CodePair) -> bool:
        """Whether equal text became different SQL; incremental models may at each run, and are left out."""
        if not pair.is_sql or pair.after.materialized == "incremental" or pair.same_text(self.dialect):
            return False
        compiled = pair.compiled
        return compiled is not None and not (self._may_parse() and row_set.same_query(*compiled, self.dialect))

    def notes(self) -> Iterator[str]:
        """That not all could be looked at."""
        if self.skipped:
            yield f"what the change does to rows was worked out for {MOST} models only; for the rest it reads unknown"

    def _may_parse(self) -> bool:
        self.left -= 1
        self.skipped += self.left < 0
        return self.left >= 0
