from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from django.db import IntegrityError, transaction

from foundation import clock, people
from foundation.audit import sentence
from foundation.errors import BadInput, Conflict, NotAllowed
from foundation.models import AuditDetail, AuditRow, Token
from tests.foundation.cast import actor, agent, person

pytestmark = pytest.mark.django_db
SCOPE = "build:write"


def test_the_text_is_shown_once_and_only_its_hash_is_kept() -> None:
    token, raw = people.issue_token(person().principal, label="laptop", scopes=[SCOPE])
    assert raw.startswith("sbk_")
    assert len(raw) == 47
    kept = [str(list(Token.objects.values_list())), str(list(AuditDetail.objects.values_list()))]
    assert not any(raw[8:] in text for text in kept)
    assert raw[8:] not in repr(token)


def test_a_token_names_its_principal() -> None:
    bot = agent(person())
    _, raw = people.issue_token(bot, label="loader", scopes=[SCOPE, "value:write"])
    assert people.principal_for_token(raw, scope="value:write") == bot
    assert (
        sentence(AuditRow.objects.get(action="token.issued"))
        == "issued a token with the scopes build:write, value:write"
    )


@pytest.mark.parametrize("raw", ["", "sbk_", "sbk_" + "x" * 43, "Bearer x", "\ud800", "é"])
def test_an_unknown_token_is_refused(raw: str) -> None:
    with pytest.raises(NotAllowed, match="not known"):
        people.principal_for_token(raw, scope=SCOPE)


def test_a_scope_that_was_not_given_is_refused() -> None:
    _, raw = people.issue_token(agent(person()), label="", scopes=[SCOPE])
    with pytest.raises(NotAllowed, match="value:write"):
        people.principal_for_token(raw, scope="value:write")


def test_a_token_ends_by_the_clock_of_the_database(monkeypatch: pytest.MonkeyPatch) -> None:
    end = clock.now() + timedelta(hours=1)
    _, raw = people.issue_token(agent(person()), label="", scopes=[SCOPE], expires_at=end)
    assert people.principal_for_token(raw, scope=SCOPE)
    monkeypatch.setattr("foundation.clock.now", lambda: end)
    with pytest.raises(NotAllowed, match="expired"):
        people.principal_for_token(raw, scope=SCOPE)


def test_a_revoked_token_stays_revoked() -> None:
    token, raw = people.issue_token(agent(person()), label="", scopes=[SCOPE])
    people.revoke_token(token, actor=actor())
    with pytest.raises(NotAllowed, match="revoked"):
        people.principal_for_token(raw, scope=SCOPE)
    with pytest.raises(Conflict):
        people.revoke_token(token, actor=actor())
    with pytest.raises(IntegrityError), transaction.atomic():
        Token.objects.update(revoked_at=None)


def test_a_token_cannot_be_widened() -> None:
    people.issue_token(agent(person()), label="", scopes=[SCOPE])
    with pytest.raises(IntegrityError), transaction.atomic():
        Token.objects.update(scopes=["level:raise"])


def test_a_deactivated_owner_takes_the_agents_along() -> None:
    ada = person()
    tokens = [people.issue_token(who, label="", scopes=[SCOPE])[1] for who in (agent(ada), ada.principal)]
    people.deactivate(ada, actor=actor())
    for raw in tokens:
        with pytest.raises(NotAllowed, match="deactivated"):
            people.principal_for_token(raw, scope=SCOPE)


def test_the_last_use_is_noted_once_a_minute() -> None:
    token, raw = people.issue_token(agent(person()), label="", scopes=[SCOPE])
    people.principal_for_token(raw, scope=SCOPE)
    token.refresh_from_db()
    first = token.last_used_at
    assert first is not None
    people.principal_for_token(raw, scope=SCOPE)
    token.refresh_from_db()
    assert token.last_used_at == first
    Token.objects.update(last_used_at=first - timedelta(minutes=2))
    people.principal_for_token(raw, scope=SCOPE)
    token.refresh_from_db()
    assert token.last_used_at is not None
    assert token.last_used_at >= first


@pytest.mark.parametrize("scopes", [[], ["build"], ["build:write", "*"], ["Build:Write"]])
def test_unfit_scopes_are_refused(scopes: list[str]) -> None:
    with pytest.raises(BadInput):
        people.issue_token(agent(person()), label="", scopes=scopes)


@pytest.mark.parametrize("end", [datetime(2020, 1, 1), None])
def test_an_end_that_is_over_or_has_no_zone_is_refused(end: datetime | None) -> None:
    with pytest.raises(BadInput):
        people.issue_token(agent(person()), label="", scopes=[SCOPE], expires_at=end or clock.now())


def test_a_system_principal_has_no_tokens() -> None:
    with pytest.raises(BadInput):
        people.issue_token(people.system("conductor"), label="", scopes=[SCOPE])
