"""A model's query as the lints read it: its SELECTs, the names of its columns, and lines in the model's own text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from copy import copy
from functools import lru_cache

from sqlglot import exp
from sqlglot.optimizer.normalize_identifiers import normalize_identifiers

from catalog.diff import selects
from catalog.diff.jinja import jinja_spans, without_jinja
from catalog.diff.joins import join_kind
from catalog.diff.locate import locate
from catalog.diff.selects import Selects, conjuncts, sources_of, where_of
from catalog.diff.steps import UsedUp, counted
from catalog.lints.three_valued import Logic, sets_of_nulls
from catalog.lints.types import CERTAIN, LOOK, Finding, ModelState, Place

_PLACEHOLDER = re.compile(r"\bj_[0-9a-f]+\b")
"""What `without_jinja` writes for an expression."""
MAX_SAID = 300
_FILTERS = ("where", "having", "qualify")


class Query:
    """A parsed model; `read` gives None where it is no query that can be read."""

    def __init__(self, model: ModelState, tree: exp.Expr) -> None:
        self.model, self.dialect, self.selects = model, model.dialect, Selects(tree)
        text = model.raw or model.sql
        pieces = [text[start:end] for start, end in jinja_spans(text)]
        self._jinja = {without_jinja(piece): " ".join(piece.split()) for piece in pieces}
        self._names: dict[int, tuple[exp.Column, str]] = {}
        self._inside: dict[int, tuple[exp.Expr, dict[str, exp.Column]]] = {}
        """By id; the node is held, so that no other gets its id."""
        self._never_null: Callable[[exp.Column], bool] = lambda _: False

    def trusting(self, never_null: Callable[[exp.Column], bool]) -> Query:
        """This query, in which the columns that `never_null` names hold no NULL."""
        other = copy(self)
        other._never_null = never_null
        return other

    @property
    def all(self) -> Iterator[tuple[str, exp.Select]]:
        """(path, SELECT) of each SELECT; those inside conditions and expressions come under one path for all."""
        yield from self.selects.by_path.items()
        known = {id(select) for select in self.selects.by_path.values()}
        for select in self.selects.tree.find_all(exp.Select):
            if id(select) not in known:
                yield "inside an expression", select

    def sql(self, node: exp.Expr) -> str:
        """`node` in the model's dialect, with the Jinja that stood in it."""
        text = str(node.sql(dialect=self.dialect or None))
        return _PLACEHOLDER.sub(lambda match: self._jinja.get(match.group(), match.group()), text)

    def name(self, column: exp.Column) -> str:
        """A text that is the same for the same column of one SELECT, as the dialect folds names."""
        if id(column) not in self._names:
            select = column.find_ancestor(exp.Select)
            folded = normalize_identifiers(column.copy(), dialect=self.dialect or None)
            self._names[id(column)] = column, f"{table_of(column, select).lower()}.{folded.name}"
        return self._names[id(column)][1]

    def names(self, condition: exp.Expr) -> dict[str, exp.Column]:
        """The columns of `condition` by `name`, those of its subqueries too."""
        if id(condition) not in self._inside:
            columns = {self.name(column): column for column in condition.find_all(exp.Column)}
            self._inside[id(condition)] = condition, columns
        return self._inside[id(condition)][1]

    def logic(self, nulls: frozenset[str] = frozenset()) -> Logic:
        """What conditions of this query come out as when the columns of these names are NULL."""
        return Logic(self.name, nulls, self.gives_no_null)

    def gives_no_null(self, query: exp.Expr) -> bool:
        """Whether a subquery of one column gives no NULL: by its own WHERE or form, or as the facts tell."""
        select = query.unnest() if isinstance(query, exp.Subquery) else query
        if not isinstance(select, exp.Select) or len(select.expressions) != 1 or select.args.get("pivots"):
            return False
        item = select.expressions[0].unalias()
        columns = self.names(item)
        if "N" in self.logic().of(item) or any(isinstance(column.this, exp.Star) for column in columns.values()):
            return False
        asked = self.always_asked(select)
        return all(
            "N" not in self.logic(some).of(item)
            or self.never_true(asked, some, columns)
            or any(self._never_null(columns[name]) for name in some)
            for some in sets_of_nulls(list(columns))
        )

    def never_true(self, conditions: list[exp.Expr], nulls: frozenset[str], decided: Collection[str] = ()) -> bool:
        """Whether one of `conditions` cannot be TRUE when the columns `nulls` are NULL, those else `decided` are not.

        Every other column may be NULL or not.
        """
        return not all(self._can_be_true(condition, nulls, {*decided, *nulls}) for condition in conditions)

    def _can_be_true(self, condition: exp.Expr, nulls: frozenset[str], decided: set[str]) -> bool:
        free = sets_of_nulls([name for name in self.names(condition) if name not in decided])
        return any("T" in self.logic(nulls | some).of(condition) for some in free)

    def always_asked(self, select: exp.Select) -> list[exp.Expr]:
        """The conditions that every row of `select` meets: WHERE, and ON of inner joins where no later one loses it."""
        joins = select.args.get("joins") or []
        found = where_of(select)
        if not any(join_kind(join) in ("right", "full") for join in joins):
            found = found + [part for join in joins if join_kind(join) == "inner" for part in conjuncts(_on(join))]
        return found

    def filters(self, select: exp.Select) -> list[exp.Expr]:
        """The conditions that decide which rows stay: WHERE, HAVING, QUALIFY, and ON of inner and semi joins."""
        joins = select.args.get("joins") or []
        parts = [part for join in joins if join_kind(join) in ("inner", "semi") for part in conjuncts(_on(join))]
        for name in _FILTERS:
            clause = select.args.get(name)
            parts += conjuncts(clause.this) if clause is not None else []
        return parts

    def place(self, node: exp.Expr, said: str = "") -> Place:
        """Where `node` stands, its line told in the model's own text; `said` instead of its SQL."""
        text, lines = said or self.sql(node), self.model.sql.split("\n")
        found = [part.meta["line"] for part in node.walk() if part.meta.get("line")]
        line = int(min(found)) if found else None
        if not self.model.raw or self.model.raw == self.model.sql:
            return Place(line, text)
        compiled = lines[line - 1].strip() if line and line <= len(lines) else ""
        own = [
            number for number, one in enumerate(self.model.raw.split("\n"), 1) if compiled and one.strip() == compiled
        ]
        if len(own) == 1:
            return Place(own[0], text)
        span = locate(self.model.raw, text, self.dialect)
        return Place(self.model.raw.count("\n", 0, span[0]) + 1 if span else None, text)


@lru_cache(maxsize=8)
def read(model: ModelState) -> Query | None:
    """The model's query; None where it is no single query that the dialect knows, or is too large to parse.

    Each side of a change is parsed once for all lints; none changes what it gets.
    """
    sql = without_jinja(model.sql) if "{{" in model.sql or "{%" in model.sql else model.sql
    try:
        tree = selects.parse(sql, model.dialect)
        if tree is None:
            return None
        for call in list(tree.find_all(exp.Anonymous)):
            _spell_out(call)
        return Query(model, selects.without_ephemeral(tree))
    except (RecursionError, ValueError, TypeError, AttributeError, KeyError):
        return None


def brought(
    before: ModelState | None,
    after: ModelState,
    check: Callable[[Query], Iterator[Finding]],
    words: Callable[[str], str] = str,
) -> Iterator[Finding]:
    """What `check` finds in `after` and not, with the same rule and words, in `before`; nothing where SQL is unread.

    `words` makes of the SQL of two findings the same where they are one.
    """
    new, old = read(after), read(before) if before is not None else None
    if new is None:
        return
    known = Counter(_identity(finding, words) for finding in _found(check, old)) if old is not None else Counter()
    for finding in _found(check, new):
        known[_identity(finding, words)] -= 1
        if known[_identity(finding, words)] < 0:
            yield finding


def _found(check: Callable[[Query], Iterator[Finding]], query: Query) -> list[Finding]:
    """What `check` finds before its steps are used up, and then a finding that says so."""
    found: list[Finding] = []
    with counted():
        try:
            found.extend(check(query))
        except UsedUp:
            sentence = f"The conditions of {query.model.name} have too many cases to try: not all were looked at."
            found.append(Finding("could-not-be-read", LOOK, Place(), sentence, (), None, CERTAIN))
    return found


def subtotals(select: exp.Select) -> bool:
    """Whether the grouping itself makes rows with NULL in the columns it groups by (rollup, cube, grouping sets)."""
    group = select.args.get("group")
    return group is not None and group.find(exp.Rollup, exp.Cube, exp.GroupingSets) is not None


def short(text: str) -> str:
    """`text` as a sentence holds it: cut where it is long."""
    return text if len(text) <= MAX_SAID else text[: MAX_SAID - 3] + "..."


def table_of(column: exp.Column, select: exp.Select | None) -> str:
    """The table alias of `column`: its own, or that of the only source of `select`; "" where it cannot be told."""
    sources = sources_of(select) if select is not None else []
    return column.table or (sources[0].alias_or_name if len(sources) == 1 else "")


def _identity(finding: Finding, words: Callable[[str], str]) -> tuple[object, ...]:
    return finding.rule, words(finding.place.text), finding.sentence, finding.evidence


def _on(join: exp.Expr) -> exp.Expr | None:
    found = join.args.get("on")
    return found if isinstance(found, exp.Expr) else None


def _spell_out(call: exp.Expr) -> None:
    """`isnull(x)` and `isnotnull(x)` as `x is null` and its opposite, in place."""
    name, operands = call.name.lower(), call.expressions
    if name not in ("isnull", "isnotnull") or len(operands) != 1:
        return
    asked: exp.Expr = exp.Is(this=operands[0].copy(), expression=exp.null())
    call.replace(exp.Paren(this=exp.Not(this=asked) if name == "isnotnull" else asked))
