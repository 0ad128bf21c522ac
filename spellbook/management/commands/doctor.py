from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandError

from spellbook import doctor
from spellbook.management import base


class Command(base.Command):
    help = "Examines database, triggers, broker, dbt, warehouses and ledger: what works, what does not, what to do."

    def handle(self, *args: Any, **options: Any) -> None:
        # Nobody acts here, so it speaks even where there is no database to know anybody from.
        found = doctor.examine()
        self.say({"found": [asdict(one) for one in found]}, options["format"])
        broken = [one.name for one in found if one.state == "does not work"]
        if broken:
            raise CommandError(f"Not working: {', '.join(broken)}.")

    def text(self, answer: base.Answer) -> str:
        return "\n".join(
            f"{one['name']}: {one['state']}, {one['said']}" + (f"; {one['todo']}" if one["todo"] else "")
            for one in answer["found"]
        )
