"""A small grammar of dbt's Jinja: what a changed model may say and still be rehearsed.

dbt renders Jinja before anything else is looked at, and rendering runs code. A changed model is therefore read by an
allow-list: `ref`, `source`, `config` with plain values, `var`, `this`, `is_incremental()`, `if`, `for` and simple
`set`. Expressions are parsed as Python, whose syntax covers these; whatever does not parse is not on the list.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

_STRING = r"""'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*\""""
_BLOCK = re.compile(
    rf"\{{\#.*?\#\}}|\{{\{{(?P<value>(?:{_STRING}|[^'\"])*?)\}}\}}|\{{%(?P<tag>(?:{_STRING}|[^'\"])*?)%\}}", re.DOTALL
)
_OPENING = re.compile(r"\{[{%#]")
_MARKS = "-+ \t\r\n"  # blanks and whitespace control
_SET = re.compile(r"(?P<name>[A-Za-z]\w*)\s*=(?!=)(?P<expression>.+)", re.DOTALL)
_FOR = re.compile(r"(?P<name>[A-Za-z]\w*)\s+in\s+(?P<expression>.+)", re.DOTALL)

CALLABLE = frozenset({"ref", "source", "config", "var", "is_incremental", "doc"})
READABLE = frozenset({"this", "true", "false", "none", "loop"})
CONFIG_KEYS = frozenset(
    {"materialized", "unique_key", "tags", "meta", "on_schema_change", "incremental_strategy", "enabled", "docs",
     "description", "group", "access", "contract", "severity"}
)  # fmt: skip
MATERIALIZATIONS = frozenset({"view", "table", "incremental", "ephemeral"})
_LOOP_ATTRIBUTES = frozenset({"first", "last", "index", "index0", "length"})


class NotInGrammar(ValueError):
    """Text that is not on the list; the message says what, as the end of a sentence."""


def blocks(text: str) -> list[tuple[str, str]]:
    """The Jinja blocks of a file as ("value" | "tag", inner text), comments left out; `NotInGrammar` if one never
    ends.
    """
    found: list[tuple[str, str]] = []
    position = 0
    while opening := _OPENING.search(text, position):
        match = _BLOCK.match(text, opening.start())
        if match is None:
            raise NotInGrammar("holds Jinja that cannot be read")
        position = match.end()
        if match.lastgroup:
            found.append((match.lastgroup, match[match.lastgroup].strip(_MARKS)))
    return found


def tag_word(inner: str) -> str:
    """The first word of a tag: `if`, `set`, `call` …"""
    return _word_and_rest(inner)[0]


def _word_and_rest(inner: str) -> tuple[str, str]:
    parts = inner.split(None, 1)
    return (parts[0], parts[1]) if len(parts) == 2 else (inner, "")


def captures(found: Sequence[tuple[str, str]]) -> str | None:
    """The first tag that feeds surrounding text to code (or defines code), if any: its body is more than SQL."""
    for kind, inner in found:
        if kind != "tag":
            continue
        word = tag_word(inner)
        plain_set = word == "set" and "=" in inner
        if not plain_set and word not in {"if", "elif", "else", "endif", "for", "endfor"}:
            return word or "unreadable"
    return None


def check(found: Sequence[tuple[str, str]]) -> None:
    """Check every block against the grammar; `NotInGrammar` names the first that is not in it."""
    known: set[str] = set()
    try:
        for kind, inner in found:
            if kind == "value":
                _expression(inner, known)
            else:
                _tag(inner, known)
    except RecursionError:
        raise NotInGrammar("holds Jinja that is nested too deeply") from None


def _tag(inner: str, known: set[str]) -> None:
    word, rest = _word_and_rest(inner)
    if word in {"else", "endif", "endfor"} and not rest:
        return
    if word in {"if", "elif"}:
        _expression(rest, known)
        return
    binding = {"set": _SET, "for": _FOR}.get(word)
    parts = binding.fullmatch(rest) if binding else None
    if parts is None or parts["name"] in CALLABLE | READABLE:
        raise NotInGrammar(f"uses the Jinja tag {word[:40]!r}")
    _expression(parts["expression"], known)
    known.add(parts["name"])


def _expression(text: str, known: set[str]) -> None:
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, MemoryError):
        raise NotInGrammar("holds a Jinja expression that is not on the list") from None
    _node(tree.body, known)


def _node(node: ast.expr, known: set[str]) -> None:
    match node:
        case ast.Call(func=ast.Name(id=name)) if name in CALLABLE:
            _call(name, node)
        case ast.Name(id=name) if name in READABLE or name in known:
            return
        case ast.Attribute(value=ast.Name(id="loop"), attr=attribute) if attribute in _LOOP_ATTRIBUTES:
            return
        case ast.Constant() if _plain(node):
            return
        case ast.BoolOp(values=operands) | ast.List(elts=operands) | ast.Tuple(elts=operands):
            for operand in operands:
                _node(operand, known)
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            _node(operand, known)
        case ast.Compare(left=left, comparators=others):
            for operand in (left, *others):
                _node(operand, known)
        case _:
            raise NotInGrammar(f"uses {ast.unparse(node)[:60]!r} in Jinja")


def _call(name: str, node: ast.Call) -> None:
    values = [*node.args, *(keyword.value for keyword in node.keywords)]
    if not all(_plain(value) for value in values) or any(keyword.arg is None for keyword in node.keywords):
        raise NotInGrammar(f"calls {name} with something other than plain values")
    if name == "config":
        if node.args:
            raise NotInGrammar("calls config without naming its settings")
        for keyword in node.keywords:
            check_setting(str(keyword.arg), _literal(keyword.value))


def check_setting(key: str, value: object) -> None:
    """A model's setting: `NotInGrammar` for one that can run code, write elsewhere, or is unknown."""
    if key not in CONFIG_KEYS:
        raise NotInGrammar(f"sets {key[:40]!r}")
    if key == "materialized" and value not in MATERIALIZATIONS:
        raise NotInGrammar(f"is materialized as {str(value)[:40]!r}")


def _plain(node: ast.expr) -> bool:
    match node:
        case ast.Constant(value=value):
            return value is None or (isinstance(value, (str, int, float)) and "{{" not in str(value))
        case ast.Name(id=name):
            return name in {"true", "false", "none"}
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return all(_plain(item) for item in items)
        case ast.Dict(keys=keys, values=values):
            return all(key is not None and _plain(key) for key in keys) and all(_plain(value) for value in values)
        case _:
            return False


def _literal(node: ast.expr) -> object:
    return node.value if isinstance(node, ast.Constant) else None
