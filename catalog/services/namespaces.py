"""Aliases of namespaces: what people declare about names that producers use for one and the same warehouse."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from catalog import actions
from catalog.declared_readers import NAMESPACE as READERS
from catalog.identity import resolve
from catalog.models import Asset, NamespaceAlias
from catalog.services import search_index, uniting
from catalog.services.access import is_agent
from catalog.sources.naming import DatasetName, adapter_of, canonical_namespace, fold_name, printable, spellings
from foundation import audit
from foundation.audit import Actor
from foundation.errors import BadInput, Conflict, NotAllowed, NotFound
from foundation.locks import transaction
from foundation.models import Connection


@dataclass(frozen=True)
class AliasReport:
    """What an alias did: assets that took the namespace's name, pairs that became one, and what stayed where it was."""

    alias: str
    namespace: str
    graph_version: int
    renamed: int = 0
    united: int = 0
    left: list[dict[str, str]] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON; an item of `left` is {asset, what}: rows that stay with the asset that went."""
        return vars(self).copy()


def declare(alias: str, namespace: str, *, actor: Actor) -> AliasReport:
    """From now on `alias` means `namespace`; assets that stand under both become one, the others take its name.

    Claims move as new intervals, so every earlier graph version stays as it was. The same alias again only unites what
    came in between. Raises NotAllowed for agents, BadInput for names that cannot be used, Conflict when a connection
    declares `alias` as its own.
    """
    if is_agent(actor):
        raise NotAllowed("An agent may not say which namespaces are one; a person of the team can.")
    for what, name in (("alias", alias), ("namespace", namespace)):
        if printable(name) != name:
            raise BadInput(f"The {what} holds characters that cannot be printed.")
    short = canonical_namespace(alias)
    target = _target(short, namespace)
    with transaction():
        _keep(short, target, actor)
    done = uniting.unite(_moves(short, alias.strip(), target), why=f"{short} is {target}", actor=actor)
    search_index.refresh(sorted(done.touched))
    return AliasReport(short, target, done.version, done.renamed, done.united, done.left)


def withdraw(alias: str, *, actor: Actor) -> None:
    """Take an alias back; what it united stays one. NotFound when there is none, NotAllowed for agents."""
    if is_agent(actor):
        raise NotAllowed("An agent may not take back an alias; a person of the team can.")
    with transaction():
        row = NamespaceAlias.objects.select_for_update().filter(alias=canonical_namespace(alias)).first()
        if row is None:
            raise NotFound(f"{alias} is no alias.")
        facts: dict[str, str | int | None] = {"alias": row.alias, "namespace": row.namespace}
        audit.record(actor, actions.ALIAS_WITHDRAWN, row, facts=facts)
        row.delete()


def _target(short: str, namespace: str) -> str:
    """The namespace that is meant in the end; an alias of an alias would have to be followed by everybody."""
    target = resolve([namespace])[namespace]
    if READERS in (short, target):
        raise BadInput(f"{READERS} is where declared readers stand; it is no alias and has none.")
    if target in spellings(short):
        raise BadInput(f"{namespace} already means {target}, so it needs no alias.")
    owner = Connection.objects.filter(namespace__in=spellings(short)).order_by("name").first()
    if owner is not None:
        raise Conflict(
            f"The connection {owner.name} declares the namespace {owner.namespace}; make {target} its alias, "
            "or change the connection first."
        )
    return target


def _keep(short: str, target: str, actor: Actor) -> None:
    before = NamespaceAlias.objects.select_for_update().filter(alias=short).first()
    if before is not None and before.namespace == target:
        return
    row, _ = NamespaceAlias.objects.update_or_create(alias=short, defaults={"namespace": target})
    NamespaceAlias.objects.filter(namespace=short).update(namespace=target)
    was = {"namespace": before.namespace} if before else None
    audit.record(actor, actions.ALIAS_DECLARED, row, facts={"alias": short, "namespace": target}, before=was)


def _moves(short: str, written: str, target: str) -> dict[int, DatasetName]:
    """The assets under the alias, each with the identity that it has now.

    Their names were folded by the alias's own rules; where those are the target's they stand, else the target's apply.
    """
    ways = {written, *spellings(short)} - {target}
    found = dict(Asset.objects.filter(namespace__in=ways).order_by("pk").values_list("pk", "name"))
    same = adapter_of(short) == adapter_of(target)
    taken = set() if same else uniting.names_in(target, found.values())
    return {
        pk: DatasetName(target, name if same or name in taken else fold_name(name, adapter_of(target)))
        for pk, name in found.items()
    }
