from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor

from foundation.errors import SpellbookError, Unavailable
from spellbook.keys import make_demo_keys
from spellbook.listen import listen
from spellbook.processes import House, Keeper, only_one, services


class Command(BaseCommand):
    help = "Runs the site, its workers and beat until Ctrl-C; PORT and SPELLBOOK_BIND say where."

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with only_one(settings.RUN_DIR):
                self.run()
        except SpellbookError as error:
            raise CommandError(str(error)) from None

    def run(self) -> None:
        demo = settings.SPELLBOOK_ENVIRONMENT == "demo"
        sockets = listen(settings.SPELLBOOK_BIND, settings.PORT, loopback_only=demo)
        keys = signing_keys()
        migrate(self.say)
        children = services(sockets, keys=keys, run_dir=settings.RUN_DIR)
        keepers = [Keeper(child, settings.BASE_DIR, settings.LOG_DIR) for child in children]
        self.say(f"Spellbook is at {settings.SPELLBOOK_BASE_URL} (logs in {settings.LOG_DIR}; Ctrl-C stops it).")
        House(keepers, run_dir=settings.RUN_DIR, say=self.say).run()
        self.say("Stopped.")

    def say(self, sentence: str) -> None:
        self.stdout.write(sentence)
        self.stdout.flush()


def signing_keys() -> Path:
    """The folder of the signing keys; a demo makes them, everybody else is asked for them."""
    if settings.SPELLBOOK_KEYS_DIR is not None:
        return Path(settings.SPELLBOOK_KEYS_DIR)
    if settings.SPELLBOOK_ENVIRONMENT != "demo":
        raise Unavailable("Set SPELLBOOK_KEYS_DIR to the folder that holds receipt.key and checkpoint.key.")
    try:
        make_demo_keys(settings.DEMO_KEYS_DIR)
    except OSError as error:
        raise Unavailable(f"The demo's keys cannot be kept in {settings.DEMO_KEYS_DIR}: {error.strerror}.") from None
    return Path(settings.DEMO_KEYS_DIR)


def migrate(say: Callable[[str], None]) -> None:
    """Apply the migrations that are missing, if this role may, and say so before; connections are closed afterwards."""
    try:
        executor = MigrationExecutor(connection)
        missing = executor.migration_plan(executor.loader.graph.leaf_nodes())
        if missing:
            say("Bringing the database up to date (less than a minute) …")
            call_command("migrate", interactive=False, verbosity=0)
    except DatabaseError as error:
        reason = str(error).strip().partition("\n")[0]
        raise Unavailable(
            f"The database cannot be brought up to date ({reason}): run manage.py migrate as its owner."
        ) from None
    finally:
        connection.close()
