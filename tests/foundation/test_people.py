from __future__ import annotations

import pytest
from django.contrib.auth import authenticate
from django.db import IntegrityError, transaction

from foundation import audit, people
from foundation.audit import record
from foundation.errors import BadInput, Conflict, NotAllowed
from foundation.models import AuditDetail, AuditRow, Person, Principal, Role
from tests.foundation.cast import DONE, PASSWORD, actor, agent, at_once, person

pytestmark = pytest.mark.django_db


def test_a_person_signs_in_by_address_whatever_its_case() -> None:
    ada = person()
    assert authenticate(username="ADA@Example.org", password=PASSWORD) == ada
    assert authenticate(username="ada@example.org", password="wrong") is None
    assert ada.principal.kind == "human"


def test_without_a_password_nobody_signs_in() -> None:
    people.create_person("quiet@example.org", "Quiet")
    assert authenticate(username="quiet@example.org", password="") is None


@pytest.mark.parametrize(
    ("email", "name", "password"),
    [
        ("no address", "Ada", None),
        ("", "Ada", None),
        ("ada@example.org", "  ", None),
        ("ada@example.org", "A\nB", None),
        ("ada@example.org", "x" * 201, None),
        ("ada@example.org", "Ada", "short"),
    ],
)
def test_bad_input_is_refused_and_nothing_is_kept(email: str, name: str, password: str | None) -> None:
    with pytest.raises(BadInput):
        people.create_person(email, name, password=password)
    assert not Person.objects.exists()
    assert not Principal.objects.exists()


def test_an_address_is_given_once() -> None:
    person()
    with pytest.raises(Conflict):
        people.create_person("ADA@example.org", "Another Ada")
    assert Principal.objects.count() == 1


def test_an_agent_has_an_active_owner() -> None:
    ada = person()
    assert agent(ada).owner == ada
    people.deactivate(ada, actor=actor())
    with pytest.raises(BadInput):
        agent(ada)


def test_the_database_refuses_an_agent_without_owner() -> None:
    moment = person().principal.created_at
    with pytest.raises(IntegrityError), transaction.atomic():
        Principal.objects.create(kind="agent", created_at=moment)


def test_a_system_principal_is_the_same_each_time() -> None:
    assert people.system("conductor") == people.system("conductor") != people.system("sealer")
    assert people.display_name(people.system("conductor")) == "conductor"


def test_roles_are_given_and_taken_once() -> None:
    ada = people.create_person("ada@example.org", "Ada", roles=["member"])
    people.give_role(ada, "owner", scope="billing", actor=actor())
    people.give_role(ada, "owner", scope="billing", actor=actor())
    assert people.has_role(ada, "member", scope="billing")
    assert people.has_role(ada, "owner", scope="billing")
    assert not people.has_role(ada, "owner", scope="growth")
    people.take_role(ada, "owner", scope="billing", actor=actor())
    with pytest.raises(Conflict):
        people.take_role(ada, "owner", scope="billing", actor=actor())
    assert AuditRow.objects.filter(action="role.given").count() == 2
    assert AuditRow.objects.filter(action="role.taken").count() == 1


def test_a_deactivated_person_has_neither_sign_in_nor_roles() -> None:
    ada = people.create_person("ada@example.org", "Ada", password=PASSWORD, roles=["admin"])
    assert Person.objects.get().is_admin
    people.deactivate(ada, actor=actor())
    assert authenticate(username=ada.email, password=PASSWORD) is None
    assert not people.has_role(ada, "admin")
    assert not Person.objects.get().is_admin
    with pytest.raises(Conflict):
        people.deactivate(ada, actor=actor())
    people.reactivate(ada, actor=actor())
    assert authenticate(username=ada.email, password=PASSWORD) == ada


def test_staff_may_look_and_not_touch() -> None:
    ada = person()
    ada.is_staff = True
    assert ada.has_perm("foundation.view_person")
    assert not ada.has_perm("foundation.change_person")
    assert not ada.has_perm("foundation.delete_person")


def test_erasing_leaves_the_uuid_and_nothing_else() -> None:
    ada = people.create_person("ada@example.org", "Ada Owner", password=PASSWORD, roles=["admin"])
    _, raw = people.issue_token(ada.principal, label="Ada's laptop", scopes=["build:write"])
    _, other = people.issue_token(agent(ada), label="loader", scopes=["build:write"])
    row = record(audit.Actor(ada.principal, "web"), DONE, ("thing", "1"), facts={"what": "a private note"})
    number = ada.principal_id
    people.erase(ada, actor=actor())

    assert (
        people.display_name(ada.principal_id)
        == people.display_name(Principal.objects.get(pk=number))
        == "erased person"
    )
    assert audit.sentence(AuditRow.objects.get(pk=row.pk)) == "details erased"
    assert not AuditDetail.objects.filter(audit__principal_id=number).exists()
    assert not Role.objects.filter(person=ada).exists()
    stored = Person.objects.get(pk=ada.pk)
    assert "ada" not in stored.email
    assert stored.last_login is None
    for text in (raw, other):
        with pytest.raises(NotAllowed):
            people.principal_for_token(text, scope="build:write")
    with pytest.raises(Conflict):
        people.erase(ada, actor=actor())
    with pytest.raises(Conflict):
        people.reactivate(stored, actor=actor())


def test_people_and_principals_are_never_deleted() -> None:
    ada = person()
    for rows in (Person.objects.filter(pk=ada.pk), Principal.objects.filter(pk=ada.principal_id)):
        with pytest.raises(IntegrityError), transaction.atomic():
            rows._raw_delete(rows.db)


def test_a_principal_never_changes_its_kind() -> None:
    ada = person()
    with pytest.raises(IntegrityError), transaction.atomic():
        Principal.objects.filter(pk=ada.principal_id).update(kind="system")


def test_two_who_add_the_same_address_add_one_person(committing: str) -> None:
    outcomes: list[str] = []

    def add() -> None:
        try:
            people.create_person("same@example.org", "Same")
            outcomes.append("added")
        except Conflict:
            outcomes.append("conflict")

    at_once(4, add)
    assert sorted(outcomes) == ["added", "conflict", "conflict", "conflict"]
    assert Principal.objects.count() == 1


def test_many_who_need_a_system_principal_make_one(committing: str) -> None:
    at_once(4, lambda: people.system("conductor"))
    assert Principal.objects.count() == 1
