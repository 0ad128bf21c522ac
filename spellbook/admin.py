"""The admin shows every row to staff and changes none: whatever is written goes through a service."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.apps import apps
from django.contrib import admin
from django.db import models
from django.http import HttpRequest

if TYPE_CHECKING:
    Base = admin.ModelAdmin[models.Model]
else:
    Base = admin.ModelAdmin

FLOORS = ("foundation", "catalog", "incidents", "approvals")
HIDDEN = {"password", "hash", "salt", "lease_token", "body", "headers", "statement", "envelope", "data", "shown"}


class ReadOnly(Base):
    """Looking is allowed to staff; adding, changing and deleting to nobody. Secrets and raw bytes are not shown."""

    list_per_page = 50
    show_full_result_count = False
    actions = None

    def get_fields(self, request: HttpRequest, obj: models.Model | None = None) -> Any:
        return [field.name for field in self.model._meta.fields if field.name not in HIDDEN]

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return False

    def has_view_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return bool(request.user.is_active and request.user.is_staff)


for floor in FLOORS:
    for model in apps.get_app_config(floor).get_models():
        admin.site.register(model, ReadOnly)
