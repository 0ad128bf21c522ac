"""The SQL of one node in two builds, made comparable: the same names for the same tables, Jinja out of the way."""

from __future__ import annotations

from collections.abc import Mapping

from catalog.diff import row_set
from catalog.diff.jinja import without_jinja
from catalog.diff.row_set import RowSetChange
from catalog.sources.manifest_types import Node


class CodePair:
    """`before` and `after` with the nodes of their manifests, of which the names of the tables they read are taken."""

    def __init__(
        self, before: Node, after: Node, all_before: Mapping[str, Node], all_after: Mapping[str, Node], dialect: str
    ) -> None:
        self.before, self.after, self.dialect = before, after, dialect
        self.names = [
            (all_before[key].relation_name or "", all_after[key].relation_name or "")
            for key in {*before.depends_on, before.unique_id}
            if key in all_before and key in all_after
        ]

    def row_set(self) -> list[RowSetChange]:
        """What the change does to the rows; from raw text, and said so, where either build was not compiled."""
        if self.before.language != "sql" or self.after.language != "sql":
            return [row_set.unknown("the model is not SQL", basis="raw")]
        if self.before.compiled_code and self.after.compiled_code:
            return row_set.classify(
                self._with_names_of_after(self.before.compiled_code), self.after.compiled_code, self.dialect
            )
        raw = without_jinja(self.before.raw_code), without_jinja(self.after.raw_code)
        return row_set.classify(*raw, self.dialect, basis="raw")

    def compiled_differently(self) -> bool:
        """Whether equal text became different SQL; incremental models may at each run, and are left out."""
        before, after = self.before.compiled_code, self.after.compiled_code
        if not before or not after or self.after.materialized == "incremental" or self.after.language != "sql":
            return False
        renamed = self._with_names_of_after(before)
        return renamed.split() != after.split() and not row_set.same_query(renamed, after, self.dialect)

    def _with_names_of_after(self, sql: str) -> str:
        """dbt writes each relation's name into the compiled text exactly as the manifest holds it."""
        for before, after in sorted(self.names, key=lambda pair: -len(pair[0])):
            if before and after and before != after:
                sql = sql.replace(before, after)
        return sql
