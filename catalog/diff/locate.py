"""Finding a condition of compiled SQL again in the model's own text, and changing just that."""

from __future__ import annotations

from collections import Counter
from typing import TypeAlias

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from catalog.diff.jinja import jinja_spans, without_jinja
from catalog.diff.same import key

Span: TypeAlias = tuple[int, int]
"""(start, end) in characters, end excluded."""

_QUOTED = (TokenType.STRING, TokenType.IDENTIFIER)
_BEFORE = frozenset({TokenType.WHERE, TokenType.AND, TokenType.ON, TokenType.HAVING, TokenType.QUALIFY})
_AFTER = frozenset({
    TokenType.AND, TokenType.R_PAREN, TokenType.GROUP_BY, TokenType.ORDER_BY, TokenType.HAVING, TokenType.QUALIFY,
    TokenType.LIMIT, TokenType.UNION, TokenType.EXCEPT, TokenType.INTERSECT, TokenType.JOIN, TokenType.LEFT,
    TokenType.RIGHT, TokenType.INNER, TokenType.FULL, TokenType.CROSS, TokenType.WHERE, TokenType.WINDOW,
    TokenType.SEMICOLON,
})  # fmt: skip


def locate(raw_code: str, predicate_sql: str, dialect: str) -> Span | None:
    """The one place in `raw_code` whose SQL says `predicate_sql`; None when there is none or more than one.

    Words are compared without case and blanks, outside of comments and Jinja; `x not in (1)` and `not x in (1)` are
    the same.
    """
    wanted, tokens = _tokens(predicate_sql, dialect), _tokens(without_jinja(raw_code), dialect)
    if not wanted or not tokens:
        return None
    size, words = len(wanted), Counter(_word(token) for token in wanted)
    spans = []
    for first in range(len(tokens) - size + 1):
        window = tokens[first : first + size]
        same_words = Counter(_word(token) for token in window) == words
        if (
            same_words
            and _stands_alone(raw_code, tokens, first, size)
            and _says(raw_code, window, wanted, predicate_sql, dialect)
        ):
            spans.append((window[0].start, window[-1].end + 1))
    return spans[0] if len(spans) == 1 and not _touches_jinja(raw_code, spans[0]) else None


def replace(raw: str, span: Span, new: str) -> str:
    """`raw` with the text at `span` replaced by `new`."""
    return raw[: span[0]] + new + raw[span[1] :]


def coalesce_column(raw_code: str, column: str, default_sql: str, dialect: str) -> str | None:
    """`raw_code` with a default for the one select item that is the bare `column`; None when there is not exactly one.

    Bare means `col`, `t.col`, `col as col`, in a model without GROUP BY; `default_sql` must be a literal.
    """
    tokens = _tokens(without_jinja(raw_code), dialect)
    default = _literal(default_sql, dialect)
    if default is None or any(token.token_type is TokenType.GROUP_BY for token in tokens):
        return None
    found = [item for item in _select_items(tokens) if _is_bare(item, column)]
    if len(found) != 1:
        return None
    item = found[0]
    source = [token for token in item if token.token_type is not TokenType.ALIAS][: 3 if _dotted(item) else 1]
    span = (item[0].start, item[-1].end + 1)
    if _touches_jinja(raw_code, span):
        return None
    expression = raw_code[source[0].start : source[-1].end + 1]
    name = raw_code[source[-1].start : source[-1].end + 1]
    return replace(raw_code, span, f"coalesce({expression}, {default}) as {name}")


def _tokens(sql: str, dialect: str) -> list[Token]:
    try:
        return list(sqlglot.tokenize(sql, dialect=dialect or None))
    except (SqlglotError, ValueError):
        return []


def _word(token: Token) -> tuple[TokenType, str]:
    """What a token says: texts by their case, words without it, `<>` and `!=` alike."""
    if token.token_type in _QUOTED:
        return token.token_type, token.text
    return token.token_type, "" if token.token_type is TokenType.NEQ else token.text.lower()


def _stands_alone(raw: str, tokens: list[Token], first: int, size: int) -> bool:
    """Whether the window is a whole condition, and no part of a longer one such as `b.x = 1` or `not x = 1`."""
    before = first - 1
    while before >= 0 and tokens[before].token_type is TokenType.L_PAREN:
        before -= 1
    starts = before < 0 or tokens[before].token_type in _BEFORE
    after = tokens[first + size] if first + size < len(tokens) else None
    ends = after is None or after.token_type in _AFTER or _touches_jinja(raw, (after.start, after.end + 1))
    return starts and ends


def _says(raw: str, window: list[Token], wanted: list[Token], predicate: str, dialect: str) -> bool:
    if [_word(token) for token in window] == [_word(token) for token in wanted]:
        return True
    try:
        found = sqlglot.condition(without_jinja(raw)[window[0].start : window[-1].end + 1], dialect=dialect or None)
        return key(found, dialect) == key(sqlglot.condition(predicate, dialect=dialect or None), dialect)
    except (SqlglotError, RecursionError, ValueError):
        return False


def _touches_jinja(raw: str, span: Span) -> bool:
    return any(start < span[1] and span[0] < end for start, end in jinja_spans(raw))


def _literal(sql: str, dialect: str) -> str | None:
    try:
        tree = sqlglot.condition(sql, dialect=dialect or None)
    except (SqlglotError, ValueError):
        return None
    if not isinstance(tree, exp.Literal | exp.Boolean):
        return None
    return sql.strip().lower() if isinstance(tree, exp.Boolean) else sql.strip()


def _select_items(tokens: list[Token]) -> list[list[Token]]:
    """The items of every select list, each as its tokens."""
    items: list[list[Token]] = []
    for place, token in enumerate(tokens):
        if token.token_type is TokenType.SELECT:
            items += _items_from(tokens[place + 1 :])
    return items


def _items_from(tokens: list[Token]) -> list[list[Token]]:
    items: list[list[Token]] = [[]]
    depth = 0
    for token in tokens:
        depth += {TokenType.L_PAREN: 1, TokenType.R_PAREN: -1}.get(token.token_type, 0)
        if depth < 0 or (depth == 0 and token.token_type is TokenType.FROM):
            break
        if depth == 0 and token.token_type is TokenType.COMMA:
            items.append([])
        else:
            items[-1].append(token)
    return [item for item in items if item]


def _is_bare(item: list[Token], column: str) -> bool:
    named = [token for token in item if token.token_type is not TokenType.ALIAS]
    plain = named[2:] if _dotted(named) else named
    with_alias = len(item) > len(named)
    if len(plain) != (2 if with_alias else 1) or len(item) - len(named) > 1:
        return False
    return all(_is_name(token) and token.text.lower() == column.lower() for token in plain)


def _dotted(item: list[Token]) -> bool:
    return len(item) >= 3 and item[1].token_type is TokenType.DOT and _is_name(item[0])


def _is_name(token: Token) -> bool:
    return token.token_type is TokenType.IDENTIFIER or token.text.replace("_", "").isalnum()
