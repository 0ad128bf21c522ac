from __future__ import annotations

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from approvals.ledger.verify import Verified, verify_bundle
from approvals.services.receipts import published_keys
from spellbook.management import base


class Command(BaseCommand):
    help = "Checks an exported receipt, offline. Exit 0: it holds; 1: it does not, with the part that broke."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("bundle", metavar="BUNDLE")
        parser.add_argument(
            "--key",
            metavar="VKEY",
            action="append",
            default=[],
            help="a published key of the ledger (give both: receipts and checkpoints); default: this installation's",
        )
        parser.add_argument("--format", choices=["text", "json"], default="text")

    def handle(self, *args: Any, **options: Any) -> None:
        answer = base.refused_in_words(lambda: as_dict(_verified(options["bundle"], options["key"])))
        if options["format"] == "json":
            self.stdout.write(json.dumps(answer, sort_keys=True))
            return
        receipt = answer["receipt"]
        self.stdout.write(f"The {receipt['type']} receipt holds: leaf {receipt['index']} of {receipt['origin']}.")
        for linked in answer["linked"]:
            self.stdout.write(f"  with the {linked['type']} receipt at leaf {linked['index']}")


def _verified(bundle: str, keys: list[str]) -> Verified:
    """Checked with the keys that were given; without any, with those that this installation's sealer has published."""
    return verify_bundle(bundle, trusted_vkeys=keys or [verifier.vkey for verifier in published_keys()])


def as_dict(verified: Verified) -> dict[str, Any]:
    """What was checked, for scripts."""
    receipts = [
        {
            "type": one.type,
            "subject": one.statement["subject"],
            "statement_sha256": one.statement_sha256,
            "created_at": one.created_at,
            "index": one.index,
            "checkpoint_size": one.checkpoint.size,
            "origin": one.checkpoint.origin,
        }
        for one in (verified.receipt, *verified.linked)
    ]
    return {"verified": True, "receipt": receipts[0], "linked": receipts[1:], "absent": list(verified.absent_evidence)}
