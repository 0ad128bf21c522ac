"""SQL's logic of three values over conditions whose columns may be NULL: what a condition can come out as.

A value is a set of what is possible: "T" and "F" (for a value that is no boolean both stand for "not NULL") and "N"
for NULL. The sets are never too small; where a function is not known they hold all three.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from itertools import combinations, product

from sqlglot import exp

from catalog.diff.steps import spend

TRUE, FALSE, NULL = frozenset("T"), frozenset("F"), frozenset("N")
SOME, ANY = TRUE | FALSE, frozenset("TFN")
Values = frozenset[str]
NameOf = Callable[[exp.Column], str]

_NAMES = (
    "Abs Array ArrayAgg Avg Cast Ceil Concat ConcatWs Contains Count CountIf CurrentDate CurrentTimestamp Date DateAdd "
    "DateDiff DateSub DateTrunc DatetimeTrunc Day EndsWith Exp Extract Floor Greatest Initcap Least Left Length Lower "
    "MD5 Max Min Month Pad Rank DenseRank RegexpILike RegexpLike RegexpReplace Repeat Replace Reverse Right Round "
    "RowNumber SHA SHA2 Sign StartsWith StrPosition Substring Sum TimestampAdd TimestampDiff TimestampSub "
    "TimestampTrunc Trim TsOrDsToDate Upper Year"
)
_TOTAL = tuple(found for name in _NAMES.split() if isinstance(found := getattr(exp, name, None), type))
"""Functions that are never NULL of values that are not; of any other it is not known."""
_FROM_NOTHING = (
    exp.TryCast, exp.JSONExtract, exp.JSONExtractScalar, exp.Subquery, exp.Select, exp.Dot, exp.Bracket,
    exp.Placeholder, exp.Parameter, exp.SafeDivide, exp.Unnest,
)  # fmt: skip
"""Others that may be NULL though nothing they are made of is."""
_OF_ARRAYS = ("all", "any", "some")
"""Words before an array that are read as functions."""
_NO_VALUES = (exp.DataType, exp.Identifier, exp.Var, exp.JSONPath)
_STRICT = (exp.Binary, exp.Unary, exp.Cast, exp.Lower, exp.Upper, exp.Trim, exp.Abs, exp.Round, exp.Length)
_MANY = 8
"""Of more columns than this, sets of NULLs larger than two are not tried one by one but all at once."""
_VERY_MANY = 30
"""Of more than this, nor are pairs."""


class Logic:
    """What conditions can come out as when the columns named in `nulls` are NULL and all others are not."""

    def __init__(self, name_of: NameOf, nulls: Collection[str], rejects_null: Callable[[exp.Expr], bool]) -> None:
        self._name_of, self._nulls, self._rejects_null = name_of, nulls, rejects_null

    def of(self, node: exp.Expr | None) -> Values:
        """What `node` can come out as. Raises UsedUp where the steps of the check are counted and used up."""
        spend()
        if node is None:
            return NULL
        for kinds, method in _METHODS:
            if isinstance(node, kinds):
                return method(self, node)
        return self._composed(node)

    def _column(self, node: exp.Expr) -> Values:
        return NULL if isinstance(node, exp.Column) and self._name_of(node) in self._nulls else SOME

    def _not(self, node: exp.Expr) -> Values:
        return _turned(self.of(node.this))

    def _and(self, node: exp.Expr) -> Values:
        return self._pairs(node, absorbing="F", neutral="T")

    def _or(self, node: exp.Expr) -> Values:
        return self._pairs(node, absorbing="T", neutral="F")

    def _pairs(self, node: exp.Expr, *, absorbing: str, neutral: str) -> Values:
        outcome = frozenset(neutral)
        for part in node.flatten():
            outcome = frozenset(
                absorbing if absorbing in pair else "N" if "N" in pair else neutral
                for pair in product(outcome, self.of(part))
            )
        return outcome

    def _is(self, node: exp.Expr) -> Values:
        plain = self._is_plain(node)
        return _turned(plain) if node.args.get("negate") else plain

    def _is_plain(self, node: exp.Expr) -> Values:
        value, asked = self.of(node.this), node.expression
        if isinstance(asked, exp.Null):
            return _when("N" in value, value != NULL)
        if isinstance(asked, exp.Boolean):
            wanted = "T" if asked.this else "F"
            return _when(wanted in value, value != frozenset(wanted))
        return SOME

    def _null_safe(self, node: exp.Expr) -> Values:
        sides = self.of(node.this), self.of(node.expression)
        equal = SOME
        if NULL in sides:
            other = sides[1] if sides[0] == NULL else sides[0]
            equal = _when("N" in other, other != NULL)
        return _turned(equal) if isinstance(node, exp.NullSafeNEQ) else equal

    def _coalesce(self, node: exp.Expr) -> Values:
        outcome: Values = frozenset()
        for part in (node.this, *node.expressions):
            value = self.of(part)
            outcome |= value - NULL
            if "N" not in value:
                return outcome
        return outcome | NULL

    def _nvl2(self, node: exp.Expr) -> Values:
        value, outcome = self.of(node.this), frozenset[str]()
        outcome |= self.of(node.args.get("true")) if value != NULL else frozenset()
        return outcome | (self.of(node.args.get("false")) if "N" in value else frozenset())

    def _if(self, node: exp.Expr) -> Values:
        return self._branches([node], node.args.get("false"))

    def _case(self, node: exp.Expr) -> Values:
        ifs, default = node.args.get("ifs") or [], node.args.get("default")
        if node.this is None:
            return self._branches(ifs, default)
        return self._all_of([one.args.get("true") for one in ifs]) | self.of(default)

    def _branches(self, ifs: list[exp.Expr], default: exp.Expr | None) -> Values:
        outcome: Values = frozenset()
        for one in ifs:
            condition = self.of(one.this)
            outcome |= self.of(one.args.get("true")) if "T" in condition else frozenset()
            if condition == TRUE:
                return outcome
        return outcome | self.of(default)

    def _in(self, node: exp.Expr) -> Values:
        value, query = self.of(node.this), node.args.get("query")
        if value == NULL:  # of an empty set it is in none, and false
            return NULL | (FALSE if query is not None or node.args.get("unnest") else frozenset())
        if query is not None:
            held = SOME if self._rejects_null(query) else ANY
        else:
            held = self._all_of([*node.expressions, node.args.get("unnest")])
            held |= NULL if node.args.get("field") is not None else frozenset()
        return SOME | ((value | held) & NULL)

    def _all_of(self, nodes: list[exp.Expr | None]) -> Values:
        found: Values = frozenset()
        for node in nodes:
            found |= self.of(node) if node is not None else frozenset()
        return found

    def _composed(self, node: exp.Expr) -> Values:
        """A function or an operator: NULL where all it is made of must be, perhaps where any of it may be."""
        all_of_query = isinstance(node, exp.Binary) and isinstance(node.expression, exp.All | exp.Any)
        if all_of_query and isinstance(_query_in(node.expression), exp.Query):
            held = SOME if self._rejects_null(_query_in(node.expression)) else ANY
            return SOME | ((self.of(node.this) | held) & NULL)
        if isinstance(node, exp.Between) and self.of(node.this) == NULL:
            return NULL
        parts = [self.of(part) for part in node.iter_expressions() if not isinstance(part, _NO_VALUES)]
        if isinstance(node, _STRICT) and NULL in parts:
            return NULL
        return ANY if _from_nothing(node) or any("N" in part for part in parts) else SOME


def _from_nothing(node: exp.Expr) -> bool:
    """Whether `node` may be NULL though nothing that it is made of is."""
    if isinstance(node, exp.Window):
        return not isinstance(node.this, exp.RowNumber | exp.Rank | exp.DenseRank | exp.Count)
    if isinstance(node, exp.Anonymous) and node.name.lower() in _OF_ARRAYS:
        return not all(isinstance(part, exp.Array) for part in node.expressions)
    if isinstance(node, exp.Div | exp.IntDiv | exp.Mod):  # by zero it is NULL in some dialects
        return not isinstance(node.expression, exp.Literal)
    if isinstance(node, _FROM_NOTHING):
        return not (isinstance(node, exp.Unnest) and all(isinstance(part, exp.Array) for part in node.expressions))
    return isinstance(node, exp.Func) and not isinstance(node, (*_TOTAL, exp.Binary, exp.Unary))


def _query_in(node: exp.Expr) -> exp.Expr:
    inner = node.this
    return inner.unnest() if isinstance(inner, exp.Subquery | exp.Paren) else inner


def _turned(values: Values) -> Values:
    return frozenset({"T": "F", "F": "T", "N": "N"}[value] for value in values)


def _when(can_be_true: bool, can_be_false: bool) -> Values:
    return (TRUE if can_be_true else frozenset()) | (FALSE if can_be_false else frozenset())


_METHODS: tuple[tuple[type[exp.Expr] | tuple[type[exp.Expr], ...], Callable[[Logic, exp.Expr], Values]], ...] = (
    ((exp.Paren, exp.Alias), lambda logic, node: logic.of(node.this)),
    (exp.Column, Logic._column),
    (exp.Null, lambda _, __: NULL),
    (exp.Boolean, lambda _, node: TRUE if node.this else FALSE),
    ((exp.Exists, exp.Count, exp.CountIf, exp.Literal, exp.Interval), lambda _, __: SOME),
    (exp.Not, Logic._not),
    (exp.And, Logic._and),
    (exp.Or, Logic._or),
    (exp.Is, Logic._is),
    ((exp.NullSafeEQ, exp.NullSafeNEQ, exp.EqualNull), Logic._null_safe),
    (exp.Coalesce, Logic._coalesce),
    (exp.Nvl2, Logic._nvl2),
    (exp.If, Logic._if),
    (exp.Case, Logic._case),
    (exp.In, Logic._in),
)


def sets_of_nulls(names: list[str]) -> list[frozenset[str]]:
    """The sets of columns that are tried as NULL together, small ones first, the empty one before all."""
    if len(names) <= _MANY:
        return [frozenset(some) for size in range(len(names) + 1) for some in combinations(names, size)]
    sizes = range(3 if len(names) <= _VERY_MANY else 2)
    return [*(frozenset(some) for size in sizes for some in combinations(names, size)), frozenset(names)]
