"""What Django loads first. The Celery application is imported here, which makes it that of every shared task."""

from __future__ import annotations

from django.apps import AppConfig
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from spellbook.celery import make_folders
from spellbook.settings import private_folder


class SpellbookConfig(AppConfig):
    name = "spellbook"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Every process may be the first that writes a message or a row, so the folders exist from the start."""
        try:
            private_folder(settings.SPELLBOOK_DATA_DIR)
            make_folders()
        except OSError as error:
            message = f"SPELLBOOK_DATA_DIR ({settings.SPELLBOOK_DATA_DIR}) cannot be written: {error.strerror}."
            raise ImproperlyConfigured(message) from None
