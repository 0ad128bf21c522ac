"""Whether one condition implies another, by trying every case of SQL's three truth values.

Each column, function or comparison of two columns is a term that may take any value that makes a difference. Terms are
taken as independent, which can only hide an implication, never invent one.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterator
from typing import TypeAlias

from sqlglot import exp

from catalog.diff.constants import NotComparable, constant_of
from catalog.diff.same import key
from catalog.diff.steps import Steps, UsedUp, counted

Value: TypeAlias = bool | float | str | None
Case: TypeAlias = dict[str, Value]

MOST_CASES = 20_000
MOST_NODES = 2_000
_COMPARE: dict[type[exp.Expr], Callable[[float, float], bool]] = {
    exp.EQ: operator.eq, exp.NEQ: operator.ne, exp.GT: operator.gt, exp.GTE: operator.ge, exp.LT: operator.lt,
    exp.LTE: operator.le, exp.NullSafeEQ: operator.eq, exp.NullSafeNEQ: operator.ne,
}  # fmt: skip
_NULL_SAFE = (exp.NullSafeEQ, exp.NullSafeNEQ)
_NUMERIC = "0123456789+-. "
_FLAGS = frozenset({"t", "true", "y", "yes", "on", "f", "false", "n", "no", "off"})
_CHANGES_BY_ITSELF = (exp.Rand, exp.Randn, exp.Uuid)


def implies(first: list[exp.Expr], second: list[exp.Expr], dialect: str) -> tuple[bool, bool]:
    """(every row that all of `first` keep, all of `second` keep too; the same the other way round)."""
    with counted() as steps:
        return _implied(first, second, dialect, steps, both_ways=True)


def follows(part: exp.Expr, others: list[exp.Expr], dialect: str) -> bool:
    """Whether every row that all of `others` keep, `part` keeps too."""
    with counted() as steps:
        return _implied(others, [part], dialect, steps, both_ways=False)[0]


def _implied(
    first: list[exp.Expr], second: list[exp.Expr], dialect: str, steps: Steps, *, both_ways: bool
) -> tuple[bool, bool]:
    try:
        nodes = [node for part in (*first, *second) for node in itertools.islice(part.walk(), MOST_NODES + 1)]
        steps.spend(len(nodes))
        if len(nodes) > MOST_NODES or any(isinstance(node, _CHANGES_BY_ITSELF) for node in nodes):
            return False, False
        trial = _Trial(dialect, steps, *first, *second)
        forth, back = True, both_ways
        for case in trial.cases():
            kept = [all(trial.truth(part, case) is True for part in parts) for parts in (first, second)]
            forth, back = forth and kept[0] <= kept[1], back and kept[1] <= kept[0]
            if not (forth or back):
                break
        return forth, back
    except (NotComparable, RecursionError, UsedUp):
        return False, False


class _Trial:
    def __init__(self, dialect: str, steps: Steps, *conditions: exp.Expr) -> None:
        self.dialect, self.steps = dialect, steps
        self.constants: dict[str, set[tuple[str, float | str | bool]]] = {}
        self.names: dict[int, str] = {}
        for condition in conditions:
            self._collect(condition)

    def cases(self) -> Iterator[Case]:
        """Every case of the terms' values that can make a difference."""
        domains = [_domain(constants) for constants in self.constants.values()]
        size = 1
        for domain in domains:
            size *= len(domain)
        if size > MOST_CASES:
            raise NotComparable
        for values in itertools.product(*domains):
            yield dict(zip(self.constants, values, strict=True))

    def truth(self, node: exp.Expr, case: Case) -> bool | None:
        """The truth value of a condition in one case."""
        self.steps.spend()
        if isinstance(node, exp.Paren):
            return self.truth(node.this, case)
        if isinstance(node, exp.Not):
            inner = self.truth(node.this, case)
            return None if inner is None else not inner
        if isinstance(node, exp.And | exp.Or):
            decisive = isinstance(node, exp.Or)
            sides = [self.truth(side, case) for side in (node.left, node.right)]
            return decisive if decisive in sides else None if None in sides else not decisive
        value = self._value(node, case)
        if value is None or isinstance(value, bool):
            return value
        raise NotComparable

    def _collect(self, node: exp.Expr) -> None:
        if isinstance(node, exp.Paren | exp.Not | exp.And | exp.Or):
            for child in node.iter_expressions():
                self._collect(child)
            return
        operands = _operands(node)
        leaves = [leaf for operand in operands for leaf in _leaves(operand)]
        constants = [constant_of(leaf, self.dialect) for leaf in leaves]
        terms = [leaf for leaf, constant in zip(leaves, constants, strict=True) if constant is None]
        if not operands or len({self._name(term) for term in terms}) > 1:
            self.constants.setdefault(self._name(node), set())
            return
        for term in terms:
            known = self.constants.setdefault(self._name(term), set())
            known.update(constant for constant in constants if constant is not None and constant[0] != "null")

    def _name(self, node: exp.Expr) -> str:
        if id(node) not in self.names:
            self.names[id(node)] = key(node, self.dialect)
        return self.names[id(node)]

    def _value(self, node: exp.Expr, case: Case) -> Value:
        self.steps.spend()
        name, constant = self._name(node), constant_of(node, self.dialect)
        if name in case or constant is not None:
            return case[name] if constant is None else None if constant[0] == "null" else constant[1]
        if isinstance(node, exp.Paren):
            return self._value(node.this, case)
        if isinstance(node, exp.Coalesce):
            values = (self._value(item, case) for item in (node.this, *node.expressions))
            return next((value for value in values if value is not None), None)
        if isinstance(node, exp.Is):
            return _same(self._value(node.this, case), self._value(node.expression, case))
        return self._comparison(node, case)

    def _comparison(self, node: exp.Expr, case: Case) -> bool | None:
        if isinstance(node, exp.Between):
            bounds = ((exp.GTE, node.args["low"]), (exp.LTE, node.args["high"]))
            found = [self._compare(kind, node.this, bound, case) for kind, bound in bounds]
            return False if False in found else None if None in found else True
        if isinstance(node, exp.In):
            found = [self._compare(exp.EQ, node.this, item, case) for item in node.expressions]
            return True if True in found else None if None in found else False
        if type(node) in _COMPARE:
            return self._compare(type(node), node.this, node.expression, case)
        raise NotComparable

    def _compare(self, kind: type[exp.Expr], first: exp.Expr, second: exp.Expr, case: Case) -> bool | None:
        left, right = self._value(first, case), self._value(second, case)
        if left is None or right is None:
            return None if kind not in _NULL_SAFE else _same(left, right) is (kind is exp.NullSafeEQ)
        if isinstance(left, str | bool) or isinstance(right, str | bool):
            same = _same(left, right)
            if kind in (exp.EQ, exp.NullSafeEQ):
                return same
            if kind in (exp.NEQ, exp.NullSafeNEQ):
                return not same
            raise NotComparable
        return _COMPARE[kind](left, right)


def _operands(node: exp.Expr) -> list[exp.Expr]:
    """What a comparison compares; empty for a condition that is one term."""
    if isinstance(node, exp.Between) and not node.args.get("symmetric"):
        return [node.this, node.args["low"], node.args["high"]]
    if isinstance(node, exp.In) and node.expressions and not (node.args.get("query") or node.args.get("unnest")):
        return [node.this, *node.expressions]
    if isinstance(node, exp.Is) and not isinstance(node.expression, exp.Null | exp.Boolean):
        return []
    if isinstance(node, exp.Coalesce):
        return [node]
    return [node.this, node.expression] if type(node) in _COMPARE or isinstance(node, exp.Is) else [node]


def _leaves(node: exp.Expr) -> list[exp.Expr]:
    if isinstance(node, exp.Paren):
        return _leaves(node.this)
    if isinstance(node, exp.Coalesce):
        return [leaf for item in (node.this, *node.expressions) for leaf in _leaves(item)]
    return [node]


def _domain(constants: set[tuple[str, float | str | bool]]) -> list[Value]:
    """NULL, each constant, and a value between, below and above them where they have an order."""
    scales = {scale for scale, _ in constants}
    if scales <= {"flag"}:
        return [None, True, False]
    if len(scales) > 1:
        raise NotComparable("constants of several kinds")
    if scales == {"text"}:
        words = [str(value) for _, value in constants]
        odd = [word for word in words if not word or word[0] in _NUMERIC or word.lower() in _FLAGS]
        if len({word.casefold().strip() for word in words}) < len(words) or len(odd) > 1:
            raise NotComparable("a collation or a type may take two of the constants for one")
        return [None, *words, "\0other"]
    points = sorted(float(value) for _, value in constants)
    between = [(low + high) / 2 for low, high in itertools.pairwise(points)]
    return [None, points[0] - 1, *points, *between, points[-1] + 1]


def _same(left: Value, right: Value) -> bool:
    if left is not None and right is not None and isinstance(left, str) != isinstance(right, str):
        raise NotComparable
    return left == right
