from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from catalog.services.introspect import introspect
from foundation.audit import Actor
from spellbook.management import base


class Command(base.Command):
    help = "Asks the warehouse of a connection for its tables, columns, comments and sizes, and what its views read."

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("connection", metavar="CONNECTION", help="a connection with purpose read")
        parser.add_argument(
            "--emptied", action="store_true", help="believe a warehouse that shows no table where it had some"
        )

    def run(self, actor: Actor, **options: Any) -> base.Answer:
        return introspect(options["connection"], actor=actor, emptied=options["emptied"]).as_dict()

    def text(self, answer: base.Answer) -> str:
        counts = {name: value for name, value in answer.items() if name != "warnings"}
        warnings = [f"warning: {one['node']}: {one['reason']}" for one in answer["warnings"]]
        return "\n".join([super().text(counts), *warnings])
