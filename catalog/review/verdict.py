"""Why a change is dangerous, has to be looked at, or is safe: sentences, the gravest first. Unknown is never safe."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from catalog.diff.row_set_types import SAME_ROWS
from catalog.lints import fan_out, null_rows, outer_join
from catalog.lints.outputs import removed
from catalog.lints.types import DANGEROUS as GRAVE
from catalog.lints.types import INFO, Finding
from catalog.review.case import ADDED, CODE_KINDS, REMOVED, RENAMED, Case
from catalog.review.estate.names import joined
from catalog.review.estate.reached import is_grave, said
from catalog.review.safely import safely
from catalog.review.types import DANGEROUS, LOOK, SAFE, VERDICTS, Reached
from catalog.review.words import CHANGES, DIRECTIONS, ROW_SET, capital, counted
from catalog.review.words import said as in_words

LOSING = frozenset({null_rows.RULE, outer_join.RULE, fan_out.RULE})
"""Lints of lost or multiplied rows."""
WORDS_ALONE = frozenset({"description", "fqn", "access", "maturity", "url", "owner", "type", "label"})
"""Kinds of change that alter no table."""
WORDS_ALONE_CONFIG = frozenset({"meta", "tags", "docs", "description", "group", "access", "persist_docs"})
_HARM = {
    "mirror": "what is missing there is deleted in the tool as well",
    "activation": "what is sent cannot be called back",
}
_HARM_UNKNOWN = "what it does with them is not known, which counts as the worst"
_NO_TABLES = frozenset({"exposure", "unit_test", "analysis", "operation", "saved_query", "doc"})

Reason = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Context:
    """What is the same for all changes of a review."""

    at: datetime
    readers_known: bool


def reasons(case: Case, context: Context) -> list[Reason]:
    """(verdict, sentence) of each reason, the gravest first; at least one."""
    found = [*_of_what_is_gone(case, context), *_of_findings(case, context), *_of_lost_columns(case, context)]
    found += _of_new(case, context) if case.action == ADDED else _of_change(case, context)
    if any(one != SAFE for one, _ in found):
        found += _of_reach(case, context)
    if not found:
        found = [(SAFE, _why_safe(case))]
    grave = max((one for one, _ in found), key=VERDICTS.index)
    found = [one for one in found if one[0] != SAFE or grave == SAFE]
    return sorted(dict.fromkeys(found), key=lambda one: -VERDICTS.index(one[0]))


def _of_what_is_gone(case: Case, context: Context) -> Iterator[Reason]:
    name, was = case.node.name, case.was.rpartition(".")[2]
    if case.action not in (REMOVED, RENAMED):
        return
    if case.action == REMOVED and case.node.resource_type in _NO_TABLES:
        yield from _of_no_table(case)
        return
    words = f"{name} is removed" if case.action == REMOVED else f"{was} is now called {name}"
    if case.still_read_by:
        yield DANGEROUS, f"{words}, and {joined(case.still_read_by)} still read{_s(case.still_read_by)} it."
    if case.node.resource_type == "source" or (case.action == RENAMED and not case.moved):
        yield LOOK, f"{words}; the table in the warehouse is the same."
        return
    for reader in case.direct:
        gone = "is no longer built" if case.action == REMOVED else "is no longer built under its old name"
        yield DANGEROUS, f"{words}: the table that {said(reader)} reads {gone}."
    if not case.direct and not case.still_read_by:
        known = "no reader that is known reads it itself" if context.readers_known else "its readers are not known"
        yield LOOK, f"{words}; {known}."


def _of_no_table(case: Case) -> Iterator[Reason]:
    name, kind = case.node.name, case.node.resource_type
    if kind == "exposure":
        tables = joined(key.rpartition(".")[2] for key in case.node.depends_on) or "anything"
        yield LOOK, f"The exposure {name} is removed: nothing here says any more that it reads {tables}."
    elif kind == "unit_test":
        yield LOOK, f"The unit test {name} is removed. What it kept is no longer sure."
    else:
        yield SAFE, f"The {kind.replace('_', ' ')} {name} is removed; no table is built from it."


def _of_lost_columns(case: Case, context: Context) -> Iterator[Reason]:
    """Removed columns that a reader reads by name through tables that pass all columns on."""
    sides = case.sides
    nothing: list[str] = []
    names = safely(lambda: removed(sides.before, sides.after), nothing) if sides is not None else nothing
    gone = set(map(str.lower, names))
    for reader in case.readers if gone else ():
        lost = sorted(gone & set(reader.columns or ()))
        if lost and reader not in case.direct:
            through = f" through {joined(reader.through)}" if reader.through else ""
            read = f"{said(reader)} reads it{through}"
            yield DANGEROUS, f"The column {joined(lost)} of {case.node.name} is removed, and {read}."


def _of_findings(case: Case, context: Context) -> Iterator[Reason]:
    grave = [reader for reader in case.readers if is_grave(reader)]
    unread = case.action == ADDED and not case.feeds_old
    for finding in case.findings:
        if unread:
            if finding.severity == GRAVE:
                yield LOOK, f"{_sentence(finding, case)} Nothing that was there before reads {case.node.name}."
        elif finding.severity == GRAVE or (grave and _loses(finding, case)):
            yield DANGEROUS, _sentence(finding, case)
            yield from ((DANGEROUS, sentence) for sentence in _more(finding, case, grave))
        elif finding.severity != INFO or finding.rule in LOSING:
            yield LOOK, _sentence(finding, case)


def _more(finding: Finding, case: Case, grave: list[Reached]) -> Iterator[str]:
    if grave:
        harm = _HARM.get(grave[0].mode, _HARM_UNKNOWN)
        yield f"{case.node.name} feeds {said(grave[0])}: {harm}."
    if finding.rewrite:
        yield f"The NULL-safe form is {finding.rewrite}."


def _loses(finding: Finding, case: Case) -> bool:
    """Whether rows may be lost or repeated, for all that is known of the columns."""
    return finding.rule in LOSING and finding.severity != INFO and case.direction != SAME_ROWS


def _sentence(finding: Finding, case: Case) -> str:
    known = f" ({'; '.join(finding.evidence)})" if finding.evidence else ""
    return f"{case.node.name}: {finding.sentence.removesuffix('.')}{known}."


def _of_new(case: Case, context: Context) -> Iterator[Reason]:
    if case.direct:
        names = joined(said(one) for one in case.direct)
        yield LOOK, f"{case.node.name} is new, and is read by {names}."
    elif case.reached and sum(case.reached.values()):
        yield SAFE, f"{case.node.name} is new; what reads it is changed or new itself."


def _of_change(case: Case, context: Context) -> Iterator[Reason]:
    if case.node.resource_type == "analysis":  # nothing is built from it
        return
    if case.row_set:
        yield from _of_rows(case, context)
    for kind in _kinds(case):
        name, what = case.node.name, capital(in_words(CHANGES, kind))
        if kind in CODE_KINDS:
            yield LOOK, f"{what} changed in {name}: {case.doubt or 'no SQL is compared'}."
        elif kind == "relation":
            yield from _of_place(case, context)
        elif kind == "config" and case.config:
            yield LOOK, f"The configuration of {name} changed: {joined(case.config)}."
        else:
            yield LOOK, f"{what} changed: {name}."


def _kinds(case: Case) -> list[str]:
    """The kinds of change that may alter a table and that its rows do not tell of."""
    told = set(WORDS_ALONE)
    if case.config and set(case.config) <= WORDS_ALONE_CONFIG:
        told.add("config")
    if case.row_set or case.cosmetic:
        told |= CODE_KINDS
    return [kind for kind in case.kinds if kind not in told]


def _of_place(case: Case, context: Context) -> Iterator[Reason]:
    """Of a table that is built under another name: what reads the old one reads what nobody builds any more."""
    before, after = ((one.relation_name or "") if one is not None else "" for one in (case.before, case.after))
    words = f"{case.node.name} is built in another place or under another name" + (
        f" ({before} became {after})" if before != after else ""
    )
    yield LOOK, f"{words}."
    for reader in case.direct if before != after and case.node.resource_type != "source" else ():
        yield DANGEROUS, f"{words}: the table that {said(reader)} reads is no longer built."


def _of_rows(case: Case, context: Context) -> Iterator[Reason]:
    name = case.node.name
    kinds = list(dict.fromkeys(change.kind for change in case.row_set))
    what = joined([in_words(ROW_SET, kind) for kind in kinds], 3)
    basis = "" if all(change.basis == "compiled" for change in case.row_set) else " (told from text with Jinja)"
    notes = [change.note for change in case.row_set if change.kind == "unknown" and change.note]
    if case.direction != SAME_ROWS:
        why = f" ({notes[0]})" if notes else ""
        yield LOOK, f"{name}: {what}; {in_words(DIRECTIONS, case.direction)}{why}{basis}."
    elif set(kinds) == {"column_added"} and case.only_columns is not None and not case.untold and case.followed:
        new = joined(sorted(case.only_columns))
        if (case.reached and sum(case.reached.values())) or case.readers:
            yield LOOK, f"{name} has the new column {new}, which what reads all columns gets as well."
        else:
            verdict = SAFE if context.readers_known else LOOK
            yield verdict, f"{name} has the new column {new}, which nothing known reads; the rows are the same."
    else:
        columns = f" ({joined(sorted(case.only_columns))})" if case.only_columns else ""
        yield LOOK, f"{name}: {what}{columns}; the rows are the same{basis}."
    if case.doubt:
        yield LOOK, f"{name}: {case.doubt}."


def _of_reach(case: Case, context: Context) -> Iterator[Reason]:
    if not case.followed:
        yield LOOK, f"What {case.node.name} feeds is too much to be followed, so that its readers are not known."
    if case.readers:
        first = said(case.readers[0])
        more = f", and {counted(len(case.readers) - 1, 'more reader')}" if len(case.readers) > 1 else ""
        yield LOOK, f"It reaches {first}{more}."
    elif not context.readers_known:
        yield LOOK, f"The readers of {case.node.name} are not known: nothing told of readers."


def _why_safe(case: Case) -> str:
    name = case.node.name
    if case.action == ADDED:
        return f"{name} is new, and nothing that was there before reads it."
    if case.cosmetic:
        return f"Only the form of the code of {name} changed; the query is the same."
    return f"Only {joined(in_words(CHANGES, kind) for kind in case.kinds) or 'words'} changed; no table is another."


def _s(names: tuple[str, ...]) -> str:
    return "s" if len(names) == 1 else ""
