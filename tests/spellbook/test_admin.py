"""The admin never writes what a service writes."""

from __future__ import annotations

from typing import Any

import pytest
from django.apps import apps
from django.contrib import admin
from django.test import Client, RequestFactory

from foundation.models import Person
from foundation.people import create_person
from spellbook.admin import FLOORS, HIDDEN

pytestmark = pytest.mark.django_db


@pytest.fixture
def staff() -> Person:
    person = create_person("staff@example.com", "Staff", password="correct horse battery")
    Person.objects.filter(pk=person.pk).update(is_staff=True)
    person.refresh_from_db()
    return person


def test_every_model_of_the_house_is_shown_and_none_can_be_written(staff: Person) -> None:
    request = RequestFactory().get("/admin/")
    request.user = staff
    ours = {model for floor in FLOORS for model in apps.get_app_config(floor).get_models()}
    assert ours <= set(admin.site._registry)
    for model in ours:
        shown: Any = admin.site._registry[model]
        assert shown.has_view_permission(request)
        assert not shown.has_add_permission(request)
        assert not shown.has_change_permission(request)
        assert not shown.has_delete_permission(request)
        assert not HIDDEN & set(shown.get_fields(request))


def test_lists_and_rows_open_for_staff_and_for_nobody_else(client: Client, staff: Person) -> None:
    address = f"/admin/foundation/person/{staff.pk}/change/"
    assert client.get(address).status_code == 302
    client.force_login(staff)
    assert client.get("/admin/foundation/person/").status_code == 200
    page = client.get(address)
    assert page.status_code == 200
    assert staff.password not in page.content.decode()
    assert client.post(address, {"email": "other@example.com"}).status_code == 403
