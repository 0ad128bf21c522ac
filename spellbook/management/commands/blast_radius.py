from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from catalog.graph.reach import reach
from foundation import clock
from foundation.audit import Actor
from spellbook.eyes import eyes_of, named
from spellbook.management import base
from spellbook.sentences import counted
from spellbook.walks import veiled


class Command(base.Command):
    help = (
        "Lists everything that an asset feeds, and its readers by time to damage: next read, mode, consequence, until "
        "when a hold still helps. An unknown asset is an error."
    )

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("asset", metavar="ASSET")
        parser.add_argument("--hops", metavar="N", type=base.at_least_one, help="no further than this")

    def run(self, actor: Actor, **options: Any) -> base.Answer:
        sight = eyes_of(actor)
        reached = reach(named(options["asset"], sight), at=clock.now(), hops=options["hops"])
        return veiled(reached.as_dict(), sight)

    def text(self, answer: base.Answer) -> str:
        listed = f", {len(answer['nodes'])} listed" if answer["truncated"] else ""
        feeds = f"{answer['asset']} feeds {counted(answer['total'], 'asset')}{listed}"
        lines = [f"{feeds} (graph version {answer['graph_version']})"]
        lines += [f"  {node['hops']}  {node['kind']}  {node['name']}" for node in answer["nodes"]]
        lines += [_reader(one) for one in answer["consumers"]]
        return "\n".join([*lines, f"next read: {answer['next_read'] or 'not known'}"])


def _reader(one: dict[str, Any]) -> str:
    through = f" through {one['through']}" if one["through"] else ""
    mode = f" ({one['tool']}, {one['mode']})" if one["tool"] else ""
    status = " (suggested)" if one["status"] == "suggested" else ""
    until = f", hold until {one['last_useful_minute']}" if one["last_useful_minute"] else ""
    read = f"{one['next_read'] or 'time not known'}{until}"
    return f"reader {one['name']}{mode}{through}{status}: {read} {one['consequence']}".rstrip()
