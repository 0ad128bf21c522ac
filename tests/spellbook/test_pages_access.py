"""Every address of the site: who is let in, which methods are answered, and how signing in is kept from guessers."""

from __future__ import annotations

from uuid import uuid4

import pytest
from django.test import Client

from foundation.audit import Actor
from foundation.models import AuditRow, Person
from foundation.people import create_person, deactivate
from foundation.sign_in import MOST_FAILURES, WRONG
from spellbook.pages.urls import urlpatterns
from tests.spellbook.page_data import PASSWORD, Scene, scene

pytestmark = pytest.mark.django_db
OPEN = {"sign-in", "sign-out", "keys", "healthz", "readyz"}
FORMS = {"acknowledge", "close", "hold", "decision", "merged", "undo", "raise", "second", "lower", "stop", "lift"} | {
    "define", "note", "people", "create-reader", "change-reader", "withdraw-reader", "answer-suggestion",
    "acknowledge-review", "review-rule",
}  # fmt: skip


def addresses() -> dict[str, str]:
    """Name -> an address of each page, with ids that lead nowhere."""
    found = {}
    for pattern in urlpatterns:
        route = str(pattern.pattern)
        for kind, name, value in (
            ("uuid", "pk", str(uuid4())), ("int", "pk", "999999"), ("int", "number", "999999"),
            ("int", "position", "1"),
            ("slug", "slug", "nowhere"),
        ):  # fmt: skip
            route = route.replace(f"<{kind}:{name}>", value)
        assert "<" not in route
        found[str(pattern.name)] = f"/{route}"
    return found


@pytest.fixture
def person() -> Person:
    return create_person("somebody@shop.example", "Somebody", password=PASSWORD)


def test_whoever_is_not_signed_in_is_sent_to_sign_in_by_every_page() -> None:
    client = Client()
    for name, address in addresses().items():
        if name in OPEN:
            continue
        for answer in (client.get(address), client.post(address)):
            assert answer.status_code == 302, address
            assert answer["Location"].startswith("/sign-in?next="), address


def test_every_page_refuses_the_wrong_method_with_405(person: Person) -> None:
    client = Client()
    client.force_login(person)
    for name, address in addresses().items():
        wrong = client.put if name in FORMS | {"sign-in"} else client.get if name == "sign-out" else client.post
        assert wrong(address).status_code == 405, address


def test_the_address_of_a_form_leads_to_the_page_on_which_the_form_stands() -> None:
    night: Scene = scene()
    client = Client()
    client.force_login(night.people["admin"])
    fact, sync, plan = night.assets["fct_orders"].pk, night.assets["orders to ads"].pk, night.plan.pk
    for address, page in {
        "/readers/new/declare": "/readers/new", f"/readers/{sync}/declare": f"/readers/{sync}",
        f"/readers/{sync}/withdraw": f"/readers/{sync}", f"/assets/{fact}/note": f"/assets/{fact}/declare",
        "/suggestions/note/1": "/readers", f"/holds/{night.incident.holds.get().pk}": "/me", "/stop": "/",
        f"/requests/{night.request.pk}/decision": f"/requests/{night.request.pk}",
        f"/plans/{plan}/steps/1/merged": f"/plans/{plan}", "/domains/retail/raise": "/domains/retail",
        f"/incidents/{night.incident.number}/close": f"/incidents/{night.incident.number}", "/stop/lift": "/",
    }.items():  # fmt: skip
        assert client.get(address)["Location"] == page, address
        assert client.get(page).status_code == 200, page


def test_a_refused_page_leads_back_to_one_that_opens(person: Person) -> None:
    client = Client()
    client.force_login(person)
    for address, back in {
        "/assets/999999": "/catalog", "/assets/999999/lineage?hops=x": "/assets/999999/lineage",
        "/catalog?page=x": "/catalog", "/history/999999": "/history", f"/plans/{uuid4()}": "/incidents",
    }.items():  # fmt: skip
        assert f'<a href="{back}">Go back</a>' in client.get(address).content.decode(), address


def test_what_does_not_exist_is_404_with_a_sentence(person: Person) -> None:
    client = Client()
    client.force_login(person)
    for name, address in addresses().items():
        if "999999" not in address and "nowhere" not in address and address.count("-") < 4:
            continue
        answer = client.post(address) if name in FORMS else client.get(address)
        assert answer.status_code in (404, 422), (address, answer.status_code)
        assert "There is no" in answer.content.decode() or answer.status_code == 422, address
    assert client.get("/no/such/page").status_code == 404
    assert "There is no page at this address." in client.get("/no/such/page").content.decode()


def test_a_form_without_its_token_is_refused(person: Person) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(person)
    answer = client.post("/stop", {"reason": "x"})
    assert answer.status_code == 403
    assert "This form is too old" in answer.content.decode()


def test_a_stranger_may_read_and_not_act_for_others() -> None:
    night: Scene = scene()
    client = Client()
    client.force_login(night.people["stranger"])
    hold = night.incident.holds.get()
    assert client.post(f"/holds/{hold.pk}", {"state": "held"}).status_code == 403
    assert client.post(f"/plans/{night.plan.pk}/steps/1/merged").status_code == 403
    assert client.post("/domains/retail/raise", {"step_class": "", "reason": "x"}).status_code == 403
    assert client.post("/stop/lift").status_code == 403
    hold.refresh_from_db()
    assert hold.state == "asked"


def test_signing_in_leads_back_to_the_page_and_nowhere_else(person: Person) -> None:
    form = {"email": "Somebody@Shop.Example", "password": PASSWORD}
    assert Client().post("/sign-in", {**form, "next": "/catalog?q=a"})["Location"] == "/catalog?q=a"
    for elsewhere in ("https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)", ""):
        assert Client().post("/sign-in", {**form, "next": elsewhere})["Location"] == "/"


def test_an_expired_session_in_a_decision_leads_back_to_the_request() -> None:
    key = uuid4()
    assert Client().post(f"/requests/{key}/decision")["Location"] == f"/sign-in?next=/requests/{key}"


def test_the_session_cookie_is_out_of_reach_of_scripts(person: Person) -> None:
    answer = Client().post("/sign-in", {"email": person.email, "password": PASSWORD})
    cookie = answer.cookies["session"]
    assert cookie["httponly"]
    assert cookie["samesite"] == "Lax"


def test_wrong_password_unknown_address_and_deactivated_person_read_the_same(person: Person) -> None:
    admin = create_person("admin@shop.example", "The admin", roles=["admin"])
    gone = create_person("gone@shop.example", "Gone", password=PASSWORD)
    deactivate(gone, actor=Actor(admin.principal, "web"))
    for email, password in ((person.email, "no"), ("nobody@shop.example", PASSWORD), (gone.email, PASSWORD), ("", "")):
        answer = Client().post("/sign-in", {"email": email, "password": password})
        assert answer.status_code == 403
        assert WRONG in answer.content.decode()
        assert "session" not in answer.cookies


def test_after_too_many_failures_even_the_right_password_waits(person: Person) -> None:
    client = Client()
    for _ in range(MOST_FAILURES):
        client.post("/sign-in", {"email": person.email, "password": "no"})
    answer = client.post("/sign-in", {"email": person.email, "password": PASSWORD})
    assert answer.status_code == 403
    assert WRONG in answer.content.decode()
    assert AuditRow.objects.filter(action="sign_in.failed").count() == MOST_FAILURES
    elsewhere = Client(REMOTE_ADDR="192.0.2.7").post("/sign-in", {"email": person.email, "password": PASSWORD})
    assert elsewhere.status_code == 302


def test_guessing_addresses_that_nobody_has_fills_no_table() -> None:
    for number in range(3):
        Client().post("/sign-in", {"email": f"guess{number}@shop.example", "password": "no"})
    assert not AuditRow.objects.exists()


def test_signing_out_ends_the_session(person: Person) -> None:
    client = Client()
    client.force_login(person)
    assert client.post("/sign-out")["Location"] == "/sign-in"
    assert client.get("/").status_code == 302
