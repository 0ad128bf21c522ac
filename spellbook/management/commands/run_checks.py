from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from catalog.selectors import find_asset
from foundation.audit import Actor
from incidents.models import Check, Result
from incidents.services.checks import OURS, run_checks
from spellbook.judging import is_judged
from spellbook.management import base


class Command(base.Command):
    help = "Measures an asset now (ASSET), or every watched asset, and prints what each check said."

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("asset", nargs="?", metavar="ASSET")

    def run(self, actor: Actor, **options: Any) -> base.Answer:
        watched = Check.objects.filter(origin=OURS).select_related("asset__domain").order_by("asset__name")
        assets = [find_asset(options["asset"])] if options["asset"] else [check.asset for check in watched]
        results = [result for asset in assets for result in run_checks(asset, actor=actor, judged=is_judged)]
        return {"results": [_said(result) for result in results]}

    def text(self, answer: base.Answer) -> str:
        lines = [
            f"{one['asset']} {one['check']}: {one['status']}" + (f" ({one['reason']})" if one["reason"] else "")
            for one in answer["results"]
        ]
        return "\n".join(lines) or "Nothing is watched; declare an asset with watch: [row_count]."


def _said(result: Result) -> dict[str, Any]:
    return {
        "asset": result.check_run.asset.name,
        "check": result.check_run.kind,
        "status": result.status.replace("_", " "),
        "reason": result.reason,
        "observed": result.observed,
    }
