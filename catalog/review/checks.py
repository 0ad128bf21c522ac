"""Checks that would see the damage of a change; none that stands already, and none that would fail at once."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from sqlglot import exp

from catalog.diff.joins import join_keys
from catalog.diff.row_set_types import CAN_MULTIPLY, CAN_ONLY_DROP
from catalog.lints import fan_out, null_rows
from catalog.lints.known import held
from catalog.lints.query import Query, read, short
from catalog.lints.types import Finding, ModelState, bare
from catalog.review.estate.estate import Estate
from catalog.review.facts import KnownFacts, stands, unique_columns
from catalog.review.types import Check
from catalog.sources.artifact import text
from catalog.sources.manifest_types import Manifest, Node

_PLAIN = re.compile(r"[A-Za-z_]\w*\Z")
_TESTS_SINCE = (1, 8)
"""Since this version of dbt the tests of data stand under `data_tests`."""
MOST = 10


class Checks:
    """Suggests checks for the findings of one review."""

    def __init__(self, estate: Estate, facts: KnownFacts, head: Manifest) -> None:
        self._estate, self._facts = estate, facts
        self._word = "data_tests" if _version(head.dbt_version) >= _TESTS_SINCE else "tests"
        self._never_null = {(test.attached, bare(test.column)) for test in head.tests
                            if test.name == "not_null" and test.column and stands(test)}  # fmt: skip
        self._unique = {(test.attached, frozenset(map(bare, unique_columns(test)))) for test in head.tests
                        if unique_columns(test) and stands(test)}  # fmt: skip

    def of(
        self, name: str, after: ModelState | None, findings: tuple[Finding, ...], direction: str
    ) -> tuple[Check, ...]:
        """The checks that fit the findings in the model `name`, and the direction of its rows."""
        found: dict[tuple[str, str, tuple[str, ...]], Check] = {}
        for check in [*self._of_findings(after, findings), *_of_rows(name, direction)]:
            found.setdefault((check.kind, check.table, check.columns), check)
        return tuple(found.values())[:MOST]

    def _of_findings(self, after: ModelState | None, findings: tuple[Finding, ...]) -> Iterator[Check]:
        nulls = {one.place.text for one in findings if one.rule == null_rows.RULE}
        joins = {one.place.text for one in findings if one.rule == fan_out.RULE}
        query = read(after) if after is not None and (nulls or joins) else None
        if query is None:
            return
        for _, select in query.all:
            for part in query.filters(select):
                if query.sql(part) in nulls:
                    yield from self._never_null_of(query, part)
            for join in select.args.get("joins") or ():
                if short(query.sql(join)) in joins:
                    yield from self._unique_of(query, join)

    def _never_null_of(self, query: Query, part: exp.Expr) -> Iterator[Check]:
        for column in part.find_all(exp.Column):
            place = held(query, column)
            node = self._node(place.relation)
            if node is None or place.unmatched or (node.unique_id, bare(place.column)) in self._never_null:
                continue
            # Where there are some it would fail at once.
            if not self._facts.column(place.relation, place.column).nulls:
                sentence = f"{place.column} of {node.name} is never NULL"
                yield Check(
                    "not_null", node.name, (place.column,), sentence, self._yaml(node, place.column, "not_null")
                )

    def _unique_of(self, query: Query, join: exp.Join) -> Iterator[Check]:
        keys, table = join_keys(join), join.this
        if not isinstance(table, exp.Table) or not keys:
            return
        named = table.copy()
        named.set("alias", None)
        node, relation = self._node(query.sql(named)), query.sql(named)
        if node is None or (node.unique_id, frozenset(map(bare, keys))) in self._unique:
            return
        if any(fact.duplicates and set(map(bare, fact.columns)) >= set(map(bare, keys))
               for fact in self._facts.keys(relation)):  # fmt: skip
            return
        sentence = f"({', '.join(keys)}) of {node.name} is unique"
        yaml = self._yaml(node, keys[0], "unique") if len(keys) == 1 else ""
        yield Check("unique", node.name, tuple(keys), sentence, yaml)

    def _node(self, relation: str) -> Node | None:
        places, certain = self._estate.names.find(relation) if relation else ((), False)
        node = self._estate.vertices[places[0]].node if certain else None
        return node if node is not None and not node.external else None

    def _yaml(self, node: Node, column: str, test: str) -> str:
        deep = f"columns:\n  - name: {_quoted(column)}\n    {self._word}:\n      - {test}"
        if node.resource_type == "source":
            table = f"- name: {_quoted(node.name)}\n" + _indented(deep, 2)
            source = text(node.raw.get("source_name"))
            return f"sources:\n  - name: {_quoted(source)}\n    tables:\n" + _indented(table, 6)
        section = {"seed": "seeds", "snapshot": "snapshots"}.get(node.resource_type, "models")
        return f"{section}:\n  - name: {_quoted(node.name)}\n" + _indented(deep, 4)


def _of_rows(name: str, direction: str) -> Iterator[Check]:
    words = {CAN_ONLY_DROP: "fewer rows", CAN_MULTIPLY: "more rows"}
    if direction in words:
        sentence = f"the number of rows of {name} stays within its own past: the change can give {words[direction]}"
        yield Check("row_count", name, (), sentence)


def _version(written: str) -> tuple[int, int]:
    found = re.match(r"(\d+)\.(\d+)", written)
    return (int(found[1]), int(found[2])) if found else _TESTS_SINCE


def _quoted(name: str) -> str:
    return name if _PLAIN.match(name) else json.dumps(name)


def _indented(block: str, by: int) -> str:
    return "\n".join(" " * by + line for line in block.split("\n"))
