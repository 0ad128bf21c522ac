"""The words of a review: what is known beside the two manifests, and what is said of the change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from catalog.diff.row_set import RowSetChange
from catalog.lints.types import Facts, Finding

SAFE = "safe"
LOOK = "look"
DANGEROUS = "dangerous"
VERDICTS = (SAFE, LOOK, DANGEROUS)
"""From the best to the worst."""

People = Mapping[str, tuple[str, ...]]
"""Names by role: owner, operator, business_owner, on_call, tool_admin."""

Columns = frozenset[str] | None
"""Columns in lower case; None means all of them, or the rows themselves."""


@dataclass(frozen=True, slots=True)
class KnownReader:
    """A reader as somebody declared it. `reads` are names of tables or of other readers, as they were written: dbt's
    unique ids, names of relations, or short names.

    `mode` is one of `catalog.words.MODES` for a sync, "" otherwise. `columns` are those it reads, None where that is
    not known. `status` is standing or suggested. `source` says where it is declared, in words for a page. A reader of
    a restricted domain is `hidden`: its name is not shown, all else is.
    """

    name: str
    kind: str
    reads: tuple[str, ...]
    tool: str = ""
    mode: str = ""
    delete_rule: str = ""
    cron: str = ""
    zone: str = "UTC"
    triggered_by_api: bool = False
    lead_seconds: int = 0
    consequence: str = ""
    status: str = "standing"
    domain: str = ""
    people: People = field(default_factory=dict)
    columns: frozenset[str] | None = None
    source: str = ""
    hidden: bool = False


@dataclass(frozen=True, slots=True)
class KnownAsset:
    """What is known of a table besides what its manifest says. `reads` counts for tables that no manifest describes
    (another project's models, views of the warehouse): names of what they are made of."""

    name: str
    kind: str = "table"
    unique_id: str = ""
    domain: str = ""
    people: People = field(default_factory=dict)
    reads: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class KnownDomain:
    """A domain and who approves changes in it; `approvers` are names."""

    key: str
    name: str
    owner: str = ""
    approvers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Knowledge:
    """All that is known beside the two manifests.

    `sources` are what the readers come from, in words: "dbt exposures", "spellbook.yml", "facts of https://..., taken
    2026-09-28 16:20 UTC". Empty: readers are not known, which is said, and is never "none". `facts` are those of
    columns and keys. `problems` are sentences on what could not be used.
    """

    readers: tuple[KnownReader, ...] = ()
    assets: tuple[KnownAsset, ...] = ()
    domains: tuple[KnownDomain, ...] = ()
    facts: Facts = field(default_factory=Facts)
    sources: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rule:
    """A team's own rule: a change that touches `asset` (by any of its names) has to be acknowledged, for `reason`."""

    asset: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Policy:
    """What a team demands of changes beside what follows from them."""

    rules: tuple[Rule, ...] = ()


@dataclass(frozen=True, slots=True)
class Reached:
    """A reader that a change reaches, by time to damage.

    `through` are the names on one shortest way from the changed node to it, without both ends. `next_read` and
    `last_useful_minute` are None where they are not known. `columns` are those changed columns that it reads, None
    where that is not known. `certain` is False where only a name that could mean several tables leads there.
    """

    name: str
    kind: str
    hops: int
    through: tuple[str, ...] = ()
    tool: str = ""
    mode: str = ""
    delete_rule: str = ""
    next_read: datetime | None = None
    last_useful_minute: datetime | None = None
    zone: str = "UTC"
    triggered_by_api: bool = False
    consequence: str = ""
    status: str = "standing"
    people: People = field(default_factory=dict)
    columns: tuple[str, ...] | None = None
    source: str = ""
    hidden: bool = False
    certain: bool = True


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody to ask, and why: "approves changes in Growth", "owns fct_orders", "operates the sync ..."."""

    name: str
    why: str


@dataclass(frozen=True, slots=True)
class Check:
    """A check that would see the damage: a dbt test or one of ours. `yaml` is what to write into the model's
    properties, "" where it is no dbt test."""

    kind: str
    table: str
    columns: tuple[str, ...] = ()
    sentence: str = ""
    yaml: str = ""


@dataclass(frozen=True, slots=True)
class Change:
    """One entry of the difference, with all that follows from it.

    `action` is modified, added, removed or renamed (`was`: the unique id before). `path` is the file in the
    repository, from the project's root, "" where there is none. `kinds` are those of `catalog.diff`. `direction` is
    what all of `row_set` together do. `only_columns` are the columns that the change is confined to, lower case, None
    when it may concern rows or all columns; then `readers` and `reached` are those that use one of them.

    `reached` counts what is downstream, by kind; `nearest` are the names of the first of them. Reasons say why the
    verdict is what it is, the gravest first; a safe change has one that says why it is safe.
    """

    unique_id: str
    name: str
    resource_type: str
    action: str
    verdict: str
    reasons: tuple[str, ...]
    path: str = ""
    was: str = ""
    kinds: tuple[str, ...] = ()
    row_set: tuple[RowSetChange, ...] = ()
    direction: str = ""
    findings: tuple[Finding, ...] = ()
    only_columns: frozenset[str] | None = None
    reached: Mapping[str, int] = field(default_factory=dict)
    nearest: tuple[str, ...] = ()
    readers: tuple[Reached, ...] = ()
    people: tuple[Person, ...] = ()
    checks: tuple[Check, ...] = ()


@dataclass(frozen=True, slots=True)
class Review:
    """What is said of a change. `changes` come the gravest first, then by time to damage, then by name.

    `readers` are all that any change reaches, once each, by time to damage. `readers_known` is False when nothing told
    of readers. `required` are the team's rules that the change touches, in sentences. `notes` are what could not be
    told, `sources` what the readers come from. `compared` says what was compared with what, in a sentence.
    """

    verdict: str
    reasons: tuple[str, ...]
    changes: tuple[Change, ...]
    readers: tuple[Reached, ...] = ()
    readers_known: bool = False
    required: tuple[str, ...] = ()
    people: tuple[Person, ...] = ()
    notes: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    compared: str = ""
    at: datetime | None = None


def worst(verdicts: tuple[str, ...] | list[str]) -> str:
    """The gravest of some verdicts; safe when there are none."""
    return max(verdicts, key=VERDICTS.index, default=SAFE)
