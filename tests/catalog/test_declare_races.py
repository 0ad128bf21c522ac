"""Declarations at the same moment: nothing is lost, nobody waits in a circle, and names are looked up before."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from catalog.models import Consumer
from catalog.services import declarations, keeping
from catalog.services.declarations import Told
from catalog.services.declare import declare
from catalog.services.graph_lock import hold_graph
from catalog.services.imports import import_manifest
from catalog.services.readers import withdraw
from foundation.audit import Actor
from foundation.locks import transaction
from foundation.people import create_person, system
from spellbook.declaring import declare_document
from tests.catalog.manifests import model, shop

READER: dict[str, Any] = {"asset": "Board", "kind": "dashboard", "reads": "main.orders"}


@contextmanager
def meanwhile(work: Callable[[], object]) -> Iterator[None]:
    """`work` in another thread, begun before the body and ended after it; what it raises is raised here."""
    raised: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as error:
            raised.append(error)
        finally:
            connection.close()

    thread = threading.Thread(target=run)
    thread.start()
    time.sleep(0.5)  # until it waits for what this thread holds
    yield
    thread.join(timeout=30)
    assert not thread.is_alive()
    if raised:
        raise raised[0]


def test_two_declarations_about_one_reader_at_once_are_both_kept(committing: str) -> None:
    person = Actor(create_person("owner@example.com", "Olive Owner").principal, "web")
    import_manifest(shop(), actor=Actor(system("cli"), "cli"))
    declare({"consumers": [READER]}, actor=person)
    asset = Consumer.objects.get(asset__name="Board").asset
    first, second = ({asset.pk: Told({name: "said"})} for name in ("consequence", "contact"))
    with transaction():
        keeping.keep(first, "declared", actor=person, whole=False)
        late = meanwhile(lambda: keeping.keep(second, "declared", actor=person, whole=False))
        late.__enter__()
    late.__exit__(None, None, None)
    said = declarations.said_by("declared")[asset.pk]
    assert (said.get("consequence"), said.get("contact")) == ("said", "said")


def test_a_withdrawal_waits_for_who_holds_the_graph_before_it_takes_the_reader(committing: str) -> None:
    person = Actor(create_person("owner@example.com", "Olive Owner").principal, "web")
    import_manifest(shop(), actor=Actor(system("cli"), "cli"))
    declare({"consumers": [READER]}, actor=person)
    row = Consumer.objects.get(asset__name="Board")
    with transaction():
        hold_graph()
        late = meanwhile(lambda: withdraw(row.asset, actor=person))
        late.__enter__()
        Consumer.objects.filter(pk=row.pk).update(contact="what an import does in its step")
    late.__exit__(None, None, None)
    row.refresh_from_db()
    assert row.status == "withdrawn"


@pytest.mark.django_db
@pytest.mark.parametrize("count", [2, 12])
def test_the_names_of_a_declaration_are_looked_up_before_it_is_kept(count: int, machine: Actor) -> None:
    import_manifest(shop(*(model(f"m{n}") for n in range(count))), actor=machine)
    watched = [{"asset": f"main.m{n}", "watch": ["row_count"]} for n in range(count)]
    with CaptureQueriesContext(connection) as queries:
        declare_document({"assets": watched, "consumers": [{**READER, "reads": ["main.m0", "nobody"]}]}, actor=machine)
    texts = [query["sql"] for query in queries]
    kept = texts[next(place for place, text in enumerate(texts) if text.startswith("SAVEPOINT")) :]
    assert any("incidents_check" in text for text in kept)
    reads = [text for text in kept if text.startswith("SELECT") and 'FROM "catalog_asset"' in text]
    assert not [text for text in reads if " LIKE " in text or " WHERE " not in text]
