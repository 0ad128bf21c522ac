"""Names that a change gave to the same things: the query before it is rewritten in the words of the one after it."""

from __future__ import annotations

from sqlglot import exp

from catalog.diff.same import key
from catalog.diff.selects import Selects, hollow, sources_of


def in_the_words_of(before: exp.Expr, head: Selects, dialect: str) -> exp.Expr:
    """`before` (changed in place) with the CTE names, the table aliases and the last `select *` that `head` has."""
    before = _same_last_select(before, head.tree)
    _same_cte_names(before, head.tree, dialect)
    for path, select in Selects(before, head).by_path.items():
        if path in head.by_path:
            _same_aliases(select, head.by_path[path], dialect)
    return before


def _ctes(tree: exp.Expr) -> dict[str, exp.CTE]:
    with_ = tree.args.get("with_")
    return {cte.alias.lower(): cte for cte in (with_.expressions if with_ is not None else ())}


def _passes_on(tree: exp.Expr) -> str:
    """The CTE of which `tree` is `select * from it` and nothing else; "" otherwise."""
    if not isinstance(tree, exp.Select) or {name for name, value in tree.args.items() if value} - {
        "with_", "expressions", "from_",
    }:  # fmt: skip
        return ""
    source = tree.args["from_"].this if tree.args.get("from_") else None
    bare = (
        len(tree.expressions) == 1
        and isinstance(tree.expressions[0], exp.Star)
        and not tree.expressions[0].args.get("except_")
    )
    simple = isinstance(source, exp.Table) and not source.db and not any(
        source.args.get(name) for name in ("pivots", "sample", "joins", "laterals")
    )  # fmt: skip
    if not bare or not simple or source is None or any(tree.expressions[0].args.values()):
        return ""
    name = source.name.lower()
    ctes = list(_ctes(tree))
    return name if ctes and ctes[-1] == name else ""


def _same_last_select(before: exp.Expr, after: exp.Expr) -> exp.Expr:
    """A CTE that `select * from it` ends with is put in, or taken out, as `after` has it."""
    names = _passes_on(before), _passes_on(after)
    if names[0] and not names[1] and names[0] not in _ctes(after):
        with_ = before.args["with_"]
        last = with_.expressions[-1]
        body = last.this
        if isinstance(body, exp.Select | exp.SetOperation) and body.args.get("with_") is None:
            last.pop()
            body.pop()
            if with_.expressions:
                body.set("with_", with_.pop())
            return body
    if names[1] and not names[0] and names[1] not in _ctes(before) and isinstance(before, exp.Select):
        with_ = before.args.get("with_")
        with_ = with_.pop() if with_ is not None else exp.With(expressions=[])
        with_.append("expressions", exp.CTE(this=before, alias=exp.TableAlias(this=exp.to_identifier(names[1]))))
        outer = exp.select("*").from_(exp.to_table(names[1]))
        outer.set("with_", with_)
        return outer
    return before


def _same_cte_names(before: exp.Expr, after: exp.Expr, dialect: str) -> None:
    """A CTE of which only the name is another takes the new one wherever it is read."""
    old, new = _ctes(before), _ctes(after)
    if old.keys() <= new.keys():
        return
    read = {table.name.lower() for table in before.find_all(exp.Table) if not table.db}
    for name, cte in old.items():
        if name in new:
            continue
        body = key(cte.this, dialect)
        twin = next(
            (other for other in new if other not in {*old, *read} and key(new[other].this, dialect) == body), None
        )
        if twin is None:
            continue
        earlier = list(old.values())[: list(old).index(name) + 1]
        outside = {id(table) for known in earlier for table in known.find_all(exp.Table)}
        for table in list(before.find_all(exp.Table)):
            if table.name.lower() == name and not table.db and id(table) not in outside:
                alias = table.alias
                table.this.replace(new[twin].args["alias"].this.copy())
                if not alias:
                    _rename_columns(table.find_ancestor(exp.Select), name, new[twin].args["alias"].this)
        cte.args["alias"].set("this", new[twin].args["alias"].this.copy())


def _same_aliases(old: exp.Select, new: exp.Select, dialect: str) -> None:
    """A source of which only the alias is another takes the new one in the conditions and the list of its SELECT."""
    olds, news = sources_of(old), sources_of(new)
    names = {source.alias_or_name.lower() for source in news}, {source.alias_or_name.lower() for source in olds}
    for source in olds:
        if source.alias_or_name.lower() in names[0] or not source.alias_or_name:
            continue
        twins = [
            other
            for other in news
            if other.alias_or_name.lower() not in names[1]
            and key(hollow(other), dialect) == key(hollow(source), dialect)
        ]
        if (
            len(twins) != 1
            or len([item for item in olds if key(hollow(item), dialect) == key(hollow(source), dialect)]) != 1
        ):
            continue
        used = [node.alias_or_name.lower() for node in old.find_all(exp.Table, exp.Subquery) if node is not source]
        if {source.alias_or_name.lower(), twins[0].alias_or_name.lower()} & set(used):
            continue
        twin = exp.to_identifier(twins[0].alias_or_name)
        _rename_columns(old, source.alias_or_name, twin)
        source.set("alias", exp.TableAlias(this=twin.copy()))


def _rename_columns(select: exp.Expr | None, name: str, new: exp.Expr) -> None:
    if select is None:
        return
    for column in list(select.find_all(exp.Column)):
        if column.table.lower() == name.lower():
            column.set("table", new.copy())
