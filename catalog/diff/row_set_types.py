"""The words of the row-set classifier."""

from __future__ import annotations

from dataclasses import dataclass

CAN_ONLY_DROP = "can_only_drop"
CAN_ONLY_ADD = "can_only_add"
CAN_MULTIPLY = "can_multiply"
SAME_ROWS = "same_rows"
UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class RowSetChange:
    """One difference between two queries.

    `kind`: filter_added, filter_removed, filter_changed, join_added, join_removed, join_type_changed,
    join_key_changed or unknown. `direction` is what the change alone does to the number of rows of the whole query,
    `local_direction` to that of the SELECT at path `scope`: can_only_drop, can_only_add, can_multiply (rows stay, and
    may come more than once), same_rows or unknown. `predicate` is the condition after the change in the dialect's SQL
    (for a removed one, before it), `before` the condition it replaced. `columns` are (table alias, column) that it
    hangs on. For joins `relation` is the joined relation, `alias` its name in the query and `keys` its columns that
    the condition compares. `basis` says whether compiled or raw text was compared.
    """

    kind: str
    direction: str
    local_direction: str = UNKNOWN
    scope: str = ""
    predicate: str = ""
    before: str = ""
    columns: tuple[tuple[str, str], ...] = ()
    relation: str = ""
    alias: str = ""
    keys: tuple[str, ...] = ()
    join_kind: str = ""
    basis: str = "compiled"
    note: str = ""
