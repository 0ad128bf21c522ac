from __future__ import annotations

from argparse import SUPPRESS
from typing import Any

from django.core.management.base import CommandParser

from catalog import identity
from catalog.models import NamespaceAlias
from catalog.services import namespaces
from foundation.audit import Actor
from spellbook.management import base
from spellbook.sentences import counted


class Command(base.Command):
    help = "Says which names of namespaces mean the same warehouse, so that what stands under both is one asset."

    def arguments(self, parser: CommandParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True, metavar="alias|withdraw|list|show")
        alias = verbs.add_parser("alias", help="from now on ALIAS means NAMESPACE; assets under both become one")
        alias.add_argument("alias", metavar="ALIAS")
        alias.add_argument("namespace", metavar="NAMESPACE")
        withdraw = verbs.add_parser("withdraw", help="take an alias back; what it made one stays one")
        withdraw.add_argument("alias", metavar="ALIAS")
        show = verbs.add_parser("show", help="what a producer means that writes NAMESPACE (and NAME)")
        show.add_argument("namespace", metavar="NAMESPACE")
        show.add_argument("name", metavar="NAME", nargs="?", default="")
        for verb in (alias, withdraw, show, verbs.add_parser("list", help="all namespaces and their aliases")):
            base.shared_arguments(verb, default=SUPPRESS)  # so that they may stand after the verb as well

    def run(self, actor: Actor, **options: Any) -> base.Answer:
        match options["verb"]:
            case "alias":
                return namespaces.declare(options["alias"], options["namespace"], actor=actor).as_dict()
            case "withdraw":
                namespaces.withdraw(options["alias"], actor=actor)
                return {"withdrawn": options["alias"]}
            case "show":
                return _meant(options["namespace"], options["name"])
        return {"namespaces": _all()}

    def text(self, answer: base.Answer) -> str:
        if "namespaces" in answer:
            rows = answer["namespaces"]
            return "\n".join(_line(one) for one in rows) or "none"
        return super().text(answer)


def _line(one: dict[str, Any]) -> str:
    also = f"  also {', '.join(one['aliases'])}" if one["aliases"] else ""
    read = f"  read by {', '.join(one['connections'])}" if one["connections"] else "  no connection reads it"
    return f"{one['namespace']}  {counted(one['assets'], 'asset')}{read}{also}"


def _meant(namespace: str, name: str) -> dict[str, Any]:
    if not name:
        return {"namespace": identity.resolve([namespace])[namespace]}
    found = identity.identities([(namespace, name)])[namespace, name]
    return found._asdict()


def _all() -> list[dict[str, Any]]:
    aliases: dict[str, list[str]] = {}
    for alias, namespace in NamespaceAlias.objects.order_by("alias").values_list("alias", "namespace"):
        aliases.setdefault(namespace, []).append(alias)
    rows = identity.namespaces()
    known = {one["namespace"] for one in rows}
    bare = [{"namespace": one, "assets": 0, "connections": []} for one in sorted(aliases.keys() - known)]
    return [{**one, "aliases": aliases.get(one["namespace"], [])} for one in [*rows, *bare]]
