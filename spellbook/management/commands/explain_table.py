from __future__ import annotations

import json
from typing import Any

from django.core.management.base import CommandParser

from foundation.audit import Actor
from spellbook import asking
from spellbook.management import base


class Command(base.Command):
    help = "Says everything that is known of one table, and what is not known yet."

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("asset", metavar="ASSET")

    def run(self, actor: Actor, **options: Any) -> base.Answer:
        return asking.explained(options["asset"], actor=actor)

    def text(self, answer: base.Answer) -> str:
        return json.dumps(answer, indent=2, ensure_ascii=False)
