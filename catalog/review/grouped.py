"""Changes of what is no table: tests by the table that they judge, macros with the nodes that they change, groups."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping

from catalog.review.case import ADDED, MODIFIED, REMOVED, RENAMED
from catalog.review.estate.names import joined
from catalog.review.estate.reached import each_once
from catalog.review.types import LOOK, SAFE, Change, worst
from catalog.review.words import counted
from catalog.sources.manifest_entry import package_of
from catalog.sources.manifest_types import Manifest, TestNode

ALONE = 10
"""More macros of one package than this are one change: the package has another version."""
_DONE = {ADDED: "new", REMOVED: "removed", MODIFIED: "changed", RENAMED: "renamed"}


def of_tests(
    tests: Iterable[tuple[str, TestNode, tuple[str, ...]]], head: Manifest, rules: Callable[[str], list[str]]
) -> Iterator[Change]:
    """One change for the tests of each table with the same fate; `tests` are (action, test, kinds of change).

    A test that is gone, weaker or of other words is to be looked at; a new one is safe. `rules` gives the sentences of
    the team's rules of a table.
    """
    groups: dict[tuple[str, str], list[tuple[TestNode, tuple[str, ...]]]] = defaultdict(list)
    for action, test, kinds in tests:
        groups[action, test.attached or test.unique_id].append((test, kinds))
    for (action, table), members in sorted(groups.items()):
        first = members[0][0]
        on = head.nodes[table].name if table in head.nodes else table.rpartition(".")[2]
        names = [f"{test.name}({test.column})" if test.column else test.name for test, _ in members]
        name = names[0] if len(members) == 1 else f"{len(members):,} tests of {on}"
        said = f"{counted(len(members), 'test')} of {on} {'is' if len(members) == 1 else 'are'} {_DONE[action]}"
        required = rules(table)
        safe = action in (ADDED, RENAMED)
        why = f"{said}: {joined(names)}." + ("" if safe else " What they kept is no longer sure.")
        yield Change(
            unique_id=first.unique_id,
            name=name,
            resource_type="test",
            action=action,
            verdict=SAFE if safe and not required else LOOK,
            reasons=(why, *required),
            path=first.path,
            kinds=tuple(dict.fromkeys(kind for _, kinds in members for kind in kinds)),
        )


def of_macros(
    macros: Iterable[tuple[str, str, str]], base: Manifest, head: Manifest, changes: Iterable[Change]
) -> Iterator[Change]:
    """The changed macros as (action, id, id before), each with the nodes that changed with it, and their verdict.

    One that no changed node uses is safe, unless dbt may call it by itself.
    """
    by_id = {change.unique_id: change for change in changes}
    callers = _callers(base, head)
    of_dbt = {key.rpartition(".")[2] for manifest in (base, head) for key in manifest.macros if _is_of_dbt(key)}
    groups: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    for action, key, was in macros:
        groups[action, package_of(key)].append((key, was))
    for (action, package), members in sorted(groups.items()):
        for some in [members] if len(members) > ALONE else [[one] for one in members]:
            keys = [key for key, _ in some]
            touched = [by_id[one] for one in sorted(_touched(keys, callers)) if one in by_id]
            short = keys[0].rpartition(".")[2]
            name = short if len(some) == 1 else f"{len(some):,} macros of {package}"
            inner = [one for one in keys if _called_by_dbt(one.rpartition(".")[2], of_dbt)]
            yield _macro_change(name, action, some[0], touched, bool(inner))


def _macro_change(name: str, action: str, one: tuple[str, str], touched: list[Change], inner: bool) -> Change:
    reached: dict[str, int] = defaultdict(int)
    for change in touched:
        reached[change.resource_type] += 1
    names = [change.name for change in touched]
    verdict = worst([*(change.verdict for change in touched), LOOK if inner else SAFE])
    said = (
        f"{counted(len(touched), 'change')} of this review come{'s' if len(touched) == 1 else ''} from it, "
        f"of which the worst is {verdict}: {joined(names)}."
        if touched
        else f"The macro {name} is {_DONE[action]}, and no changed node uses it."
    )
    if inner:
        said += " dbt may call it by itself, for nodes that do not name it."
    return Change(
        unique_id=one[0],
        name=name,
        resource_type="macro",
        action=action,
        verdict=verdict,
        reasons=(said,),
        was=one[1],
        kinds=("body",) if action == MODIFIED else (),
        reached=dict(reached),
        nearest=tuple(names[:ALONE]),
        readers=each_once(change.readers for change in touched),
    )


def of_groups(groups: Iterable[tuple[str, str]]) -> Iterator[Change]:
    """Groups of dbt as (action, id): who owns what, and no data."""
    for action, key in groups:
        name = key.rpartition(".")[2]
        why = f"The group {name} is {_DONE[action]}: it says who owns models, and changes no table."
        yield Change(key, name, "group", action, SAFE, (why,), kinds=("owner",) if action == MODIFIED else ())


def _is_of_dbt(macro: str) -> bool:
    package = package_of(macro)
    return package == "dbt" or (package.startswith("dbt_") and macro.count(".") == 2)


def _called_by_dbt(name: str, of_dbt: set[str]) -> bool:
    """Whether dbt may call a macro of this name for nodes that do not name it: an override or a dispatched one."""
    return "__" in name or name.startswith(("generate_", "materialization_")) or name in of_dbt


def _callers(*manifests: Manifest) -> Mapping[str, set[str]]:
    """Who calls each macro: macros, and nodes by their id."""
    found: dict[str, set[str]] = defaultdict(set)
    for manifest in manifests:
        for macro in manifest.macros.values():
            for called in macro.macros:
                found[called].add(macro.unique_id)
        for node in (*manifest.nodes.values(), *manifest.others.values()):
            for called in node.macros:
                found[called].add(node.unique_id)
    return found


def _touched(macros: Iterable[str], callers: Mapping[str, set[str]]) -> set[str]:
    seen, waiting = set(macros), list(macros)
    while waiting:
        more = [one for one in callers.get(waiting.pop(), ()) if one not in seen]
        seen.update(more)
        waiting.extend(more)
    return seen
