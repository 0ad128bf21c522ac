"""What is known of columns and keys when a change is reviewed: measured or declared facts, under every name that a
table has, and the tests and contracts that stand before and after the change."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from catalog.lints.types import ColumnFact, Facts, KeyFact, bare
from catalog.review.estate.estate import Estate
from catalog.sources.artifact import mapping, sequence, text
from catalog.sources.manifest_types import Manifest, Node, TestNode

_WEAK = ("where", "limit")
_DEFAULTS = {"error_if": "!=0", "fail_calc": "count(*)"}
UNIQUE_TOGETHER = "unique_combination_of_columns"


class KnownFacts(Facts):
    """The facts of `Knowledge` found by any name of a table, joined with what stands in both manifests.

    A test counts when it is enabled, stops the build (severity error), and looks at all rows. One that goes with the
    change no longer counts, whatever was known before. `changed` are the nodes whose query changes: what was measured
    or told of their columns is true of the old one, so that only the NULLs that were seen are still believed.
    """

    def __init__(
        self, given: Facts, estate: Estate, base: Manifest, head: Manifest, changed: Collection[str] = ()
    ) -> None:
        super().__init__()
        self._given, self._estate, self._changed = given, estate, frozenset(changed)
        self.standing = tuple(_standing(base, head))
        self._tested: set[tuple[str, str]] = set()
        self._unique: dict[str, list[KeyFact]] = {}
        for test in self.standing:
            self._take(test)
        going = [test for test in base.tests if test.unique_id not in {one.unique_id for one in self.standing}]
        self._no_longer = {(test.attached or "", bare(test.column)) for test in going
                           if test.name == "not_null" and test.column}  # fmt: skip
        self._no_key = {(test.attached or "", frozenset(map(bare, unique_columns(test)))) for test in going}
        self._promised = dict(_promises(base, head))
        self._names: dict[str, tuple[list[str], str]] = {}

    def column(self, relation: str, column: str) -> ColumnFact:
        """What is known of `relation.column`."""
        names, key = self._named(relation)
        found = [fact for name in names if (fact := self._given.column(name, column)) != ColumnFact()]
        fact = self._still(found[0], key, bare(column)) if found else ColumnFact()
        promised = self._promised.get((key, bare(column)), ColumnFact())
        return replace(
            fact,
            tested=fact.tested or (key, bare(column)) in self._tested,
            nullable=promised.nullable if promised.nullable is not None else fact.nullable,
            type=fact.type or promised.type,
        )

    def keys(self, relation: str) -> tuple[KeyFact, ...]:
        """What is known of the keys of `relation`."""
        names, key = self._named(relation)
        found = next((facts for name in names if (facts := self._given.keys(name))), ())
        kept = (self._still_key(fact, key) for fact in found)
        return (*(fact for fact in kept if fact is not None), *self._unique.get(key, ()))

    def _still(self, fact: ColumnFact, key: str, column: str) -> ColumnFact:
        """What is true of a fact after the change."""
        if (key, column) in self._no_longer:
            fact = replace(fact, tested=False)
        return replace(fact, nullable=None, nulls=fact.nulls or None) if key in self._changed else fact

    def _still_key(self, fact: KeyFact, key: str) -> KeyFact | None:
        if (key, frozenset(map(bare, fact.columns))) in self._no_key:
            fact = replace(fact, tested=False)
        if key in self._changed:
            fact = replace(fact, duplicates=fact.duplicates or None)
        return fact if fact.tested or fact.duplicates is not None else None

    def _named(self, relation: str) -> tuple[list[str], str]:
        """All names of the one table that `relation` means, itself first, and its unique id ("" where not known)."""
        if relation not in self._names:
            places, certain = self._estate.names.find(relation)
            vertex = self._estate.vertices[places[0]] if certain else None
            names, key = [relation], ""
            if vertex is not None:
                names += [asset.name for asset in vertex.assets]
                names += self._estate.relations.get(places[0], ())
                key = vertex.node.unique_id if vertex.node is not None else ""
            self._names[relation] = list(dict.fromkeys(names)), key
        return self._names[relation]

    def _take(self, test: TestNode) -> None:
        table = test.attached or ""
        if test.name == "not_null" and not test.namespace and test.column:
            self._tested.add((table, bare(test.column)))
        elif (columns := unique_columns(test)) and table:
            self._unique.setdefault(table, []).append(KeyFact(columns, tested=True))


def unique_columns(test: TestNode) -> tuple[str, ...]:
    """The columns that a unique test asks to be a key together; none for another test."""
    if test.name == "unique" and not test.namespace and test.column:
        return (test.column,)
    if test.name == UNIQUE_TOGETHER:
        given = mapping(mapping(test.raw.get("test_metadata")).get("kwargs")).get("combination_of_columns")
        return tuple(text(item) for item in sequence(given) if text(item))
    return ()


def stands(test: TestNode) -> bool:
    """Whether a test stops a build for any row: enabled, of severity error, without a condition or another limit."""
    config = {key: value for key, value in test.config.items() if value is not None}
    if config.get("enabled") is False or test.severity != "error" or any(config.get(key) for key in _WEAK):
        return False
    return all("".join(str(config.get(key, usual)).split()) == usual for key, usual in _DEFAULTS.items())


def _standing(base: Manifest, head: Manifest) -> Iterator[TestNode]:
    before = {test.unique_id for test in base.tests if stands(test)}
    return (test for test in head.tests if test.unique_id in before and test.generic and stands(test))


def _promises(base: Manifest, head: Manifest) -> Iterator[tuple[tuple[str, str], ColumnFact]]:
    """What enforced contracts say on both sides: the type of each column, and that it is never NULL."""
    for key, after in head.nodes.items():
        before = base.nodes.get(key)
        if before is None or not (enforced(before) and enforced(after)):
            continue
        kept = set(_never_null(before))
        never = {name for name in _never_null(after) if name in kept}
        for column in after.columns:
            name = bare(column.name)
            yield (key, name), ColumnFact(nullable=False if name in never else None, type=column.data_type or "")


def enforced(node: Node) -> bool:
    """Whether dbt holds the model to the columns that its contract lists."""
    return bool(mapping(node.raw.get("contract")).get("enforced"))


def _never_null(node: Node) -> Iterable[str]:
    return (bare(column.name) for column in node.columns if "not_null" in column.constraints)
