from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from catalog.diff.manifests import Modified, diff
from catalog.sources import manifest
from catalog.sources.manifest_types import Manifest
from foundation.errors import BadInput
from spellbook.management import base


class Command(base.Command):
    help = "Says what changed between two dbt manifests, and what it may do to the rows. Nothing is stored."

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("base", metavar="BASE", type=Path)
        parser.add_argument("head", metavar="HEAD", type=Path)

    def handle(self, *args: Any, **options: Any) -> None:
        # Nobody acts and nothing is kept, so this works without a database as well.
        self.say(base.refused_in_words(lambda: difference(options["base"], options["head"])), options["format"])

    def text(self, answer: base.Answer) -> str:
        lines = []
        for one in answer["modified"]:
            lines.append(f"modified {one['unique_id']}: {', '.join(one['changes'])}")
            lines += [f"  {_row_set(change)}" for change in one["row_set"]]
        lines += [f"{word} {key}" for word in ("added", "removed") for key in answer[word]]
        lines += [f"renamed {one['before']} to {one['after']}" for one in answer["renamed"]]
        lines += [f"note: {note}" for note in answer["notes"]]
        lines.append(f"{len(answer['downstream'])} nodes are changed, new or downstream of these")
        return "\n".join(lines)


def difference(before: Path, after: Path) -> base.Answer:
    """What changed from the manifest at `before` to that at `after`, as plain JSON.

    BadInput, with the side and the path, for an unusable file.
    """
    found = diff(_read("base", before), _read("head", after))
    return {
        "modified": [_modified(one) for one in found.modified],
        "added": list(found.added),
        "removed": list(found.removed),
        "renamed": [asdict(one) for one in found.renamed],
        "downstream": list(found.downstream),
        "macros": list(found.macros),
        "notes": list(found.notes),
    }


def _read(side: str, path: Path) -> Manifest:
    try:
        return manifest.read_file(path)
    except BadInput as error:
        where = side if str(path) in str(error) else f"{side} {path}"
        raise BadInput(f"{where}: {error}") from error


def _modified(one: Modified) -> dict[str, Any]:
    return {"unique_id": one.unique_id, "changes": list(one.changes), "row_set": [asdict(row) for row in one.row_set]}


def _row_set(change: dict[str, Any]) -> str:
    what = change["predicate"] or change["relation"] or change["note"]
    return f"{change['kind']} ({change['direction']}): {what}".rstrip(": ")
