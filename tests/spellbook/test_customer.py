"""A `customerId` that comes with a question must be that of the installation, on every face for machines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pytest_django import Settings

from tests.engines import Engine
from tests.spellbook.machines import Machine
from tests.spellbook.mcp_clients import ORDERS, Cast, own_database, settled

WRONG = "The customerId is not that of this installation; leave it out, or give its own."


@pytest.fixture(scope="module")
def cast(django_db_setup: None, django_db_blocker: Any, database_engine: Engine) -> Iterator[Cast]:
    with own_database(database_engine, django_db_blocker):
        yield settled()


def test_a_tool_takes_the_customer_of_the_installation_alone(cast: Cast, settings: Settings) -> None:
    settings.SPELLBOOK_CUSTOMER_ID = "acme"
    assert cast.call("explain_table", asset=ORDERS, customerId="acme") == cast.call("explain_table", asset=ORDERS)
    for told in ("other", "", 7, ["acme"]):
        assert cast.refusal("explain_table", asset=ORDERS, customerId=told) == {
            "error": "not_allowed",
            "message": WRONG,
        }
    settings.SPELLBOOK_CUSTOMER_ID = ""
    assert cast.refusal("note", asset=ORDERS, text="x", customerId="")["error"] == "not_allowed"


def test_an_address_takes_the_customer_of_the_installation_alone(cast: Cast, settings: Settings) -> None:
    settings.SPELLBOOK_CUSTOMER_ID = "acme"
    machine = Machine.make(scopes=["catalog:read"], name="asks")
    assert machine.get("/assets?q=orders&customerId=acme")[0] == 200
    status, told = machine.get("/assets?q=orders&customerId=other")
    assert (status, told) == (403, {"error": "not_allowed", "message": WRONG})
