"""All lints in one place: a new one is one module, or one function of a module, and one line here."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot.errors import SqlglotError

from catalog.diff.selects import MAX_CHARACTERS
from catalog.lints import (
    distinct,
    fan_out,
    incremental,
    integer_division,
    mirror,
    null_rows,
    outer_join,
    removed_column,
    time_zone,
    union_all,
)
from catalog.lints.query import read
from catalog.lints.types import CERTAIN, DANGEROUS, INFO, LOOK, Facts, Finding, Lint, ModelState, Place, Reader

UNREAD = "could-not-be-read"
LINTS: tuple[Lint, ...] = (
    null_rows.check,
    outer_join.check,
    fan_out.check,
    union_all.check,
    distinct.check,
    integer_division.check,
    time_zone.check,
    incremental.without_key,
    incremental.filter_changed,
    incremental.key_changed,
    removed_column.check,
    mirror.view,
    mirror.identical_rows,
    mirror.schema,
    mirror.recreated,
)
_ORDER = (DANGEROUS, LOOK, INFO)


def findings(
    before: ModelState | None, after: ModelState, facts: Facts | None = None, readers: tuple[Reader, ...] = ()
) -> list[Finding]:
    """What all lints find in the change from `before` (None: a new model) to `after`, the gravest first.

    `facts` None: nothing is known, which findings then say. SQL that cannot be read (no single query, unknown to the
    dialect, longer than MAX_CHARACTERS, nested too deep) gives one `could-not-be-read` in place of what the lints of
    its text would find; lints of the configuration run all the same. A model without SQL (a seed) is not accused.
    """
    found = list(_unread(before, after))
    for lint in LINTS:
        try:
            found += lint(before, after, facts or Facts(), readers)
        except (RecursionError, SqlglotError):
            found += [] if found and found[0].rule == UNREAD else [_of_side(after, "it is nested too deep")]
            found.sort(key=lambda one: one.rule != UNREAD)
    return sorted(found, key=lambda finding: _ORDER.index(finding.severity))


def _unread(before: ModelState | None, after: ModelState) -> Iterator[Finding]:
    if after.sql.strip() and read(after) is None:
        yield _of_side(after, _why(after))
    elif before is not None and before.sql.strip() and after.sql.strip() and read(before) is None:
        sentence = f"The SQL of {before.name} before the change could not be read: what stood in it is found again."
        yield Finding(UNREAD, INFO, Place(), sentence, (_why(before),), None, CERTAIN)


def _of_side(model: ModelState, why: str) -> Finding:
    sentence = f"The SQL of {model.name} could not be read, so that it was not looked through: {why}."
    return Finding(UNREAD, LOOK, Place(), sentence, (), None, CERTAIN)


def _why(model: ModelState) -> str:
    if len(model.sql) > MAX_CHARACTERS:
        return f"it is longer than {MAX_CHARACTERS:,} characters"
    return f"it is not one query in the dialect {model.dialect or 'of standard SQL'}"
