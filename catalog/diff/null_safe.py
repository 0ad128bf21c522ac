"""Conditions under which rows vanish because a value is unknown, and the form that does not lose them.

SQL's logic has three values: `not x` is NULL where x is NULL, and WHERE keeps only what is TRUE.
"""

from __future__ import annotations

from dataclasses import dataclass

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

_COMPARISONS = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Like, exp.ILike, exp.RegexpLike)
_ARITHMETIC = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod, exp.DPipe)
_STRICT_FUNCTIONS = (
    exp.Cast, exp.Lower, exp.Upper, exp.Trim, exp.Abs, exp.Round, exp.Floor, exp.Ceil, exp.Length, exp.Neg,
    exp.DateTrunc, exp.TimestampTrunc, exp.Extract, exp.Date, exp.Not, exp.Paren,
)  # fmt: skip
"""Functions of one operand that are NULL where it is."""

_HAS_DISTINCT_FROM = frozenset({
    "duckdb", "postgres", "snowflake", "bigquery", "databricks", "trino", "presto", "athena", "sqlite", "materialize",
    "risingwave", "clickhouse",
})  # fmt: skip
_NO_BOOLEANS = frozenset({"tsql", "fabric", "oracle", "teradata"})
_KEYWORDS = frozenset({"COALESCE", "FALSE", "TRUE", "IS", "DISTINCT", "FROM", "NOT", "IN", "NULL", "OR"})


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why rows vanish: the (table alias, column) pairs whose NULL keeps the condition from being TRUE, and a sentence.

    `silent` is true where the condition reads as an exclusion (`not x`, `x <> 'a'`, `x = false`, `x not in (...)`),
    so that a reader expects the rows with NULL to stay.
    """

    columns: tuple[tuple[str, str], ...]
    sentence: str
    silent: bool


def why_nulls_vanish(predicate_sql: str, dialect: str) -> Explanation | None:
    """Why a WHERE with this condition drops rows with NULL; None when it keeps or names them, or is not understood."""
    tree = _condition(predicate_sql, dialect)
    if tree is None:
        return None
    columns = _rejecting(tree)
    if not columns:
        return None
    names = [column.sql(dialect=dialect or None) for column in columns]
    text = tree.sql(dialect=dialect or None)
    sentence = (
        f"({text}) is not TRUE but NULL where {' or '.join(names)} is NULL, and WHERE keeps only rows where it is TRUE."
    )
    if _not_in_query(tree):
        sentence += " It is NULL for every row as soon as the subquery returns one NULL."
    found = tuple(dict.fromkeys((column.table, column.name) for column in columns))
    return Explanation(found, sentence, silent=bool(exclusions(tree)))


def asks_not_null(part: exp.Expr) -> bool:
    """Whether a condition is `x is not null`."""
    return _asked(part) is not None


def exclusions(tree: exp.Expr) -> list[exp.Expr]:
    """The parts of a condition that read as "all but these": `not` (other than IS NOT), `<>` and `= false`.

    What its subqueries ask does not count.
    """
    return [part for part in tree.walk(prune=lambda part: isinstance(part, exp.Query)) if _excludes(part)]


def null_safe_form(predicate_sql: str, dialect: str) -> str | None:
    """The condition that treats NULL as "not that value", so that its rows stay; None where the meaning is not clear.

    Covered: `not x`, `x = false`, `x <> literal`, `x not in (literals)` for a plain column x.
    """
    tree = _condition(predicate_sql, dialect)
    if tree is None:
        return None
    safe = _flag_form(tree, dialect) or _other_value_form(tree, dialect) or _other_values_form(tree)
    return _lower_keywords(safe.sql(dialect=dialect or None), dialect) if safe is not None else None


def _condition(sql: str, dialect: str) -> exp.Expr | None:
    try:
        return sqlglot.condition(sql, dialect=dialect or None).unnest()
    except (SqlglotError, RecursionError, ValueError):
        return None


def _rejecting(tree: exp.Expr) -> list[exp.Column]:
    """Columns whose NULL keeps `tree` from being TRUE and that it does not itself ask to be not NULL."""
    parts = [part.unnest() for part in (tree.flatten() if isinstance(tree, exp.And) else [tree])]
    asked = {_asked(part) for part in parts if asks_not_null(part)}
    found = [column for part in parts for column in _rejected_by(part) if column not in asked]
    return list(dict.fromkeys(found))


def _asked(part: exp.Expr) -> exp.Expr | None:
    """`x` of `x is not null`, which PostgreSQL's trees spell in another way than the others'."""
    inner = part.this.unnest() if isinstance(part, exp.Not) else part
    negated = isinstance(part, exp.Not) != bool(inner.args.get("negate"))
    return inner.this if negated and isinstance(inner, exp.Is) and isinstance(inner.expression, exp.Null) else None


def _rejected_by(part: exp.Expr) -> list[exp.Column]:
    part = part.unnest()
    if isinstance(part, exp.And):
        return [*_rejected_by(part.left), *_rejected_by(part.right)]
    if isinstance(part, exp.Or):
        right = _rejected_by(part.right)
        return [column for column in _rejected_by(part.left) if column in right]
    return _strict(part)


def _strict(node: exp.Expr | None) -> list[exp.Column]:
    """Columns whose NULL makes `node` NULL, whatever the others hold."""
    if isinstance(node, exp.Column):
        return [node] if not isinstance(node.this, exp.Star) else []
    if isinstance(node, (*_COMPARISONS, *_ARITHMETIC)):
        return (
            [] if isinstance(node.expression, exp.Any | exp.All) else [*_strict(node.this), *_strict(node.expression)]
        )
    if isinstance(node, exp.And | exp.Or):
        right = _strict(node.right)
        return [column for column in _strict(node.left) if column in right]
    if isinstance(node, (*_STRICT_FUNCTIONS, exp.In, exp.Between)):
        return _strict(node.this)
    return []


def _excludes(part: exp.Expr) -> bool:
    if isinstance(part, exp.Is):
        return False
    if isinstance(part, exp.Not):
        return not isinstance(part.this.unnest(), exp.Is)
    if isinstance(part, exp.EQ):
        return any(isinstance(side, exp.Boolean) and not side.this for side in (part.this, part.expression))
    return isinstance(part, exp.NEQ) or bool(part.args.get("negate"))


def _not_in_query(tree: exp.Expr) -> bool:
    return any(
        isinstance(part, exp.Not) and isinstance(part.this.unnest(), exp.In) and part.this.unnest().args.get("query")
        for part in tree.walk()
    )


def _flag_form(tree: exp.Expr, dialect: str) -> exp.Expr | None:
    """`not x` and `x = false`."""
    column = tree.this.unnest() if isinstance(tree, exp.Not) else None
    if isinstance(tree, exp.EQ):
        column = next(
            (
                one
                for one, other in ((tree.this, tree.expression), (tree.expression, tree.this))
                if other == exp.false()
            ),
            None,
        )
    if not isinstance(column, exp.Column) or dialect in _NO_BOOLEANS:
        return None
    return exp.EQ(this=exp.Coalesce(this=column.copy(), expressions=[exp.false()]), expression=exp.false())


def _other_value_form(tree: exp.Expr, dialect: str) -> exp.Expr | None:
    """`x <> 'a'` and `not x = 'a'`."""
    inner = tree.this.unnest() if isinstance(tree, exp.Not) else tree
    wanted = exp.EQ if isinstance(tree, exp.Not) else exp.NEQ
    if not isinstance(inner, wanted):
        return None
    sides = [(inner.this, inner.expression), (inner.expression, inner.this)]
    column, value = next(
        (pair for pair in sides if isinstance(pair[0], exp.Column) and _is_literal(pair[1])), (None, None)
    )
    if column is None or value is None:
        return None
    if dialect in _HAS_DISTINCT_FROM:
        return exp.NullSafeNEQ(this=column.copy(), expression=value.copy())
    return _or_null(column, exp.NEQ(this=column.copy(), expression=value.copy()))


def _other_values_form(tree: exp.Expr) -> exp.Expr | None:
    """`x not in (1, 2)`."""
    inner = tree.this.unnest() if isinstance(tree, exp.Not) else None
    if not isinstance(inner, exp.In) or not isinstance(inner.this, exp.Column):
        return None
    values = inner.expressions
    if not values or inner.args.get("query") or not all(_is_literal(value) for value in values):
        return None
    return _or_null(inner.this, exp.Not(this=inner.copy()))


def _or_null(column: exp.Expr, condition: exp.Expr) -> exp.Expr:
    return exp.Paren(this=exp.Or(this=exp.Is(this=column.copy(), expression=exp.null()), expression=condition))


def _is_literal(value: exp.Expr) -> bool:
    """A value that is written out and not NULL; a cast that may fail to NULL is none."""
    inner = value.this if isinstance(value, exp.Neg | exp.Cast) and not isinstance(value, exp.TryCast) else value
    return isinstance(inner, exp.Literal | exp.Boolean)


def _lower_keywords(sql: str, dialect: str) -> str:
    """The words that this module adds in lower case, as model code has them; names and texts stay."""
    tokens = [
        token
        for token in sqlglot.tokenize(sql, dialect=dialect or None)
        if sql[token.start : token.end + 1] in _KEYWORDS
    ]
    for token in tokens:
        sql = sql[: token.start] + sql[token.start : token.end + 1].lower() + sql[token.end + 1 :]
    return sql
