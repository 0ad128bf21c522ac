from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandParser

from approvals.models import Receipt
from approvals.services import ledger_check, receipts
from foundation.errors import BadInput, NotFound, Unavailable
from spellbook.management import base


class Command(BaseCommand):
    help = "check: recompute the whole ledger and every signature. export RECEIPT_ID: write a receipt's offline bundle."

    def add_arguments(self, parser: CommandParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True, metavar="check|export")
        check = verbs.add_parser("check", help="recompute every leaf, root and signature")
        check.add_argument("--format", choices=["text", "json"], default="text")
        export = verbs.add_parser("export", help="write a receipt with everything that is needed to check it offline")
        export.add_argument("receipt", metavar="RECEIPT_ID")
        export.add_argument("--out", metavar="FILE", help="default: receipt-<id>.zip here")
        export.add_argument("--format", choices=["text", "json"], default="text")

    def handle(self, *args: Any, **options: Any) -> None:
        verbs = {"check": self.checked, "export": lambda: self.exported(options["receipt"], options["out"])}
        found = base.refused_in_words(verbs[options["verb"]])
        said = found.pop("said")
        self.stdout.write(json.dumps(found, sort_keys=True) if options["format"] == "json" else said)

    def checked(self) -> dict[str, Any]:
        found = ledger_check.check()
        said = f"The ledger holds: {found.leaves} leaves, {found.checkpoints} checkpoints, {found.unsealed} unsealed."
        return {
            "leaves": found.leaves,
            "checkpoints": found.checkpoints,
            "unsealed": found.unsealed,
            "root": found.root,
            "said": said,
        }

    def exported(self, receipt_id: str, out: str | None) -> dict[str, Any]:
        try:
            pk = UUID(receipt_id)
        except ValueError:
            raise BadInput(f"{receipt_id!r} is not the id of a receipt.") from None
        receipt = Receipt.objects.filter(pk=pk).first()
        if receipt is None:
            raise NotFound("There is no such receipt.")
        bundle = receipts.export(receipt)
        path = Path(out or f"receipt-{pk}.zip")
        try:
            path.write_bytes(bundle)
        except OSError as error:
            raise Unavailable(f"The bundle could not be written to {path}: {error.strerror}.") from None
        return {"receipt": str(pk), "file": str(path), "bytes": len(bundle), "said": f"Wrote {path}."}
