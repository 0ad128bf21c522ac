"""Both sides of a changed node as the lints want them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from catalog.diff.code_pair import CodePair
from catalog.lints.types import ColumnState, ModelState
from catalog.review.facts import enforced
from catalog.sources.artifact import sequence, text
from catalog.sources.manifest_types import Manifest, Node
from catalog.sources.naming import dialect_of

LINTED = ("model", "snapshot", "seed")
_WITH_CODE = ("model", "snapshot")


@dataclass(frozen=True, slots=True)
class Sides:
    """A node before and after the change; `before` is None for a new one. `compiled`: dbt compiled the text."""

    before: ModelState | None
    after: ModelState
    compiled: bool


class States:
    """Makes the states of nodes of two manifests."""

    def __init__(self, base: Manifest, head: Manifest) -> None:
        self._before: Mapping[str, Node] = {**base.nodes, **base.others}
        self._after: Mapping[str, Node] = {**head.nodes, **head.others}
        self.dialect = dialect_of(head.adapter or base.adapter)

    def of(self, before: Node | None, after: Node, *, moved: bool) -> Sides | None:
        """Both sides of a node; None for one that the lints do not look at. `moved`: its relation is another one, and
        not only its target."""
        if after.resource_type not in LINTED:
            return None
        if before is None:
            sql, compiled = _text(after)
            return Sides(None, self._state(after, sql, compiled, after.relation_name or ""), compiled)
        pair = CodePair(before, after, self._before, self._after).compiled
        old, new = pair if pair is not None else (before.raw_code, after.raw_code)
        relation = after.relation_name or ""
        return Sides(
            self._state(before, old, pair is not None, (before.relation_name or "") if moved else relation),
            self._state(after, new, pair is not None, relation),
            pair is not None,
        )

    def _state(self, node: Node, sql: str, compiled: bool, relation: str) -> ModelState:
        config = node.config
        code = node.resource_type in _WITH_CODE and node.language == "sql"
        return ModelState(
            name=node.name,
            sql=sql if code else "",
            dialect=self.dialect,
            raw=node.raw_code if compiled and code else "",
            relation=relation,
            materialized="snapshot" if node.resource_type == "snapshot" else node.materialized,
            unique_key=_key(config.get("unique_key")),
            strategy=text(config.get("incremental_strategy")) or text(config.get("strategy")),
            full_refresh=config.get("full_refresh") is True,
            columns=_columns(node),
        )


def _text(node: Node) -> tuple[str, bool]:
    return (node.compiled_code, True) if node.compiled_code else (node.raw_code, False)


def _key(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,) if value else ()
    return tuple(text(item) for item in sequence(value) if text(item))


def _columns(node: Node) -> tuple[ColumnState, ...] | None:
    """The columns of an enforced contract, which are all that the model has; None where there is none."""
    if not enforced(node) or not node.columns:
        return None
    return tuple(
        ColumnState(column.name, column.data_type or "", False if "not_null" in column.constraints else None)
        for column in node.columns
    )
