"""The words of the lints: what they are told of a model, its columns and its readers, and what they find."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Protocol

DANGEROUS = "dangerous"
LOOK = "look"
INFO = "info"
CERTAIN = "certain"
POSSIBLE = "possible"


@dataclass(frozen=True, slots=True)
class ColumnState:
    """A column of a model as its catalog or contract tells it; `nullable` is None where nobody does."""

    name: str
    type: str = ""
    nullable: bool | None = None


@dataclass(frozen=True, slots=True)
class ModelState:
    """One model on one side of a change.

    `sql` is the compiled SQL, or raw text with its Jinja out of the way; `dialect` is sqlglot's name. `raw` is the
    text of the model's own file, in which lines are counted; empty where `sql` is that text. `relation` is the name
    that it is built under. `columns` is None where they are not known: no column then counts as added or removed.
    """

    name: str
    sql: str
    dialect: str
    raw: str = ""
    relation: str = ""
    materialized: str = ""
    unique_key: tuple[str, ...] = ()
    strategy: str = ""
    full_refresh: bool = False
    columns: tuple[ColumnState, ...] | None = None


@dataclass(frozen=True, slots=True)
class ColumnFact:
    """What is known of one column of one relation; None and "" mean not known.

    `tested`: a dbt `not_null` test stands on it. `nullable`: the catalog's flag. `nulls` of `rows` were NULL when
    measured at `measured_at` (text, as the reader shall see it).
    """

    tested: bool = False
    nullable: bool | None = None
    nulls: int | None = None
    rows: int | None = None
    measured_at: str = ""
    type: str = ""


@dataclass(frozen=True, slots=True)
class KeyFact:
    """What is known of a set of columns of one relation as a key: a unique test, or keys with several rows, counted."""

    columns: tuple[str, ...]
    tested: bool = False
    duplicates: int | None = None
    measured_at: str = ""


@dataclass(frozen=True, slots=True)
class Reader:
    """Who reads the model: `kind` is model, sync, dashboard and so on; `mode` that of a sync (mirror, append, ...).

    `columns` are those it reads, None where that is not known.
    """

    name: str
    kind: str = "model"
    mode: str = ""
    columns: frozenset[str] | None = None

    @property
    def mirrors(self) -> bool:
        return self.mode.lower() == "mirror"


class Facts:
    """What is known of the columns and keys of relations, by name.

    `columns` is {(relation, column): ColumnFact}, `keys` {relation: KeyFacts}. Names are compared without case and
    quotes; a relation is found by its whole name, or by its last parts where only one known relation ends so.
    """

    def __init__(
        self,
        columns: dict[tuple[str, str], ColumnFact] | None = None,
        keys: dict[str, tuple[KeyFact, ...]] | None = None,
    ) -> None:
        self._columns = {(bare(table), bare(column)): fact for (table, column), fact in (columns or {}).items()}
        self._keys = {bare(table): found for table, found in (keys or {}).items()}
        self._with_columns = _by_last_part({table for table, _ in self._columns})
        self._with_keys = _by_last_part(self._keys)

    def column(self, relation: str, column: str) -> ColumnFact:
        """What is known of `relation.column`; an empty fact where nothing is."""
        return self._columns.get((_known(relation, self._with_columns), bare(column)), ColumnFact())

    def keys(self, relation: str) -> tuple[KeyFact, ...]:
        """What is known of the keys of `relation`."""
        return self._keys.get(_known(relation, self._with_keys), ())


def bare(name: str) -> str:
    """A name without case and quotes."""
    return "".join(letter for letter in name if letter not in '"`[]').lower()


def _by_last_part(tables: Collection[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for table in tables:
        found.setdefault(table.rpartition(".")[2], []).append(table)
    return found


def _known(relation: str, by_last_part: dict[str, list[str]]) -> str:
    wanted = bare(relation)
    among = by_last_part.get(wanted.rpartition(".")[2], [])
    if wanted in among:
        return wanted
    ends = [known for known in among if _ends(known, wanted) or _ends(wanted, known)]
    return ends[0] if len(ends) == 1 else wanted


def _ends(whole: str, part: str) -> bool:
    return whole.endswith("." + part)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a finding stands: the line, from 1, in the model's own text (None where it cannot be told), and the SQL."""

    line: int | None = None
    text: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a lint found.

    `severity` is dangerous, look or info. `certainty` is certain where a fact shows the damage, possible where
    nothing is known that rules it out. `evidence` are sentences, each with its source; `rewrite` is the SQL that
    `place.text` could be replaced by, None where its meaning is not clear.
    """

    rule: str
    severity: str
    place: Place
    sentence: str
    evidence: tuple[str, ...] = ()
    rewrite: str | None = None
    certainty: str = POSSIBLE


class Lint(Protocol):
    """What every lint is: `before` is None for a new model; it yields what the change brings, and never raises.

    What stood in `before` already and is unchanged is not found again.
    """

    def __call__(
        self, before: ModelState | None, after: ModelState, facts: Facts, readers: tuple[Reader, ...]
    ) -> Iterator[Finding]: ...
