from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from catalog.review.known.facts_document import FactsDocument
from catalog.review.types import Knowledge, Review
from foundation.errors import SpellbookError
from spellbook import review_command, review_facts
from spellbook.review_inputs import Nowhere, Reviewed
from spellbook.review_measures import with_counts
from spellbook.sentences import sentence


class Command(BaseCommand):
    help = review_command.HELP
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        review_command.add_arguments(parser)
        parser.add_argument(
            "--from-database",
            action="store_true",
            help="use what this installation knows, and count NULLs in its warehouses; names of restricted domains are "
            "left out, but for those of the project under review, which its manifest tells anyway",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        # Nobody acts and nothing is kept; without --from-database this works without a database as well.
        try:
            said = review_command.run(options, Here() if options["from_database"] else Nowhere())
        except SpellbookError as error:
            raise CommandError(sentence(error)) from None
        self.stdout.write(said.text, ending="")
        if said.failure:
            raise CommandError(said.failure)


class Here:
    """This installation: its database, and the warehouses that it reads."""

    def facts(self, project: str) -> Sequence[FactsDocument]:
        return (review_facts.document(project=project),)

    def review(self, known: Knowledge, reviewed: Reviewed) -> Review:
        return with_counts(known, reviewed)
