"""The sign-off form: what it posts reaches the one decision function, and a refusal keeps what was typed."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.http import HttpResponse
from django.test import Client

from approvals.models import Outcome, Request, Step, Vote
from catalog.models import Asset as CatalogAsset
from catalog.models import Consumer, EdgeClaim, GraphHead, GraphVersion, NodeClaim, Source
from foundation.clock import now
from foundation.models import AuditRow
from tests.spellbook.page_data import Scene, scene

pytestmark = pytest.mark.django_db
REASON = "The filter meant tests only; unknown is not a test."


@pytest.fixture
def night() -> Scene:
    return scene()


def as_(night: Scene, who: str) -> Client:
    client = Client()
    client.force_login(night.people[who])
    return client


def hidden(html: str) -> dict[str, str]:
    """The hidden fields of the decision form, as a browser would send them."""
    form = html[html.index('<form id="decision"') :]
    return dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', form[: form.index("</form>")]))


def send(client: Client, night: Scene, fields: dict[str, object], **headers: str) -> HttpResponse:
    page = f"/requests/{night.request.pk}"
    given = hidden(client.get(page).content.decode()) | fields
    return client.post(f"{page}/decision", given, headers=headers or None)  # type: ignore[return-value]


def test_the_page_shows_everything_that_is_signed_and_preselects_nothing(night: Scene) -> None:
    html = as_(night, "approver").get(f"/requests/{night.request.pk}").content.decode()
    assert " checked" not in html
    assert html.count('name="decision"') == 3
    assert html.count('name="steps"') == 3
    for text in (
        "Waiting for you", "then nothing is approved", "removes 590,137 rows", "SELECT COUNT(*)", "orders to ads",
        "mode mirror", "<ins>", "<del>", "not coalesce", "Revert the merge.", "Cannot be undone", "The owner",
        "Spellbook does it", "fct_orders has 1,000,137 rows", "on a copy of the warehouse", "The fallback", "Pending",
        night.request.plan_digest, night.request.shown_digest,
    ):  # fmt: skip
        assert text in html or text in re.sub(r"<span class=\"t-\w+\">|</span>", "", html), text


def test_a_decision_reaches_the_service_and_is_shown_after(night: Scene) -> None:
    answer = send(as_(night, "approver"), night, {"decision": "approve", "reason": REASON})
    assert answer.status_code == 302
    outcome = Outcome.objects.get()
    assert outcome.steps == [1, 2, 3]
    assert Vote.objects.get().person == night.people["approver"]
    assert "you merge it" in as_(night, "owner").get("/").content.decode()
    html = as_(night, "approver").get(f"/requests/{night.request.pk}").content.decode()
    assert "Approved" in html
    assert REASON in html
    assert '<form id="decision"' not in html


def test_some_steps_are_approved_and_the_others_are_not(night: Scene) -> None:
    send(as_(night, "approver"), night, {"decision": "some", "steps": ["1", "2"], "reason": ""})
    assert Outcome.objects.get().steps == [1, 2]
    assert Step.objects.get(plan=night.plan, position=3).state == "not_approved"


def test_a_rejection_ends_the_request(night: Scene) -> None:
    send(as_(night, "approver"), night, {"decision": "reject", "reason": REASON})
    assert Request.objects.get().state == "rejected"


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"reason": REASON}, "Choose one"),
        ({"decision": "maybe", "reason": REASON}, "Choose one"),
        ({"decision": "some", "reason": REASON}, "at least one step"),
        ({"decision": "some", "steps": ["2"], "reason": REASON}, "depends on step 1"),
        ({"decision": "some", "steps": ["two"], "reason": REASON}, "by its number"),
        ({"decision": "reject", "reason": " "}, "needs a reason"),
        ({"decision": "approve", "reason": REASON, "idempotency_key": ""}, "idempotency key"),
    ],
)
def test_a_form_that_cannot_be_used_is_422_and_records_nothing(
    night: Scene, fields: dict[str, object], said: str
) -> None:
    answer = send(as_(night, "approver"), night, fields)
    assert answer.status_code == 422
    assert said in answer.content.decode()
    assert not Vote.objects.exists()


def test_a_stale_form_is_409_and_keeps_the_reason_and_the_choice(night: Scene) -> None:
    answer = send(
        as_(night, "approver"), night,
        {"decision": "some", "steps": ["1"], "reason": REASON, "plan_digest": "0" * 64},
    )  # fmt: skip
    html = answer.content.decode()
    assert answer.status_code == 409
    assert "not the one that this form showed" in html
    assert f">{REASON}</textarea>" in html
    assert 'value="some" checked' in html
    assert 'value="1" checked' in html
    assert not Vote.objects.exists()


def test_a_reader_that_joined_leaves_nothing_to_decide_and_the_decision_is_409(night: Scene) -> None:
    client, page = as_(night, "approver"), f"/requests/{night.request.pk}"
    given = hidden(client.get(page).content.decode())
    source, version = Source.objects.get(), GraphVersion.objects.create(number=2, at=now(), source=Source.objects.get())
    late = CatalogAsset.objects.create(namespace="duckdb://shop", name="late feed", kind="sync", domain=night.domain)
    NodeClaim.objects.create(source=source, asset=late, local_id="sync.late", added_in=version)
    EdgeClaim.objects.create(
        source=source, from_asset=night.assets["fct_orders"], to_asset=late, added_in=version
    )  # fmt: skip
    Consumer.objects.create(asset=late)
    GraphHead.objects.update(version=2)
    html = client.get(page).content.decode()
    assert "does not show reads the table now: <strong>late feed</strong>" in html
    assert (
        f'<a href="/incidents/{night.incident.number}#close">closes INC-1 by hand</a>, which ends this request' in html
    )
    assert "Record decision" not in html
    assert "Waiting for you" not in html
    assert 'id="close"' in client.get(f"/incidents/{night.incident.number}").content.decode()  # the way on is there
    for choice in ("approve", "reject"):
        answer = client.post(f"{page}/decision", given | {"decision": choice, "reason": REASON})
        assert answer.status_code == 409
        assert "has joined the reach: late feed" in answer.content.decode()
        assert REASON in answer.content.decode()
    assert not Vote.objects.exists()


def test_after_the_deadline_it_is_410_and_the_reason_is_kept(night: Scene) -> None:
    client = as_(night, "approver")
    given = hidden(client.get(f"/requests/{night.request.pk}").content.decode())
    Request.objects.update(expires_at=now() - timedelta(seconds=1))
    answer = client.post(
        f"/requests/{night.request.pk}/decision", {**given, "decision": "approve", "reason": REASON}
    )  # fmt: skip
    html = answer.content.decode()
    assert answer.status_code == 410
    assert "Expired at" in html
    assert REASON in html
    assert not Vote.objects.exists()


def test_whoever_is_not_named_reads_the_page_without_the_form_and_is_403(night: Scene) -> None:
    client = as_(night, "stranger")
    html = client.get(f"/requests/{night.request.pk}").content.decode()
    assert '<form id="decision"' not in html
    assert "This request names other people; it is with The approver." in html
    answer = client.post(
        f"/requests/{night.request.pk}/decision",
        {"decision": "approve", "reason": REASON, "plan_digest": night.request.plan_digest,
         "shown_digest": night.request.shown_digest, "idempotency_key": "k"},
    )  # fmt: skip
    assert answer.status_code == 403
    assert "is not yours" in answer.content.decode()
    assert AuditRow.objects.filter(action="request.refused", refused=True).exists()
    assert not Vote.objects.exists()


def test_the_fallback_reads_when_their_turn_begins(night: Scene) -> None:
    html = as_(night, "fallback").get(f"/requests/{night.request.pk}").content.decode()
    assert "Your turn begins at" in html


def test_a_second_tap_is_the_same_decision(night: Scene) -> None:
    client = as_(night, "approver")
    given = hidden(client.get(f"/requests/{night.request.pk}").content.decode()) | {"decision": "approve", "reason": ""}
    for _ in range(2):
        assert client.post(f"/requests/{night.request.pk}/decision", given).status_code == 302
    assert Outcome.objects.count() == Vote.objects.count() == 1


def test_with_htmx_a_refusal_is_a_fragment_with_its_status_and_a_success_leads_on(night: Scene) -> None:
    client = as_(night, "approver")
    refused = send(client, night, {"decision": "reject", "reason": ""}, **{"HX-Request": "true"})
    html = refused.content.decode()
    assert refused.status_code == 422
    assert "<html" not in html
    assert "needs a reason" in html
    done = send(client, night, {"decision": "reject", "reason": REASON}, **{"HX-Request": "true"})
    assert done["HX-Redirect"] == f"/requests/{night.request.pk}"


def test_a_wrong_request_is_404(night: Scene) -> None:
    address = "/requests/00000000-0000-4000-8000-000000000000"
    client = as_(night, "approver")
    assert client.get(address).status_code == 404
    assert client.post(f"{address}/decision", {"decision": "approve", "idempotency_key": "k"}).status_code == 404
