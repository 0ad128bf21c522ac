from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from catalog.names import find_asset
from catalog.services.readers import withdraw
from foundation.audit import Actor
from spellbook.declaring import declare_file
from spellbook.eyes import eyes_of, seen
from spellbook.management import base

USAGE = "Give either a FILE that declares, or --withdraw NAME; --reason goes with --withdraw, --sign-ins with a FILE."


class Command(base.Command):
    help = (
        "Applies a declaration file (YAML): people, domains and who decides there, owners, readers, syncs, notes; or "
        "withdraws a reader or sync that was declared."
    )

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", metavar="FILE", type=Path, nargs="?")
        parser.add_argument("--sign-ins", action="store_true", help="show the passwords of people who are new, once")
        parser.add_argument("--withdraw", metavar="NAME", help="take back what was declared of this reader or sync")
        parser.add_argument("--reason", metavar="TEXT", default="", help="why it is withdrawn; kept in the audit")

    def run(self, actor: Actor, **options: Any) -> base.Answer:
        file, name = options["file"], options["withdraw"]
        if (file is None) == (name is None) or (file and options["reason"]) or (name and options["sign_ins"]):
            raise CommandError(USAGE, returncode=2)
        if name is not None:
            return _withdrawn(name, options["reason"], actor)
        answer = declare_file(file, actor=actor)
        return answer if options["sign_ins"] else {name: said for name, said in answer.items() if name != "sign_ins"}


def _withdrawn(name: str, reason: str, actor: Actor) -> base.Answer:
    """The reader by its full name, and whether a repository or dbt goes on speaking of it."""
    reader = find_asset(name, among=seen(eyes_of(actor)).filter(consumer__isnull=False))
    withdraw(reader, actor=actor, reason=reason)
    reader.consumer.refresh_from_db()
    return {"withdrawn": reader.name, "status": reader.consumer.status}
