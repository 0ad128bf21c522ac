from __future__ import annotations

import json
from typing import Any

from django.core.management.base import CommandParser

from catalog.selectors import find_asset
from foundation import clock
from foundation.audit import Actor
from spellbook.explain import explain
from spellbook.management import base


class Command(base.Command):
    help = "Says everything that is known of one table, and what is not known yet."

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("asset", metavar="ASSET")

    def run(self, actor: Actor, **options: Any) -> base.Answer:
        return explain(find_asset(options["asset"]), at=clock.now())

    def text(self, answer: base.Answer) -> str:
        return json.dumps(answer, indent=2, ensure_ascii=False)
