from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from foundation.audit import Actor
from foundation.errors import BadInput, Busy, SpellbookError, Unavailable
from spellbook.judging import record_named
from spellbook.management import base
from spellbook.sentences import sentence


class Command(base.Command):
    help = (
        "Records a value of an asset's metric (ASSET METRIC VALUE), or a file of them (--file, one JSON object a line)."
    )

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("asset", nargs="?", metavar="ASSET")
        parser.add_argument("metric", nargs="?", metavar="METRIC")
        parser.add_argument("value", nargs="?", metavar="VALUE")
        parser.add_argument("--at", metavar="T", help="RFC 3339 with a zone; default: now")
        parser.add_argument("--build", metavar="ID", help="the build that the value belongs to")
        parser.add_argument("--file", metavar="VALUES.jsonl", type=Path)

    def handle(self, *args: Any, **options: Any) -> None:
        if options["file"] is None:
            super().handle(*args, **options)
            return
        if options["asset"] is not None:
            raise CommandError("Give either ASSET METRIC VALUE or --file, not both.", returncode=2)
        told = base.refused_in_words(lambda: self._each(base.actor_of(options["acting"]), options))
        if told["refused"]:
            raise CommandError(f"{told['refused']} of {told['lines']} lines were refused; the others are recorded.")

    def _each(self, actor: Actor, options: dict[str, Any]) -> base.Answer:
        """One verdict a line, as it comes; a line that cannot be used says why and does not stop the others."""
        lines = refused = 0
        for number, line in _lines(options["file"]):
            lines += 1
            try:
                answer = _one(actor, **_values(line))
            except (Busy, Unavailable):
                raise
            except SpellbookError as error:
                refused += 1
                answer = {"line": number, "error": error.code, "message": sentence(error)}
            self.say(answer, options["format"])
        return {"lines": lines, "refused": refused}

    def run(self, actor: Actor, **options: Any) -> base.Answer:
        if not options["asset"] or not options["metric"] or options["value"] is None:
            raise CommandError("Give ASSET METRIC VALUE, or --file VALUES.jsonl.", returncode=2)
        names = ("asset", "metric", "value", "at", "build")
        return _one(actor, **{name: options[name] for name in names})

    def text(self, answer: base.Answer) -> str:
        if "error" in answer:
            return f"line {answer['line']}: {answer['message']}"
        band = f" ({answer['low']} to {answer['high']})" if answer["low"] is not None else ""
        reason = f": {answer['reason']}" if answer["reason"] else ""
        incident = f", {answer['incident']}" if answer["incident"] else ""
        verdict = answer["verdict"].replace("_", " ")
        return f"{answer['asset']} {answer['metric']} {answer['value']} {verdict}{band}{reason}{incident}"


def _one(actor: Actor, *, asset: Any, metric: Any, value: Any, at: Any = None, build: Any = None) -> base.Answer:
    named = str(build) if build else None
    return record_named(str(asset), str(metric), value, actor=actor, at=_moment(at), build=named)


def _moment(text: Any) -> datetime | None:
    if text is None:
        return None
    try:
        return datetime.fromisoformat(str(text))
    except ValueError:
        raise BadInput(f"{str(text)[:60]!r} is not a time such as 2026-09-29T01:12:00-04:00.") from None


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines that are not blank, with their numbers."""
    try:
        with path.open(encoding="utf-8") as file:
            yield from ((number, line) for number, line in enumerate(file, 1) if line.strip())
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise BadInput(f"{path} is not UTF-8.") from None


def _values(line: str) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        raise BadInput("The line is not JSON.") from None
    names = {"asset", "metric", "value", "at", "build"}
    if not isinstance(found, dict) or not {"asset", "metric", "value"} <= set(found) <= names:
        raise BadInput("A line needs asset, metric and value, and may have at and build.")
    return found
