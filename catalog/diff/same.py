"""Whether two trees say the same, or two texts."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import SqlglotError

MAX_CHARACTERS = 1_000_000
"""Two texts that are longer together are not told apart word by word."""
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


def folded(name: exp.Identifier) -> str:
    """The name as the dialect compares it, for one of a tree that went through `without_comments`."""
    return str(name.meta.get(_FOLDED) or name.name)


def same_tokens(sql: str, other: str, dialect: str) -> bool:
    """Whether both texts are the same but for white space and comments, as the dialect tells its words apart."""
    if sql == other:
        return True
    if len(sql) + len(other) > MAX_CHARACTERS:
        return False
    try:
        rules = Dialect.get_or_raise(dialect or None)
        tokens = [[(token.token_type, token.text) for token in rules.tokenize(text)] for text in (sql, other)]
    except (SqlglotError, ValueError):
        return False
    return tokens[0] == tokens[1]


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
