"""Whether two trees say the same, and which branch of one set operation is which of another."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect

_FOLDED = "folded"
_NEED_NO_BRACKETS = (exp.Column, exp.Literal, exp.Boolean, exp.Null, exp.Paren)


def without_comments(tree: exp.Expr, dialect: str) -> None:
    """Take the comments out of `tree`, and note at each name what the dialect's rules on case and quotes make of it."""
    rules = Dialect.get_or_raise(dialect or None)
    for node in tree.walk():
        node.comments = None
        if isinstance(node, exp.Identifier):
            node.meta[_FOLDED] = _folded(node, rules)


def key(node: exp.Expr | None, dialect: str) -> str:
    """A text that is equal for equal trees, case and quotes of names compared by the dialect's own rules.

    It is no SQL: writing SQL costs ten times as much.
    """
    if node is None:
        return ""
    parts: list[str] = []
    _write(node, parts, Dialect.get_or_raise(dialect or None))
    return "".join(parts)


def matched(branches: list[exp.Expr], others: list[exp.Expr]) -> dict[int, int]:
    """Which of `branches` is which of `others`: equal ones first, then those that read the same, then by place."""
    pairs: dict[int, int] = {}
    for like in (_text, _tables):
        for place, branch in enumerate(branches):
            if place in pairs:
                continue
            mine = like(branch)
            free = [number for number in range(len(others)) if number not in pairs.values()]
            found = next((number for number in free if like(others[number]) == mine), None)
            if found is not None:
                pairs[place] = found
    left = [place for place in range(len(branches)) if place not in pairs]
    free = [number for number in range(len(others)) if number not in pairs.values()]
    if len(branches) == len(others) or (1 in (len(branches), len(others)) and not pairs):
        pairs |= dict(zip(left, free, strict=False))
    return pairs


def _write(node: object, parts: list[str], rules: Dialect) -> None:
    if isinstance(node, exp.Identifier):
        parts += ("'", node.meta.get(_FOLDED) or _folded(node, rules), "'")
    elif isinstance(node, exp.Paren) and isinstance(node.this, _NEED_NO_BRACKETS):
        _write(node.this, parts, rules)
    elif isinstance(node, exp.Expr):
        parts += (type(node).__name__, "(")
        for name in sorted(node.args):
            value = node.args[name]
            if value is None or value is False or value == []:
                continue
            parts += (name, "=")
            if isinstance(node, exp.Anonymous | exp.AnonymousAggFunc) and isinstance(value, str):
                value = value.upper()
            _write(value, parts, rules)
            parts.append(",")
        parts.append(")")
    elif isinstance(node, list):
        parts.append("[")
        for item in node:
            _write(item, parts, rules)
            parts.append(",")
        parts.append("]")
    else:
        parts.append(repr(node))


def _folded(name: exp.Identifier, rules: Dialect) -> str:
    """What the dialect makes of `name` where it stands; the name itself is left as it is written."""
    written = name.args["this"]
    rules.normalize_identifier(name)
    folded = str(name.args["this"])
    name.set("this", written)
    return folded


def _text(branch: exp.Expr) -> str:
    return key(branch, "")


def _tables(branch: exp.Expr) -> str:
    return " ".join(table.sql().lower() for table in branch.find_all(exp.Table))
