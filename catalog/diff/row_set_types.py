"""The words of the row-set classifier."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

CAN_ONLY_DROP = "can_only_drop"
CAN_ONLY_ADD = "can_only_add"
CAN_MULTIPLY = "can_multiply"
SAME_ROWS = "same_rows"
UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class RowSetChange:
    """One difference between two queries.

    `kind`: filter_added, filter_removed, filter_changed (WHERE and HAVING), join_added, join_removed,
    join_type_changed, join_key_changed, source_changed (another relation is read), group_changed, distinct_added,
    distinct_removed, distinct_changed, union_branch_added, union_branch_removed, union_kind_changed, limit_added,
    limit_removed, limit_changed, qualify_added, qualify_removed, qualify_changed, window_order_changed,
    aggregation_changed, column_added, column_removed, column_renamed, column_retyped, column_reexpressed,
    column_reordered, order_changed, or unknown.

    `direction` is what the change alone does to the number of rows of the whole query, `local_direction` to that of
    the SELECT at path `scope`: can_only_drop, can_only_add, can_multiply (rows stay, and may come more than once),
    same_rows or unknown. `whole` is what all changes of the comparison together do, see `combined`.

    `predicate` is what stands there after the change in the dialect's SQL (for a filter or join that was removed,
    before it), `before` what it replaced. `columns` are (table alias, column) that it hangs on. For joins `relation`
    is the joined relation, `alias` its name in the query and `keys` its columns that the condition compares. `basis`
    says whether compiled or raw text was compared.
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
    whole: str = UNKNOWN


def combined(changes: Iterable[RowSetChange]) -> str:
    """What the changes of one comparison together do to the number of rows; unknown where they do not compose.

    No change is same_rows. Changes that were taken from several comparisons do not compose.
    """
    wholes = {change.whole for change in changes}
    return wholes.pop() if len(wholes) == 1 else UNKNOWN if wholes else SAME_ROWS
