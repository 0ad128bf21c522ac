from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandError

from foundation.audit import Actor
from spellbook import doctor
from spellbook.management import base


class Command(base.Command):
    help = "Examines database, triggers, broker, dbt, warehouses and ledger: what works, what does not, what to do."

    def handle(self, *args: Any, **options: Any) -> None:
        found = doctor.examine()
        super().handle(*args, **options, found=found)
        broken = [one.name for one in found if one.state == "does not work"]
        if broken:
            raise CommandError(f"Not working: {', '.join(broken)}.")

    def run(self, actor: Actor, **options: Any) -> base.Answer:
        return {"found": [asdict(one) for one in options["found"]]}

    def text(self, answer: base.Answer) -> str:
        return "\n".join(
            f"{one['name']}: {one['state']}, {one['said']}" + (f"; {one['todo']}" if one["todo"] else "")
            for one in answer["found"]
        )
