"""The command `review`, as `spellbook review` and `manage.py review` have it. No Django, no database."""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from catalog.review.as_document import as_dict
from catalog.review.comment.markdown import render
from catalog.review.types import DANGEROUS, LOOK, VERDICTS
from foundation.errors import BadInput
from spellbook.review_inputs import Asked, Installation, Nowhere, reviewed

HELP: Final = "Says what a change of a dbt project does, from the manifests before and after it. Nothing is stored."
NEVER: Final = "never"
_NOWHERE: Final = Nowhere()


@dataclass(frozen=True)
class Said:
    """What the command prints, and the sentence with which it fails ("" when it does not)."""

    text: str
    failure: str = ""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own arguments."""
    parser.add_argument("base", metavar="BASE", type=Path, help="manifest.json before the change, or its folder")
    parser.add_argument("head", metavar="HEAD", type=Path, help="manifest.json after the change, or its folder")
    parser.add_argument(
        "--declared",
        metavar="FILE",
        type=Path,
        action="append",
        help="readers and owners as YAML; may be repeated; default: spellbook.yml beside dbt_project.yml here",
    )
    parser.add_argument("--catalog", metavar="FILE", type=Path, help="dbt's catalog.json, for the types of columns")
    parser.add_argument(
        "--facts",
        metavar="FILE|URL",
        action="append",
        default=[],
        help="facts of an installation; may be repeated; the token for a URL is read from SPELLBOOK_FACTS_TOKEN",
    )
    parser.add_argument(
        "--facts-optional", action="store_true", help="review without facts that cannot be had, and say so"
    )
    parser.add_argument("--format", choices=["markdown", "json"], default="markdown", help="what is printed")
    parser.add_argument("--json", metavar="FILE", type=Path, help="also write the review as JSON into this file")
    parser.add_argument(
        "--markdown", metavar="FILE", type=Path, help="also write the review as markdown into this file"
    )
    parser.add_argument(
        "--fail-on",
        choices=[DANGEROUS, LOOK, NEVER],
        default=NEVER,
        help="exit with 1 when the verdict is this or worse; default: never",
    )
    parser.add_argument(
        "--at", metavar="TIME", type=moment, help="count the next reads from this ISO time with a zone; default: now"
    )
    parser.add_argument("--link", metavar="URL", default="", help="where the whole review stands, for the markdown")
    parser.add_argument("--compared", metavar="TEXT", default="", help="what was compared, in words, for the review")


def moment(text: str) -> datetime:
    """A time with its zone, for argparse."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text} is not a time as 2026-01-31T02:00:00+00:00") from None
    if found.tzinfo is None:
        raise argparse.ArgumentTypeError(f"{text} has no time zone; add one, as in {text}+00:00")
    return found


def run(options: dict[str, Any], here: Installation = _NOWHERE) -> Said:
    """Review what the parsed `options` name, write the files that they ask for, and say what is printed.

    SpellbookError, with one sentence, for input that cannot be used and a file that cannot be written; then no file is.
    """
    files = {name: options[name] for name in ("json", "markdown") if options[name] is not None}
    if len({path.absolute() for path in files.values()}) < len(files):
        raise BadInput("--json and --markdown name the same file.")
    found = reviewed(_asked(options), here)
    texts = {"json": json.dumps(as_dict(found), indent=2) + "\n", "markdown": render(found, link=options["link"])}
    write_all({path: texts[name] for name, path in files.items()})
    wanted = options["fail_on"]
    failed = wanted != NEVER and VERDICTS.index(found.verdict) >= VERDICTS.index(wanted)
    return Said(texts[options["format"]], f"The verdict is {found.verdict} (--fail-on {wanted})." if failed else "")


def write_all(texts: dict[Path, str]) -> None:
    """Write each text into its file: all, or, with BadInput, none. What stood there before is replaced whole."""
    made: list[tuple[Path, Path]] = []
    path = Path()
    try:
        for path, text in texts.items():
            target = path.resolve()
            if target.exists() and not target.is_file():
                raise BadInput(f"{path} is no file, so that nothing is written there.")
            handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:50]}.")
            made.append((Path(name), target))
            with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
                file.write(text)
            Path(name).chmod(0o644)
        for written, target in made:
            written.replace(target)
    except OSError as error:
        raise BadInput(f"{path} cannot be written: {error.strerror or error}.") from None
    finally:
        for written, _ in made:
            with suppress(OSError):
                written.unlink(missing_ok=True)


def _asked(options: dict[str, Any]) -> Asked:
    return Asked(
        base=options["base"],
        head=options["head"],
        at=options["at"] or datetime.now(UTC),
        declared=options["declared"],
        catalog=options["catalog"],
        facts=options["facts"],
        facts_needed=not options["facts_optional"],
        compared=options["compared"],
    )
