from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from foundation.audit import Actor
from spellbook.declaring import declare_file
from spellbook.management import base


class Command(base.Command):
    help = "Applies a declaration file (YAML): people, domains and who decides there, owners, readers, syncs, notes."

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", metavar="FILE", type=Path)
        parser.add_argument("--sign-ins", action="store_true", help="show the passwords of people who are new, once")

    def run(self, actor: Actor, **options: Any) -> base.Answer:
        answer = declare_file(options["file"], actor=actor)
        return answer if options["sign_ins"] else {name: said for name, said in answer.items() if name != "sign_ins"}
