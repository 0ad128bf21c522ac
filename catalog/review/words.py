"""What a reader of a comment is told in place of our own words. An unknown word is shown by its own letters."""

from __future__ import annotations

import re
from collections.abc import Mapping

from catalog.diff.row_set_types import CAN_MULTIPLY, CAN_ONLY_ADD, CAN_ONLY_DROP, SAME_ROWS, UNKNOWN
from catalog.review.types import DANGEROUS, LOOK, SAFE

VERDICTS: Mapping[str, tuple[str, str]] = {
    SAFE: ("✅", "Safe"),
    LOOK: ("⚠️", "Look"),
    DANGEROUS: ("⛔", "Dangerous"),
}
SEVERITIES: Mapping[str, tuple[str, str]] = {
    "dangerous": ("⛔", "Dangerous"),
    "look": ("⚠️", "Look"),
    "info": ("ℹ️", "For information"),
}
CERTAINTIES: Mapping[str, str] = {
    "certain": "shown by a fact",
    "possible": "possible, nothing known rules it out",
}
DIRECTIONS: Mapping[str, str] = {
    CAN_ONLY_DROP: "can only drop rows",
    CAN_ONLY_ADD: "can only add rows",
    CAN_MULTIPLY: "can repeat rows: none goes, some may come several times",
    SAME_ROWS: "keeps the same rows",
    UNKNOWN: "not known what it does to the rows",
}
ROW_SET: Mapping[str, str] = {
    "filter_added": "a filter was added",
    "filter_removed": "a filter was removed",
    "filter_changed": "a filter was changed",
    "join_added": "a join was added",
    "join_removed": "a join was removed",
    "join_type_changed": "a join has another type",
    "join_key_changed": "a join has another condition",
    "source_changed": "another table is read",
    "group_changed": "rows are grouped by something else",
    "distinct_added": "equal rows are now taken together",
    "distinct_removed": "equal rows are no longer taken together",
    "distinct_changed": "rows are taken together by something else",
    "union_branch_added": "a union reads one more query",
    "union_branch_removed": "a union reads one query less",
    "union_kind_changed": "the queries of a union are put together in another way",
    "limit_added": "a limit on the number of rows was added",
    "limit_removed": "a limit on the number of rows was removed",
    "limit_changed": "a limit on the number of rows was changed",
    "qualify_added": "a filter on a window (qualify) was added",
    "qualify_removed": "a filter on a window (qualify) was removed",
    "qualify_changed": "a filter on a window (qualify) was changed",
    "window_order_changed": "a window has another order",
    "aggregation_changed": "values are summed up in another way",
    "column_added": "a column was added",
    "column_removed": "a column was removed",
    "column_renamed": "a column has another name",
    "column_retyped": "a column has another type",
    "column_reexpressed": "a column is made of something else",
    "column_reordered": "the columns stand in another order",
    "order_changed": "the rows come in another order",
    "unknown": "the query changed in a way that could not be told",
}
CHANGES: Mapping[str, str] = {
    "body": "its code",
    "seed": "its rows in the file",
    "config": "its configuration",
    "relation": "where it is built, or its name there",
    "contract": "its contract",
    "columns": "its declared columns",
    "description": "its description",
    "fqn": "its folder in the project",
    "version": "which version is the latest",
    "access": "who may refer to it, or until when",
    "freshness": "how its freshness is checked",
    "quoting": "how its name is quoted",
    "type": "its type",
    "maturity": "its maturity",
    "owner": "its owner",
    "url": "its address",
    "depends_on": "what it reads",
    "formula": "its formula",
    "macro": "a macro that it uses",
    "file": "the file itself",
    "compiled": "the SQL that it compiles to, while its text is the same",
}
ACTIONS: Mapping[str, str] = {
    "modified": "changed",
    "added": "new",
    "removed": "removed",
    "renamed": "renamed",
}
MODES: Mapping[str, str] = {
    "mirror": "Mirror",
    "append": "append",
    "full": "full copy",
    "one_time": "one-time",
    "activation": "activation",
    "extract": "extract",
}
ROLES: Mapping[str, str] = {
    "operator": "operates it",
    "owner": "owns it",
    "business_owner": "owns it in the business",
    "on_call": "is on call for it",
    "tool_admin": "administers the tool",
}


def said(words: Mapping[str, str], word: str) -> str:
    """What `words` say for `word`; where they say nothing, its own letters and digits, which nothing can hide in."""
    return words.get(word) or _readable(word)


def signed(words: Mapping[str, tuple[str, str]], word: str) -> tuple[str, str]:
    """Sign and word of a verdict or a severity; never a sign alone."""
    return words.get(word) or ("❔", _readable(word).capitalize() or "Unknown")


def _readable(word: str) -> str:
    return re.sub(r"[\W_]+", " ", word[:60]).strip()


def counted(number: int, one: str, many: str = "") -> str:
    """1 reader, 2,000 readers."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def capital(sentence: str) -> str:
    """`sentence` with a capital at its beginning, unless it begins with the name of something (`main.orders`)."""
    return sentence[:1].upper() + sentence[1:] if sentence.partition(" ")[0].rstrip(",.:;").isalpha() else sentence
