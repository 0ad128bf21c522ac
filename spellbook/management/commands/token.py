from __future__ import annotations

from argparse import SUPPRESS
from typing import Any

from django.core.management.base import CommandParser

from foundation import people
from foundation.audit import Actor
from foundation.errors import BadInput
from foundation.locks import transaction
from foundation.models import Person
from spellbook.management import base

SCOPES = (
    "build:read", "build:write", "value:write", "incident:read", "lineage:write", "catalog:read", "declare:write",
    "review:write",
)  # fmt: skip


class Command(base.Command):
    help = "issue NAME --owner EMAIL --scope S...: a token for an agent of that name; it is shown once and never again."

    def arguments(self, parser: CommandParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True, metavar="issue")
        issue = verbs.add_parser("issue", help="make an agent and its token")
        issue.add_argument("name", metavar="NAME")
        issue.add_argument("--owner", required=True, metavar="EMAIL", help="the person who answers for the agent")
        scopes = f"{', '.join(SCOPES)}; repeat"
        issue.add_argument("--scope", action="append", required=True, metavar="SCOPE", help=scopes)
        issue.add_argument(
            "--namespace", action="append", default=[], metavar="NAMESPACE", help="it may write there only"
        )
        base.shared_arguments(issue, default=SUPPRESS)  # so that they may stand after the verb as well

    def run(self, actor: Actor, **options: Any) -> base.Answer:
        unknown = [scope for scope in options["scope"] if scope not in SCOPES]
        if unknown:
            raise BadInput(f"There is no scope {unknown[0]}; there are {', '.join(SCOPES[:-1])} and {SCOPES[-1]}.")
        owner = Person.objects.filter(email__iexact=options["owner"], is_active=True).first()
        if owner is None:
            raise BadInput(f"No active person has the e-mail {options['owner']}.")
        with transaction():  # no agent without its token
            agent = people.create_agent(options["name"], owner=owner, namespaces=options["namespace"], actor=actor)
            _, raw = people.issue_token(agent, label=options["name"], scopes=options["scope"], actor=actor)
        return {"agent": str(agent.pk), "scopes": options["scope"], "token": raw}
