"""A null character, which PostgreSQL cannot store, in any field or address is refused in words and never a fault."""

from __future__ import annotations

from uuid import uuid4

import pytest
from django.test import Client

from incidents.models import Hold
from tests.spellbook.machines import Machine
from tests.spellbook.page_data import Scene, scene

pytestmark = pytest.mark.django_db

NUL = "a\0b"


def statuses_of_forms(night: Scene, client: Client) -> dict[str, int]:
    client.force_login(night.people["approver"])
    decision = {
        "decision": "reject", "reason": NUL, "plan_digest": night.request.plan_digest,
        "shown_digest": night.request.shown_digest, "idempotency_key": str(uuid4()),
    }  # fmt: skip
    forms = {
        f"/requests/{night.request.pk}/decision": decision,
        "/domains/retail/raise": {"step_class": NUL, "reason": NUL},
        "/domains/retail/lower": {"level": "0", "step_class": NUL, "reason": NUL},
        "/stop": {"reason": NUL},
        f"/incidents/{night.incident.number}/close": {"resolution": "accepted", "reason": NUL},
        f"/holds/{Hold.objects.get().pk}": {"state": "held", "answer": NUL},
    }
    return {address: client.post(address, fields).status_code for address, fields in forms.items()}


def test_no_form_breaks_on_a_null_character() -> None:
    client, night = Client(raise_request_exception=False), scene()
    assert set(statuses_of_forms(night, client).values()) == {422}


def test_no_address_breaks_on_a_null_character() -> None:
    client, machine = Client(raise_request_exception=False), Machine.make()
    assert client.post("/sign-in", {"email": NUL, "password": NUL}).status_code == 403
    assert machine.get("/builds/a%00b")[0] == 404
    client.force_login(machine.owner)
    assert client.get("/catalog?q=a%00b").status_code == 422
