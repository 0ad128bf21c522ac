"""The rule that changes of an asset are acknowledged: seen by all, set and lifted by the people of its domain."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest
from django.test import Client

from catalog.models import Asset, ReviewRule
from foundation.audit import sentence
from foundation.models import AuditRow
from foundation.people import create_person
from spellbook.erasing import GONE, erase
from spellbook.review_facts import document
from tests.spellbook.machines import command_line
from tests.spellbook.page_data import HOSTILE, Scene, scene

pytestmark = [pytest.mark.django_db, pytest.mark.real, pytest.mark.both]
WHY = "Finance closes its books on it."


@pytest.fixture
def night() -> Scene:
    return scene()


def client(night: Scene, who: str, **options: Any) -> Client:
    found = Client(**options)
    found.force_login(night.people[who])
    return found


def fact(night: Scene) -> Asset:
    return night.assets["fct_orders"]


def read(night: Scene, who: str) -> str:
    return opened(night, who, "?tab=review_rule")


def form(night: Scene, who: str) -> str:
    """What the page of forms says of the rule."""
    html = opened(night, who, "/declare")
    return html[html.index('aria-labelledby="rule"') : html.index('aria-labelledby="people"')]


def opened(night: Scene, who: str, rest: str) -> str:
    answer = client(night, who).get(f"/assets/{fact(night).pk}{rest}")
    assert answer.status_code == 200
    return answer.content.decode()


def words(html: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())


def put(night: Scene, who: str, reason: str = WHY) -> Any:
    sent = {"rule": "set", "reason": reason}
    return client(night, who).post(f"/assets/{fact(night).pk}/review-rule", sent)


def lift(night: Scene, who: str, reason: str = "The books are closed.", rule: object = None) -> Any:
    shown = ReviewRule.objects.order_by("-pk").values_list("pk", flat=True).first() if rule is None else rule
    sent = {"rule": "lift", "reason": reason, "seen": "" if shown is None else shown}
    return client(night, who).post(f"/assets/{fact(night).pk}/review-rule", sent)


def said() -> list[tuple[str, bool]]:
    rows = AuditRow.objects.filter(action__startswith="review.rule").order_by("pk")
    return [(sentence(row), row.refused) for row in rows]


def test_a_person_of_the_domain_sets_the_rule_and_everybody_reads_why_and_who(night: Scene) -> None:
    assert "No rule is set." in words(read(night, "stranger"))
    answer = put(night, "owner", f"  {WHY}\r\n ")
    assert answer.status_code == 302
    rule = ReviewRule.objects.get()
    assert (rule.asset, rule.reason, rule.set_by, rule.lifted_at) == (fact(night), WHY, night.people["owner"], None)
    text = words(read(night, "stranger"))
    assert f"A change of this asset has to be acknowledged, because: {WHY} Set by The owner," in text
    assert said() == [(f"set that changes of fct_orders have to be acknowledged: {WHY}", False)]
    assert [one.reason for one in document().rules] == [WHY]  # reviews know of it


def test_a_person_of_the_domain_lifts_it_with_a_reason_that_stays_in_the_history(night: Scene) -> None:
    put(night, "owner")
    assert lift(night, "admin").status_code == 302
    rule = ReviewRule.objects.get()
    assert rule.lifted_by == night.people["admin"]
    text = words(read(night, "stranger"))
    assert "No rule is set." in text
    assert "The admin lifted the rule that changes of fct_orders have to be acknowledged: The books are closed." in text
    assert "What was set and lifted (2)" in text
    assert document().rules == ()
    assert put(night, "owner", "Again.").status_code == 302
    assert ReviewRule.objects.count() == 2


def test_forms_are_shown_to_people_of_the_domain_alone_and_others_are_told_who_may(night: Scene) -> None:
    for set_before, words_of_link in ((False, "Set a rule"), (True, "Lift the rule")):
        for who, mine in (("owner", True), ("admin", True), ("stranger", False), ("operator", False)):
            html = read(night, who)
            assert (words_of_link in html) is mine, who
            assert ("A person of its domain sets and lifts the rule" in html) is not mine
            assert ("<form" in form(night, who)) is mine
        if not set_before:
            put(night, "owner")


def test_others_are_refused_and_the_attempt_is_kept(night: Scene) -> None:
    assert put(night, "stranger").status_code == 403
    assert ReviewRule.objects.count() == 0
    put(night, "owner")
    answer = lift(night, "stranger")
    assert answer.status_code == 403
    assert "Only a person of the asset" in words(answer.content.decode())
    assert ReviewRule.objects.get().lifted_at is None
    assert [refused for _, refused in said()] == [True, False, True]


@pytest.mark.parametrize("reason", ["", "   ", "x" * 501, "a\0b"], ids=["none", "blank", "long", "null"])
def test_a_reason_is_needed_to_set_and_to_lift(night: Scene, reason: str) -> None:
    assert put(night, "owner", reason).status_code == 422
    assert ReviewRule.objects.count() == 0
    put(night, "owner")
    assert lift(night, "owner", reason).status_code == 422
    assert ReviewRule.objects.get().lifted_at is None


def test_a_second_rule_and_a_lifting_that_comes_too_late_are_conflicts(night: Scene) -> None:
    put(night, "owner")
    assert put(night, "admin", "Another.").status_code == 409
    assert ReviewRule.objects.get().reason == WHY
    first = ReviewRule.objects.get().pk
    assert lift(night, "owner").status_code == 302
    assert lift(night, "owner").status_code == 409
    put(night, "owner", "Anew.")
    for stale in (first, "", "x", "9" * 40, "-1"):
        assert lift(night, "owner", rule=stale).status_code == 409, stale
    assert ReviewRule.objects.filter(lifted_at=None).count() == 1


def test_a_forged_form_is_refused_and_the_real_one_works_without_a_script(night: Scene) -> None:
    web = client(night, "owner", enforce_csrf_checks=True)
    address = f"/assets/{fact(night).pk}/review-rule"
    assert web.post(address, {"rule": "set", "reason": WHY}).status_code == 403
    assert ReviewRule.objects.count() == 0
    for typed in (WHY, "The books are closed."):
        page = web.get(f"/assets/{fact(night).pk}/declare").content.decode()
        shown = page[page.index('aria-labelledby="rule"') : page.index('aria-labelledby="people"')]
        sent = dict(re.findall(r'name="(\w+)" value="([^"]*)"', shown)) | {"reason": typed}
        assert web.post(address, sent).status_code == 302
    assert ReviewRule.objects.get().lifted_at is not None


def test_an_asset_of_a_restricted_domain_has_no_rule_for_others(night: Scene) -> None:
    put(night, "owner")
    night.domain.restricted = True
    night.domain.save()
    for answer in (put(night, "stranger"), lift(night, "stranger")):
        assert answer.status_code == 404
        assert WHY not in answer.content.decode()
    assert ReviewRule.objects.get().lifted_at is None


def test_what_people_type_is_shown_as_text(night: Scene) -> None:
    put(night, "owner", HOSTILE)
    html = read(night, "stranger")
    assert "<script>alert" not in html
    assert "\u202e" not in html
    assert "&lt;script&gt;" in html


def test_each_field_has_a_label_and_the_part_one_heading(night: Scene) -> None:
    for _ in range(2):
        assert re.search(r"<label>[^<]+<textarea name=\"reason\"", form(night, "owner"))
        assert read(night, "owner").count('<h2 id="review-rule">') == 1
        put(night, "owner")


def test_a_rule_of_somebody_who_is_erased_stands_without_their_words(night: Scene) -> None:
    leaver = create_person("leaver@shop.example", "The leaver", roles=["admin"])
    night.people["leaver"] = leaver
    put(night, "leaver")
    erase(leaver, actor=command_line())
    rule = ReviewRule.objects.get()
    assert (rule.reason, rule.lifted_at) == (GONE, None)
    text = words(read(night, "stranger"))
    assert "The leaver" not in text
    assert WHY not in text
