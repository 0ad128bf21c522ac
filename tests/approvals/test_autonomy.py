from __future__ import annotations

import json
from datetime import timedelta

import pytest

from approvals.models import AutonomyRule, LevelChange, Plan, Receipt
from approvals.selectors import level_history, levels
from approvals.services import receipts
from approvals.services.autonomy import after_failure, effective_level, lower, plan_level, propose_raise, second_raise
from approvals.services.policies import save_policy
from catalog.models import Asset, Domain
from foundation.audit import Actor, sentence
from foundation.clock import now
from foundation.errors import BadInput, Conflict, NotAllowed
from foundation.models import AuditRow
from foundation.people import create_agent, deactivate, give_role
from tests.approvals.builders import House, as_actor, conductor, house, level_of, plan, raise_level

pytestmark = pytest.mark.django_db


@pytest.fixture
def built() -> House:
    return house(level=1)


def test_without_a_rule_the_level_is_1(built: House) -> None:
    assert effective_level(built.domain, ["rerun:dbt"]) == 1
    assert effective_level(built.domain, []) == 1
    assert effective_level(None, ["rerun:dbt"]) == 1


def test_the_most_specific_rule_wins_and_the_lowest_class_counts(built: House) -> None:
    raise_level(built)
    lower(built.domain, "message", 0, person=built.stranger)
    assert effective_level(built.domain, ["rerun:dbt"]) == 2
    assert effective_level(built.domain, ["message"]) == 0
    assert effective_level(built.domain, ["rerun:dbt", "message"]) == 0
    assert [(row.step_class, row.level) for row in levels(built.domain)] == [("", 2), ("message", 0)]


def test_a_plan_that_touches_two_domains_takes_the_lower(built: House) -> None:
    raise_level(built)
    drafted = plan(built)
    assert plan_level(drafted) == 2
    other = Domain.objects.create(key="finance", name="Finance")
    asset = Asset.objects.create(namespace="duckdb://orders", name="main.ledger", kind="table", domain=other)
    drafted.assertions.create(position=2, kind="no_nulls", asset=asset, params={"column": "a"}, sentence="no NULL")
    assert plan_level(drafted) == 1


def test_two_people_raise_by_one_and_a_receipt_says_who(built: House) -> None:
    change = propose_raise(built.domain, "", person=built.owner, reason="the would-do page was right 12 times")
    assert level_of(built) == 1
    second_raise(change.pk, person=built.second)
    assert level_of(built) == 2
    receipt = Receipt.objects.get(type="level")
    predicate = json.loads(bytes(receipt.statement))["predicate"]
    assert predicate["from"] == 1
    assert predicate["to"] == 2
    assert predicate["proposed_by"] == str(built.owner.principal_id)
    assert predicate["seconded_by"] == str(built.second.principal_id)
    assert predicate["environment"] == "demo"
    assert "would-do" not in bytes(receipt.statement).decode()  # free text stays in the erasable side row
    row = AuditRow.objects.get(action="level.raised")
    assert sentence(row) == "raised every class of Orders from L1 to L2"
    assert list(level_history(built.domain)) == [change]


def test_a_raise_needs_a_second_person(built: House) -> None:
    change = propose_raise(built.domain, "", person=built.owner, reason="right")
    with pytest.raises(NotAllowed, match="second person"):
        second_raise(change.pk, person=built.owner)
    assert level_of(built) == 1
    assert AuditRow.objects.get(action="level.refused").refused


def test_a_raise_needs_the_right_on_both_sides(built: House) -> None:
    with pytest.raises(NotAllowed, match="owner of Orders or a person with the role admin"):
        propose_raise(built.domain, "", person=built.approver, reason="right")
    change = propose_raise(built.domain, "", person=built.owner, reason="right")
    with pytest.raises(NotAllowed, match="role admin"):
        second_raise(change.pk, person=built.approver)
    give_role(built.approver, "owner", scope=f"domain:{built.domain.key}", actor=as_actor(built.second))
    second_raise(change.pk, person=built.approver)
    assert level_of(built) == 2


def test_agents_and_system_principals_have_no_way(built: House) -> None:
    for actor in (Actor(create_agent("helper", owner=built.owner), "mcp"), conductor()):
        with pytest.raises(NotAllowed, match="Only a signed-in person"):
            propose_raise(built.domain, "", person=built.owner, reason="right", actor=actor)
        with pytest.raises(NotAllowed, match="Only a signed-in person"):
            lower(built.domain, "", 0, person=built.owner, actor=actor)


def test_nobody_raises_a_level_for_the_work_of_their_own_agent(built: House) -> None:
    plan(built, author=create_agent("helper", owner=built.owner))
    with pytest.raises(NotAllowed, match="own agent"):
        propose_raise(built.domain, "rerun:dbt", person=built.owner, reason="right")
    propose_raise(built.domain, "sync", person=built.owner, reason="a class the agent never touched")


def test_a_deactivated_person_raises_nothing(built: House) -> None:
    deactivate(built.owner, actor=as_actor(built.second))
    with pytest.raises(NotAllowed, match="signed-in"):
        propose_raise(built.domain, "", person=built.owner, reason="right")


def test_a_raise_needs_a_reason_and_only_one_is_open(built: House) -> None:
    with pytest.raises(BadInput, match="reason"):
        propose_raise(built.domain, "", person=built.owner, reason=" ")
    propose_raise(built.domain, "", person=built.owner, reason="right")
    with pytest.raises(Conflict, match="waits for a second person"):
        propose_raise(built.domain, "", person=built.second, reason="right")


def test_a_raise_is_seconded_once(built: House) -> None:
    change = propose_raise(built.domain, "", person=built.owner, reason="right")
    second_raise(change.pk, person=built.second)
    with pytest.raises(Conflict, match="done already"):
        second_raise(change.pk, person=built.second)


def test_above_level_2_a_record_is_asked_for(built: House) -> None:
    raise_level(built)
    with pytest.raises(Conflict, match="20 clean receipts in a row; there are 0"):
        propose_raise(built.domain, "rerun:dbt", person=built.owner, reason="right")


def test_any_member_lowers_at_once_and_an_open_raise_is_withdrawn(built: House) -> None:
    raise_level(built)
    lower(built.domain, "", 1, person=built.stranger)
    change = propose_raise(built.domain, "", person=built.owner, reason="right")
    lower(built.domain, "", 0, person=built.stranger, reason="too noisy")
    assert level_of(built) == 0
    assert LevelChange.objects.get(pk=change.pk).state == "withdrawn"
    assert Receipt.objects.filter(type="level").count() == 3
    with pytest.raises(Conflict, match="withdrawn already"):
        second_raise(change.pk, person=built.second)


@pytest.mark.parametrize(("to", "error"), [(1, Conflict), (2, Conflict), (-1, BadInput), (5, BadInput)])
def test_lowering_goes_down_only(built: House, to: int, error: type[Exception]) -> None:
    with pytest.raises(error):
        lower(built.domain, "", to, person=built.stranger)


def test_a_failed_plan_takes_its_classes_back_to_level_2(built: House) -> None:
    raise_level(built)
    drafted = plan(built)
    earned(built)
    raise_level(built, "rerun:dbt")
    assert effective_level(built.domain, ["rerun:dbt"]) == 3
    assert after_failure(drafted, actor=conductor()) == ["rerun:dbt"]
    assert effective_level(built.domain, ["rerun:dbt"]) == 2
    assert Receipt.objects.filter(type="level", subject__contains="/plan/").count() == 1
    assert after_failure(drafted, actor=conductor()) == []


def earned(built: House) -> None:
    """Twenty verified plans over forty days, and no recent change of this class."""
    for number in range(20):
        moment = now() - timedelta(days=40 - number)
        verified = Plan.objects.create(
            incident=built.incident, revision=200 + number, state="verified", title="earlier", body=b"{}",
            author=conductor().principal, created_at=moment, ended_at=moment, plan_digest="0" * 64,
        )  # fmt: skip
        verified.steps.create(position=1, kind="rerun", step_class="rerun:dbt", actor="spellbook", title="r",
                              undo="u", reversible=True, state="done")  # fmt: skip


def test_a_policy_is_saved_by_its_domains_people_and_versioned(built: House) -> None:
    owner = as_actor(built.owner)
    saved = save_policy(built.domain, built.fallback, built.approver, 600, actor=owner)
    assert (saved.version, saved.approver) == (2, built.fallback)
    assert save_policy(built.domain, built.fallback, built.approver, 600, actor=owner).version == 2
    with pytest.raises(NotAllowed, match="who decides there"):
        save_policy(built.domain, built.stranger, built.approver, actor=as_actor(built.stranger))
    with pytest.raises(NotAllowed, match="Agents"):
        save_policy(built.domain, built.owner, built.approver, actor=Actor(create_agent("h", owner=built.owner), "api"))


def test_a_policy_that_nobody_can_satisfy_is_refused(built: House) -> None:
    owner = as_actor(built.owner)
    with pytest.raises(BadInput, match="two people"):
        save_policy(built.domain, built.approver, built.approver, actor=owner)
    with pytest.raises(BadInput, match="cannot be required"):
        save_policy(built.domain, built.approver, built.fallback, required=3, actor=owner)
    with pytest.raises(BadInput, match="cannot be required"):
        save_policy(built.domain, built.approver, built.fallback, required=0, actor=owner)
    deactivate(built.fallback, actor=owner)
    with pytest.raises(BadInput, match="deactivated"):
        save_policy(built.domain, built.approver, built.fallback, actor=owner)


def test_a_raise_that_was_overtaken_is_not_carried_out(built: House) -> None:
    raise_level(built)
    lower(built.domain, "message", 1, person=built.stranger)
    change = propose_raise(built.domain, "message", person=built.owner, reason="right")
    AutonomyRule.objects.filter(step_class="message").update(level=0)
    with pytest.raises(Conflict, match="no longer L1"):
        second_raise(change.pk, person=built.second)


def test_receipts_of_one_subject_are_written_once(built: House) -> None:
    descriptor = receipts.of_values("thing/1", {"a": 1})
    first = receipts.write("checks", "thing/1", {"a": 1}, [descriptor], created_at=now())
    assert receipts.write("checks", "thing/1", {"a": 1}, [descriptor], created_at=now()) == first
    with pytest.raises(Conflict, match="another checks receipt"):
        receipts.write("checks", "thing/1", {"a": 2}, [descriptor], created_at=now())
