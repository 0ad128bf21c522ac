from __future__ import annotations

from argparse import SUPPRESS
from typing import Any

from django.core.management.base import CommandParser

from catalog.code_hosts.github import connection as github
from catalog.code_hosts.github.client import open_github
from catalog.warehouses.registry import KINDS, open_warehouse
from foundation import connections
from foundation.audit import Actor
from foundation.errors import BadInput, SpellbookError
from foundation.models import Connection
from foundation.models.connections import PURPOSES
from spellbook.management import base


class Command(base.Command):
    help = "Adds or changes a connection to another system, lists them, tries one. Secrets are named, never given."

    def arguments(self, parser: CommandParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True, metavar="add|list|test")
        add = verbs.add_parser("add", help="add a connection, or change the one of that name")
        add.add_argument("name", metavar="NAME")
        add.add_argument("--kind", required=True, metavar="KIND", help="duckdb, postgres, dbt, git, github, ...")
        add.add_argument("--purpose", required=True, choices=PURPOSES)
        add.add_argument("--namespace", metavar="NAMESPACE", help="default for duckdb: duckdb://NAME")
        add.add_argument(
            "--param", metavar="KEY=VALUE", action="append", default=[], help="repeat; env.HOME=/x sets HOME inside env"
        )
        add.add_argument(
            "--file",
            metavar="GLOB=ASSET",
            action="append",
            default=[],
            help="github: files of an asset, or of none; repeat",
        )
        add.add_argument("--secret", metavar="NAME", action="append", default=[], help="a name; repeat")
        test = verbs.add_parser("test", help="ask a warehouse or GitHub something trivial")
        test.add_argument("name", metavar="NAME")
        for verb in (add, test, verbs.add_parser("list", help="all connections")):
            base.shared_arguments(verb, default=SUPPRESS)  # so that they may stand after the verb as well

    def run(self, actor: Actor, **options: Any) -> base.Answer:
        if options["verb"] == "list":
            return {"connections": [_shown(one) for one in Connection.objects.all()]}
        if options["verb"] == "test":
            return _tried(connections.get(options["name"]))
        namespace = options["namespace"]
        if namespace is None:
            namespace = f"duckdb://{options['name']}" if options["kind"] == "duckdb" else ""
        params = _params(options["param"])
        if options["file"]:
            params["files"] = [_file(pair) for pair in options["file"]]
        if options["kind"] in KINDS and options["purpose"] == "read":
            open_warehouse(options["kind"], params, options["secret"])  # BadInput for parameters it does not take
        if options["kind"] == github.KIND:
            github.check_settings(options["name"], params, options["secret"])
        saved = connections.save(
            options["name"],
            kind=options["kind"],
            purpose=options["purpose"],
            namespace=namespace,
            params=params,
            secret_names=options["secret"],
            actor=actor,
        )
        return _shown(saved)

    def text(self, answer: base.Answer) -> str:
        if "connections" not in answer:
            return super().text(answer)
        rows = answer["connections"]
        return (
            "\n".join(f"{one['name']}  {one['kind']}  {one['purpose']}  {one['namespace']}" for one in rows) or "none"
        )


def _shown(one: Connection) -> dict[str, Any]:
    return {
        "name": one.name,
        "kind": one.kind,
        "purpose": one.purpose,
        "namespace": one.namespace,
        "params": one.params,
        "secret_names": one.secret_names,
        "version": one.version,
        "tested_ok": one.tested_ok,
    }


def _tried(one: Connection) -> dict[str, Any]:
    if one.kind not in {*KINDS, github.KIND}:
        known = ", ".join(sorted([*KINDS, github.KIND]))
        raise BadInput(f"A connection of kind {one.kind} cannot be tried here; known are {known}.")
    try:
        _ask(one)
    except SpellbookError:
        connections.note_test(one, ok=False)
        raise
    connections.note_test(one, ok=True)
    return {"name": one.name, "works": True}


def _ask(one: Connection) -> None:
    if one.kind == github.KIND:
        with open_github(one) as host:
            host.repository()
    else:
        open_warehouse(one.kind, one.params, one.secret_names).test()


def _file(pair: str) -> dict[str, Any]:
    """The last sign counts: a path may hold one, the name of an asset hardly ever does. No asset: no table is made."""
    path, sign, asset = pair.rpartition("=")
    if not sign:
        raise BadInput(f"A file is given as GLOB=ASSET, not {pair!r}.")
    return {"path": path, "asset": asset or []}


def _params(pairs: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for pair in pairs:
        key, sign, value = pair.partition("=")
        *outer, last = key.split(".")
        if not sign or not all([*outer, last]) or len(outer) > 1:
            raise BadInput(f"A parameter is given as KEY=VALUE, not {key!r}.")
        inside = found.setdefault(outer[0], {}) if outer else found
        if not isinstance(inside, dict) or last in inside:
            raise BadInput(f"The parameter {key} is given twice.")
        inside[last] = value
    return found
