"""What a comparison of two manifests could not tell, or what looks wrong with the two files: one sentence each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from catalog.diff.macros import ChangedMacros
from catalog.diff.written import Terms
from catalog.sources.manifest_types import Manifest, Node

MANY = 1000
"""Beyond so many changed nodes a reader is told that this is hardly one change."""
_SHOWN = 3
_VARIABLE = re.compile(r"\b(?:var|env_var)\s*\(")
_TARGET = re.compile(r"\btarget\b|\benv_var\s*\(")


def notes(base: Manifest, head: Manifest, terms: Terms, macros: ChangedMacros) -> Iterator[str]:
    """What can be said before anything is compared."""
    yield from _wrong_pair(base, head)
    if base.dbt_version and head.dbt_version and not terms.same_dbt:
        yield (
            f"dbt {base.dbt_version} wrote the base and {head.dbt_version} the head; what is written in other words "
            "by another version is compared by what it says"
        )
    if not terms.same_metrics:
        yield "dbt 1.6 replaced how metrics are defined, so the formulas of metrics could not be compared"
    if not macros.known and (base.macros or head.macros):
        yield "one manifest holds no macros, so changed macros could not be told"
    if macros.of_dbt:
        yield (
            f"{_count(macros.of_dbt, 'macro')} of dbt itself or of its adapter differ, because their version does; "
            "what calls them is not called changed"
        )
    if terms.moved:
        yield "the builds wrote to different places; sources that moved with them are not called changed"
    if _rendered_only(base) or _rendered_only(head):
        yield "one writer leaves out the configuration as written, so only part of the configuration was compared"
    yield from _read_in_part("base", base)
    yield from _read_in_part("head", head)
    yield from _unread_seeds(base, head)
    yield from _unseen_variables(base, head)


def later_notes(
    head: Manifest, removed: Sequence[str], changed: int, compiled: Iterable[str], moved: bool
) -> Iterator[str]:
    """What can be said of the answer: disabled nodes, a target that may be the reason, a diff too big to be one."""
    off = [key for key in removed if key in head.disabled]
    if off:
        yield f"{_named(off)} {'is' if len(off) == 1 else 'are'} disabled in the head, and therefore called removed"
    by_target = [key for key in compiled if moved and _TARGET.search(_code(head.nodes.get(key)))]
    if by_target:
        yield (
            f"{_named(by_target)} reads target or env_var, and the builds have different targets: "
            "the other SQL may come from there and not from a change"
        )
    if changed >= MANY:
        yield f"{changed:,} nodes changed or are new: look whether the base is the manifest that you meant"


def _wrong_pair(base: Manifest, head: Manifest) -> Iterator[str]:
    if base.project and head.project and base.project != head.project:
        yield f"the manifests are of two projects, {base.project} (base) and {head.project} (head)"
    elif base.nodes and head.nodes and not base.nodes.keys() & head.nodes.keys():
        yield "the manifests have no node in common: look whether the base is of the same project"
    if base.invocation_id and base.invocation_id == head.invocation_id:
        yield "both manifests are of one run of dbt, so nothing can have changed between them"
    elif base.generated_at and head.generated_at and base.generated_at > head.generated_at:
        yield (
            f"the base was written at {base.generated_at}, after the head at {head.generated_at}: "
            "if they are exchanged, added reads removed"
        )


def _read_in_part(side: str, manifest: Manifest) -> Iterator[str]:
    """An entry that could not be read looks as if it were removed, or new."""
    for warning in manifest.warnings:
        if not warning.node:
            yield f"{side}: {warning.reason}"
    lost = [one.node or "an entry without an id" for one in manifest.warnings if one.reason.startswith("the entry")]
    if lost:
        yield f"{side}: {_named(lost)} could not be read and was left out, and may look removed or new"


def _rendered_only(manifest: Manifest) -> bool:
    return any(node.resource_type == "model" and node.unrendered_config is None for node in _described(manifest))


def _unread_seeds(base: Manifest, head: Manifest) -> Iterator[str]:
    both = (head.nodes[key] for key in base.nodes.keys() & head.nodes.keys())
    unread = sorted(one.unique_id for one in both if one.resource_type == "seed" and not one.checksum)
    if unread:
        yield f"dbt reads no content of a seed over 1 MiB, so a change in {_named(unread)} could not be seen"


def _unseen_variables(base: Manifest, head: Manifest) -> Iterator[str]:
    unseen = [
        node.unique_id
        for node in _described(head)
        if node.resource_type in ("model", "snapshot")
        and not (node.compiled_code and _compiled(base.nodes, node.unique_id))
        and _VARIABLE.search(node.raw_code)
    ]
    if unseen:
        yield (
            f"not both manifests hold the compiled SQL of {_named(sorted(unseen))}, where variables are read: "
            "another value could not be seen"
        )


def _described(manifest: Manifest) -> Iterator[Node]:
    return (node for node in manifest.nodes.values() if not node.external)


def _compiled(nodes: Mapping[str, Node], key: str) -> bool:
    """Whether the node is compiled there; one that is not there cannot be another."""
    return key not in nodes or bool(nodes[key].compiled_code)


def _code(node: Node | None) -> str:
    return node.raw_code if node else ""


def _named(keys: Sequence[str]) -> str:
    more = len(keys) - _SHOWN
    return ", ".join(keys[:_SHOWN]) + (f" and {more:,} more" if more > 0 else "")


def _count(things: Sequence[str], word: str) -> str:
    return f"{len(things):,} {word}{'' if len(things) == 1 else 's'}"
