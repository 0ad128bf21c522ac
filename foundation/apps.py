from __future__ import annotations

from django.apps import AppConfig
from django.db.models.signals import post_migrate, pre_migrate
from django.utils.module_loading import autodiscover_modules


class FoundationConfig(AppConfig):
    name = "foundation"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        # Not before: the triggers' SQL asks the app registry for every floor's list.
        from foundation.triggers import after_migrate, before_migrate  # noqa: PLC0415

        autodiscover_modules("actions")  # so that every process can say every floor's audit rows in words
        # Both signals are sent once per app; listening to this app alone makes each run once per `migrate`.
        pre_migrate.connect(before_migrate, sender=self, dispatch_uid="foundation.triggers.before")
        post_migrate.connect(after_migrate, sender=self, dispatch_uid="foundation.triggers.after")
