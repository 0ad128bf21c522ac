"""The review of a change before it is merged: `review`, the only door of this package's engine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from catalog.diff.manifests import ManifestDiff, diff
from catalog.review import grouped
from catalog.review.case import ADDED, MODIFIED, REMOVED, RENAMED, Case
from catalog.review.cases import Cases
from catalog.review.checks import Checks
from catalog.review.people import whom_to_ask
from catalog.review.policy import Rules
from catalog.review.safely import safely
from catalog.review.summing_up import FEW, first_reasons, gravest_first, require_zone, summed_up
from catalog.review.types import LOOK, SAFE, Change, Knowledge, Policy, Review, worst
from catalog.review.verdict import Context, reasons
from catalog.review.words import counted
from catalog.sources.manifest_types import Manifest, Node, TestNode
from foundation.errors import BadInput

_NOBODY = Policy()


def review(
    base: Manifest,
    head: Manifest,
    knowledge: Knowledge,
    policy: Policy = _NOBODY,
    *,
    at: datetime,
    compared: str = "",
) -> Review:
    """What the change from `base` to `head` does, to whom and when, and why it is safe, to be looked at or dangerous.

    `at` (aware) is the moment from which next reads are counted; `compared` says in a sentence what was compared. What
    could not be told is in the notes, and is never safe. BadInput when `base` is of another project, when `at` has no
    zone, and for a file that is nested too deep; nothing else is raised.
    """
    require_zone(at)
    _require_one_project(base, head)
    return _Review(base, head, knowledge, policy, at).result(compared)


def _require_one_project(base: Manifest, head: Manifest) -> None:
    shared = base.nodes.keys() & head.nodes.keys()
    if base.project and head.project and base.project != head.project and not shared:
        raise BadInput(
            f"The base is a manifest of the project {base.project}, the head one of {head.project}: give two builds of "
            "one project."
        )


class _Review:
    """One review on its way."""

    def __init__(self, base: Manifest, head: Manifest, knowledge: Knowledge, policy: Policy, at: datetime) -> None:
        self.base, self.head, self.knowledge, self.at = base, head, knowledge, at
        self.difference: ManifestDiff = diff(base, head)
        self.cases = Cases(base, head, knowledge, at, self.difference)
        self.rules = Rules(policy, self.cases.estate.names.find)
        self.checks = Checks(self.cases.estate, self.cases.facts, head)
        self.context = Context(at, bool(knowledge.sources))

    def result(self, compared: str) -> Review:
        changes = [self._change(case) for case in self._node_cases()]
        changes += grouped.of_tests(self._tests(), self.head, self._rules_of_table)
        changes += grouped.of_macros(self._macros(), self.base, self.head, changes)
        changes += grouped.of_groups(self._groups())
        required = self.rules.required()
        ordered = gravest_first(changes)
        verdict = worst([*(change.verdict for change in ordered), LOOK if required else SAFE])
        return summed_up(
            ordered,
            self.knowledge,
            verdict=verdict,
            reasons=_summary(ordered, required, verdict),
            required=required,
            notes=self._notes(),
            compared=compared or _compared(self.base, self.head),
            at=self.at,
        )

    def _change(self, case: Case) -> Change:
        found = reasons(case, self.context)
        if case.action == MODIFIED and all(one == SAFE for one, _ in found):
            case.reaches_nothing()
        own = {place for key in (case.unique_id, case.was) if (place := self.cases.estate.place(key)) is not None}
        touched = self.rules.touched(own | case.reader_places)
        found += [(LOOK, sentence) for sentence in touched]
        verdict = worst([one for one, _ in found])
        node = case.node
        after = case.sides.after if case.sides is not None and case.action != REMOVED else None
        return Change(
            unique_id=case.unique_id,
            name=node.name,
            resource_type=node.resource_type,
            action=case.action,
            verdict=verdict,
            reasons=tuple(sentence for one, sentence in found if one != SAFE or verdict == SAFE),
            path=node.path,
            was=case.was,
            kinds=case.kinds,
            row_set=case.row_set,
            direction=case.direction,
            findings=case.findings,
            only_columns=case.only_columns,
            reached=case.reached,
            nearest=case.nearest,
            readers=case.readers,
            people=whom_to_ask(case.vertex, case.readers, self.knowledge.domains) if verdict != SAFE else (),
            checks=safely(lambda: self.checks.of(node.name, after, case.findings, case.direction), ())
            if verdict != SAFE
            else (),
        )

    def _rules_of_table(self, unique_id: str) -> list[str]:
        """A sentence for each rule of the table with this id, of which a test changed."""
        place = self.cases.estate.place(unique_id)
        return self.rules.touched([] if place is None else [place])

    def _node_cases(self) -> Iterator[Case]:
        """A case for each changed node that is no test and no macro."""
        renamed = self._renamed()
        for one in self.difference.modified:
            if self._node(one.unique_id):
                yield self.cases.modified(one.unique_id, one.changes, one.row_set)
        for was, key in renamed.items():
            if self._node(key):
                yield self.cases.renamed(was, key)
        for key in self.difference.added:
            if self._node(key) and key not in renamed.values():
                yield self.cases.added(key)
        for key in self.difference.removed:
            if self._node(key) and key not in renamed:
                yield self.cases.removed(key)

    def _renamed(self) -> dict[str, str]:
        return {one.before: one.after for one in self.difference.renamed}

    def _node(self, key: str) -> Node | None:
        return next((some[key] for manifest in (self.head, self.base) for some in (manifest.nodes, manifest.others)
                     if key in some), None)  # fmt: skip

    def _actions(self) -> Iterator[tuple[str, str, str, tuple[str, ...]]]:
        """(action, id, id before, kinds) of every entry."""
        renamed = self._renamed()
        before = {after: was for was, after in renamed.items()}
        yield from ((MODIFIED, one.unique_id, "", one.changes) for one in self.difference.modified)
        yield from (
            (RENAMED if key in before else ADDED, key, before.get(key, ""), ()) for key in self.difference.added
        )
        yield from ((REMOVED, key, "", ()) for key in self.difference.removed if key not in renamed)

    def _tests(self) -> Iterator[tuple[str, TestNode, tuple[str, ...]]]:
        tests = {test.unique_id: test for manifest in (self.base, self.head) for test in manifest.tests}
        return ((action, tests[key], kinds) for action, key, _, kinds in self._actions() if key in tests)

    def _macros(self) -> Iterator[tuple[str, str, str]]:
        macros = {*self.base.macros, *self.head.macros}
        return ((action, key, was) for action, key, was, _ in self._actions() if key in macros)

    def _groups(self) -> Iterator[tuple[str, str]]:
        return ((action, key) for action, key, _, _ in self._actions() if key.startswith("group."))

    def _notes(self) -> Iterator[str]:
        yield from self.difference.notes
        if not self.context.readers_known:
            yield "nothing told of readers: who reads the tables is not known"
        yield from self.knowledge.problems
        yield from self.cases.notes()
        yield from self.rules.notes


def _summary(changes: Sequence[Change], required: tuple[str, ...], verdict: str) -> Iterator[str]:
    """Why the whole is what it is: the first reason of each of the gravest changes; of a single one the first few."""
    if not changes:
        yield "Nothing changed between the two manifests."
    gravest = [change for change in changes if change.verdict == verdict]
    if verdict == SAFE:
        yield from (f"{counted(len(changes), 'change')}, each of which is safe.",) if changes else ()
        return
    yield from first_reasons(gravest, verdict, FEW if len(gravest) == 1 else 1, "change")
    yield from required


def _compared(base: Manifest, head: Manifest) -> str:
    return f"Compared the head ({_said(head)}) with the base ({_said(base)})."


def _said(manifest: Manifest) -> str:
    written = f", written {manifest.generated_at}" if manifest.generated_at else ""
    return (manifest.project or "a project without a name") + written
