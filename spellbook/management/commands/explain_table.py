from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from foundation.audit import Actor
from spellbook import asking, explain_text
from spellbook.management import base


class Command(base.Command):
    help = "Says everything that is known of one table, and what is not known yet."

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("asset", metavar="ASSET")

    def run(self, actor: Actor, **options: Any) -> base.Answer:
        return asking.explained(options["asset"], actor=actor)

    def text(self, answer: base.Answer) -> str:
        return explain_text.text(answer)
