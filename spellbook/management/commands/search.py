from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from foundation.audit import Actor
from spellbook import asking, explain_text
from spellbook.management import base


class Command(base.Command):
    help = "Searches the catalogue by names, columns, descriptions, owners and tags; the best first."

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("text", metavar="TEXT", nargs="+")
        parser.add_argument("--kind", action="append", default=[], help="only this kind; may be repeated")
        parser.add_argument("--domain", action="append", default=[], metavar="KEY", help="only this domain")
        parser.add_argument("--offset", type=int, default=0, metavar="N")
        parser.add_argument("--limit", type=base.at_least_one, default=20, metavar="N")

    def run(self, actor: Actor, **options: Any) -> base.Answer:
        return asking.search(
            " ".join(options["text"]), actor=actor, kinds=options["kind"], domains=options["domain"],
            offset=options["offset"], limit=options["limit"],
        )  # fmt: skip

    def text(self, answer: base.Answer) -> str:
        lines = [_line(row) for row in answer["rows"]]
        if answer["truncated"]:
            lines.append(f"{len(lines)} of {answer['total']}, from number {answer['offset'] + 1} on")
        if not answer["total"]:
            lines.append("Nothing matches.")
        if answer["did_you_mean"]:
            lines.append(f"Did you mean {' or '.join(answer['did_you_mean'])}?")
        return "\n".join(lines)


def _line(row: dict[str, Any]) -> str:
    columns = f", columns {', '.join(row['columns'])}" if row["columns"] else ""
    return f"{row['asset']}  {row['kind'].replace('_', ' ')}, trust {explain_text.trust(row['trust'])}{columns}"
