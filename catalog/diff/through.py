"""From what happens to the rows early in a SELECT, or in what it reads, to what happens to the rows that it writes."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp

from catalog.diff import shape
from catalog.diff.effect import ALL, EXTRA, LOST, Effect, of_distinct, reverse, weaker
from catalog.diff.joins import join_kind
from catalog.diff.ranks import through_fixed_rank
from catalog.diff.row_set_types import CAN_MULTIPLY, SAME_ROWS, UNKNOWN
from catalog.diff.scopes import Scopes
from catalog.diff.selects import sources_of, where_of
from catalog.diff.shape import Shape
from catalog.diff.stages import Stage


def through_limit(query: exp.Expr, effect: Effect) -> Effect:
    """The effect behind the LIMIT and OFFSET of `query`: fewer rows in are never more rows out, but which is open."""
    limit, offset = query.args.get("limit"), query.args.get("offset")
    if not effect or not (limit or offset):
        return effect
    if limit is not None and (limit.args.get("limit_options") or limit.args.get("expressions")):
        return LOST
    return Effect(weaker(effect.direction), frozenset({ALL}))


_KINDS = ("inner", "cross", "left", "right", "full", "semi", "anti")


@dataclass(frozen=True)
class _Rows:
    """An effect on its way; `counts` says that aggregates see another number of rows."""

    effect: Effect
    counts: bool = False


class Inside:
    """One SELECT of a query, through whose clauses effects pass."""

    def __init__(self, scopes: Scopes, path: str) -> None:
        self.scopes, self.path = scopes, path
        self.select = scopes.query.by_path[path]
        self.shape = scopes.shape(path)
        self.sources = sources_of(self.select)
        self.names = {source.alias_or_name.lower() for source in self.sources}

    def from_source(self, place: int, effect: Effect) -> Effect:
        """What an effect on the rows of the source at `place` does to the rows that the SELECT writes."""
        source, alias = self.sources[place], self.sources[place].alias_or_name.lower()
        odd = source.args.get("pivots") or source.args.get("sample") or not alias
        if odd or self.shape is Shape.ODD:
            return LOST
        renamed = self.scopes.sources(self.path)[place] in self.scopes.query.columns
        if renamed or (isinstance(source, exp.Table | exp.Subquery) and source.alias_column_names):
            effect = replace(effect, columns=frozenset({ALL}) if effect.columns else effect.columns)
        inside = Effect(effect.direction, frozenset(f"{alias}.{name}" for name in effect.columns))
        ranked = through_fixed_rank(self.scopes, self.path, place, inside, dict(effect.ranks))
        if ranked is not None:
            return self.onward(ranked, Stage.GROUP)
        for join in self.select.args.get("joins") or ():
            inside = self._through_join(join, inside, own=join.this is source)
        if any(self.touches(lateral, inside) for lateral in self.select.args.get("laterals") or ()):
            return LOST
        return self.onward(inside, Stage.WHERE)

    def onward(self, effect: Effect, stage: Stage, alias: str = "") -> Effect:
        """What an effect that `stage` is the first to see does to the rows that the SELECT writes.

        Where it begins among the joins, `alias` is the joined relation that it comes from.
        """
        if stage is Stage.JOINS:
            for join in self.select.args.get("joins") or ():
                if join.this.alias_or_name.lower() != alias.lower():
                    effect = self._through_join(join, effect, own=False)
        if not effect or effect.direction == UNKNOWN or (self.shape is Shape.ODD and stage < Stage.DISTINCT):
            return effect if not effect else LOST
        ranks = effect.ranks
        if stage <= Stage.WHERE and any(self.touches(part, effect) for part in where_of(self.select)):
            return LOST
        rows = self._grouped(effect) if stage <= Stage.GROUP else _Rows(effect)
        if stage <= Stage.HAVING:
            rows = self._having(rows)
        if stage <= Stage.QUALIFY:
            rows = self._qualified(rows)
        effect = self._listed(rows) if stage <= Stage.LIST else rows.effect
        if stage <= Stage.DISTINCT:
            effect = self._distinct(effect)
        effect = through_limit(self.select, effect)
        return replace(effect, ranks=ranks) if ranks else effect

    def items_of(self, alias: str) -> frozenset[str]:
        """The names of the items of the select list that read the relation `alias`."""
        return self._listed(_Rows(Effect(columns=frozenset({f"{alias.lower()}.{ALL}"})))).columns

    def touches(self, node: exp.Expr | None, effect: Effect) -> bool:
        """Whether `node` reads a column whose values may be others."""
        if node is None or not effect.columns:
            return False
        for star in node.find_all(exp.Star):
            if not isinstance(star.parent, exp.Count):
                return True
        return any(self._is_among(column, effect.columns) for column in node.find_all(exp.Column))

    def _is_among(self, column: exp.Column, changed: frozenset[str]) -> bool:
        name, table = column.name.lower(), column.table.lower()
        for item in changed:
            alias, _, other = item.rpartition(".")
            if table in self.names and alias != table:
                continue
            fields = {part.name.lower() for part in column.parts}
            if other in (ALL, name) or (table not in self.names and other in fields):
                return True
        return False

    def _through_join(self, join: exp.Join, effect: Effect, *, own: bool) -> Effect:
        kind = join_kind(join)
        hidden = join.method and (own or effect.columns)  # natural and asof joins compare or choose by hidden columns
        if effect.direction == UNKNOWN or hidden or kind not in _KINDS:
            return LOST
        using = {item.name.lower() for item in join.args.get("using") or ()}
        reads = self.touches(join.args.get("on"), effect) or (not own and self._correlates(join.this, effect))
        if reads or any(item.rpartition(".")[2] in (ALL, *using) for item in effect.columns if using):
            return LOST
        if kind in ("semi", "anti") and own:
            direction = of_distinct(effect.direction)
            return Effect(reverse(direction) if kind == "anti" else direction)
        if kind in ("right", "full") and effect.direction != SAME_ROWS:
            return LOST
        if kind == "left" and own and effect.direction not in (SAME_ROWS, CAN_MULTIPLY):
            columns = frozenset({f"{join.this.alias_or_name.lower()}.{ALL}"})
            return Effect(weaker(effect.direction), effect.columns | columns)
        return effect

    def _correlates(self, source: exp.Expr, effect: Effect) -> bool:
        plain = isinstance(source, exp.Table) or (isinstance(source, exp.Subquery) and not source.find(exp.Unnest))
        return not plain and self.touches(source, effect)

    def _grouped(self, effect: Effect) -> _Rows:
        counts = effect.direction != SAME_ROWS
        if self.shape is Shape.ONE:
            return _Rows(Effect(SAME_ROWS, effect.columns), counts)
        if self.shape is not Shape.GROUPS:
            return _Rows(effect)
        if any(self.touches(part, effect) for part in shape.group_keys(self.select)):
            return _Rows(LOST)
        return _Rows(Effect(of_distinct(effect.direction), effect.columns), counts)

    def _having(self, rows: _Rows) -> _Rows:
        having = self.select.args.get("having")
        if having is None:
            return rows
        condition = shape.with_aliases_in_full(having.this, self.select)
        return _Rows(LOST) if self._sees(condition, rows) else rows

    def _qualified(self, rows: _Rows) -> _Rows:
        qualify, distinct = self.select.args.get("qualify"), self.select.args.get("distinct")
        if qualify is not None:
            rows = self._through_qualify(shape.with_aliases_in_full(qualify.this, self.select), rows)
        if distinct is not None and distinct.args.get("on") is not None and rows.effect.direction != UNKNOWN:
            keys = [shape.in_full(part, self.select) for part in distinct.args["on"].expressions]
            rows = self._one_for_each(keys, rows, of_distinct(rows.effect.direction))
        return rows

    def _through_qualify(self, condition: exp.Expr, rows: _Rows) -> _Rows:
        ranked = shape.fixed_rank(condition)
        if ranked is None:
            seen = rows.effect.direction != SAME_ROWS or self._sees(condition, rows)
            return _Rows(LOST) if seen else rows
        window, _, rank, single = ranked
        if rows.effect.direction == SAME_ROWS and not self._sees(condition, rows):
            return rows
        direction = rows.effect.direction
        kept = of_distinct(direction) if single and rank == 1 else weaker(direction)
        return self._one_for_each(shape.partition_of(window), rows, kept)

    def _one_for_each(self, keys: list[exp.Expr], rows: _Rows, direction: str) -> _Rows:
        if any(self._sees(part, rows) for part in keys):
            return _Rows(LOST)
        return _Rows(Effect(direction, frozenset(f"{name}.{ALL}" for name in self.names)), rows.counts)

    def _sees(self, node: exp.Expr, rows: _Rows) -> bool:
        """Whether the value of `node` may be another: by its columns, or because it counts rows."""
        numbers = rows.effect.direction != SAME_ROWS and node.find(exp.Window) is not None
        counted = rows.counts and node.find(*shape.COUNTS_ROWS, exp.Anonymous) is not None
        return numbers or counted or self.touches(node, rows.effect)

    def _listed(self, rows: _Rows) -> Effect:
        if rows.effect.direction == UNKNOWN:
            return LOST
        changed: set[str] = set()
        for item in self.select.expressions:
            if item.is_star and not shape.folds(item):
                changed |= self._through_star(item, rows.effect)
            elif self._sees(item, rows):
                reads = self.touches(item, rows.effect) or shape.folds(item)
                if item.find(*shape.MULTIPLIES_ROWS) or (reads and item.find(exp.Anonymous)):
                    return LOST
                changed.add(item.alias_or_name.lower() or ALL)
        return Effect(rows.effect.direction, shape.with_readers(self.select, changed))

    def _through_star(self, item: exp.Expr, effect: Effect) -> set[str]:
        table = item.table.lower() if isinstance(item, exp.Column) else ""
        passed = {name.rpartition(".")[2] for name in effect.columns if not table or name.startswith(f"{table}.")}
        star = item.this if isinstance(item, exp.Column) else item
        rewritten = star.args.get("replace") or star.args.get("rename")
        return {ALL} if passed - {EXTRA} and rewritten else passed

    def _distinct(self, effect: Effect) -> Effect:
        distinct = self.select.args.get("distinct")
        if distinct is None or distinct.args.get("on") is not None or not effect:
            return effect
        return LOST if effect.columns else Effect(of_distinct(effect.direction))
