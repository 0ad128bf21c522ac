from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from foundation.audit import Actor
from foundation.errors import NotFound
from foundation.models import Person
from spellbook.erasing import erase
from spellbook.management import base


class Command(base.Command):
    help = "Forgets a person: name, address, password, and the words they typed. What they decided stays, under a UUID."

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("email", metavar="EMAIL")

    def run(self, actor: Actor, **options: Any) -> base.Answer:
        person = Person.objects.filter(email__iexact=options["email"]).select_related("principal").first()
        if person is None:
            raise NotFound(f"Nobody has the e-mail {options['email']}.")
        erase(person, actor=actor)
        return {"erased": str(person.principal_id)}
