"""What every command shares: one sentence on stderr for a refusal, JSON on request, somebody who acts."""

from __future__ import annotations

import json
import re
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import OperationalError, ProgrammingError

from foundation import people
from foundation.audit import Actor
from foundation.errors import BadInput, SpellbookError
from foundation.models import Person
from spellbook.sentences import sentence

Answer = dict[str, Any]
_FRACTION = re.compile(r"(?<=T\d\d:\d\d:\d\d)\.\d{6}(?=Z)")


class Command(BaseCommand):
    """A command that answers with a dictionary: `run` does the work, `text` says it to people.

    Exit 0: done. Exit 1: refused or failed, with one clear line on stderr. Exit 2: wrong usage (argparse).
    """

    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        shared_arguments(parser)
        self.arguments(parser)

    def arguments(self, parser: CommandParser) -> None:
        """The command's own arguments."""

    def run(self, actor: Actor, **options: Any) -> Answer:
        """Do it, and say what was done as plain JSON."""
        raise NotImplementedError

    def text(self, answer: Answer) -> str:
        """The answer for people; one `name: value` line each unless a command says it better."""
        return "\n".join(f"{name}: {_said(value)}" for name, value in answer.items())

    def handle(self, *args: Any, **options: Any) -> None:
        self.say(refused_in_words(lambda: self.run(actor_of(options["acting"]), **options)), options["format"])

    def say(self, answer: Answer, asked: str) -> None:
        """Write the answer to standard output, as JSON or as text, in which nothing moves the cursor of a terminal."""
        as_json = asked == "json"
        self.stdout.write(json.dumps(answer, sort_keys=True, default=str) if as_json else _still(self.text(answer)))


def _still(text: str) -> str:
    """Text in which names and words from elsewhere hold no escape sequence and no sign that turns the line (D19), and
    no moment has more than whole seconds."""
    text = _FRACTION.sub("", text)
    return "".join(letter if letter.isprintable() or letter in "\n\t" else "\ufffd" for letter in text)


def _said(value: object) -> str:
    """A value for people: a list in one line, names with values one a line, nothing as "none"."""
    if isinstance(value, dict) and value:
        return "".join(f"\n  {name}: {_said(one)}" for name, one in value.items())
    if isinstance(value, (list, tuple)) and value and not any(isinstance(one, (dict, list, tuple)) for one in value):
        return ", ".join(map(_said, value))
    return "none" if value is None or value in ({}, [], ()) else str(value)


def shared_arguments(parser: ArgumentParser, *, default: Any = None) -> None:
    """The options that every command has."""
    parser.add_argument("--format", choices=["text", "json"], default=default or "text", help="json for scripts")
    parser.add_argument(
        "--as", dest="acting", metavar="EMAIL", default=default, help="act as this person; default: the command line"
    )


def refused_in_words(work: Callable[[], Answer]) -> Answer:
    """Run it; a typed refusal becomes the command's one line and exit code 1."""
    try:
        return work()
    except SpellbookError as error:
        raise CommandError(sentence(error)) from None
    except (OperationalError, ProgrammingError) as error:
        first = str(error).strip().partition("\n")[0]
        raise CommandError(f"The database cannot be used ({first}); does `manage.py migrate` say more?") from None


def at_least_one(text: str) -> int:
    """A whole number from 1, for argparse."""
    number = int(text)
    if number < 1:
        raise ArgumentTypeError(f"{text} is not at least 1")
    return number


def actor_of(email: str | None) -> Actor:
    """Who acts on the command line: the person named, or the system principal of the command line."""
    if not email:
        return Actor(people.system("command line"), "cli")
    person = Person.objects.filter(email__iexact=email, is_active=True).select_related("principal").first()
    if person is None:
        raise BadInput(f"No active person has the e-mail {email}.")
    return Actor(person.principal, "cli")
