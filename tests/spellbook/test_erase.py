"""A person can be forgotten on every floor; what they decided stays, under a UUID."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from approvals.models import Vote, VoteReason
from foundation import audit
from foundation.canonical import sha256_hex
from foundation.models import Person
from foundation.people import display_name
from tests.approvals.builders import House, approved, house

pytestmark = pytest.mark.django_db


@pytest.fixture
def built() -> House:
    return house()


def erase(email: str) -> dict[str, str]:
    out = StringIO()
    call_command("erase", email, format="json", stdout=out)
    return dict(json.loads(out.getvalue()))


def test_the_words_of_a_vote_go_and_the_vote_stays(built: House) -> None:
    approved(built)
    vote = Vote.objects.select_related("said").get()
    said = VoteReason.objects.get()
    assert vote.reason == said.text
    assert vote.reason_sha256 == sha256_hex(bytes(said.salt) + said.text.encode()), "the commitment is salted"
    assert erase(built.approver.email) == {"erased": str(built.approver.principal_id)}
    vote = Vote.objects.get()
    assert (vote.reason, vote.decision) == ("reason erased", "approve")
    assert vote.reason_sha256 != ""
    assert display_name(Person.objects.get(pk=built.approver.pk).principal) == "erased person"
    told = [audit.sentence(row) for row in audit.timeline(vote.request.plan.incident_id) if said.text]  # type: ignore[arg-type]
    assert not any(said.text in sentence for sentence in told)


def test_nobody_of_that_address_is_one_sentence() -> None:
    with pytest.raises(CommandError, match=r"^Nobody has the e-mail nobody@example.com.$"):
        erase("nobody@example.com")
