"""What works in this installation, what does not, and what to do about it; each probe is one line of `PROBES`."""

from __future__ import annotations

import importlib.metadata
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

from django.conf import settings
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor

from approvals.models import Receipt
from catalog.code_hosts import local_git
from catalog.code_hosts.github.client import open_github
from catalog.code_hosts.github.connection import KIND
from catalog.warehouses.registry import KINDS, open_warehouse
from foundation import triggers
from foundation.clock import now
from foundation.errors import SpellbookError
from foundation.models import Connection
from spellbook import doctor_graph
from spellbook.celery import app
from spellbook.doctor_result import ProbeResult

__all__ = ["PROBES", "ProbeResult", "examine"]

DBT_SECONDS = 30
EMPTY = "it holds no tables yet, so connections, namespaces and ledger were not examined"
MIGRATE = "run python manage.py migrate, or make up, which does it"


def examine() -> list[ProbeResult]:
    """Run every probe; one that itself fails says so and does not keep the others from running.

    Where the database cannot be read, the probes that read rows are left out: the first line has said why.
    """
    found: list[ProbeResult] = []
    for name, probe in PROBES.items():
        if name in READ_ROWS and any((one.name, one.state) == ("database", "does not work") for one in found):
            continue
        try:
            found += probe()
        except (SpellbookError, OSError, DatabaseError) as error:
            found.append(ProbeResult(name, "does not work", str(error).strip().partition("\n")[0]))
    return found


def database() -> Iterator[ProbeResult]:
    """Engine, migrations, triggers, and on PostgreSQL whether the app's role is neither owner nor superuser."""
    engine = connection.vendor
    executor = MigrationExecutor(connection)
    waiting = executor.migration_plan(executor.loader.graph.leaf_nodes())
    if waiting:
        said = f"{len(waiting)} migrations are not applied" if executor.loader.applied_migrations else EMPTY
        yield ProbeResult("database", "does not work", f"{engine}: {said}", MIGRATE)
        return
    yield ProbeResult("database", "works", f"{engine}, its clock says {now():%Y-%m-%d %H:%M:%S} UTC")
    missing = triggers.missing(connection.alias)
    if missing:
        yield ProbeResult("triggers", "does not work", f"missing or changed: {', '.join(missing)}", "run migrate again")
    else:
        yield ProbeResult("triggers", "works", "every guard stands in the database as written")
    if engine == "postgresql":
        yield _role()


def _role() -> ProbeResult:
    with connection.cursor() as cursor:
        cursor.execute(
            "select rolsuper, exists(select 1 from pg_tables where tablename = 'foundation_auditrow' "
            "and tableowner = current_user) from pg_roles where rolname = current_user"
        )
        superuser, owner = cursor.fetchone()
    if superuser or owner:
        what = "a superuser" if superuser else "the owner of the tables"
        todo = "let migrations run as the owner and the app as a role of its own"
        return ProbeResult(
            "database role", "does not work", f"the app connects as {what}, so triggers can be switched off", todo
        )
    return ProbeResult("database role", "works", "neither superuser nor owner")


def broker() -> Iterator[ProbeResult]:
    """Whether the broker takes a connection; the truth is in the database, a broker only wakes."""
    try:
        with app.connection_for_write() as link:
            link.ensure_connection(max_retries=1, timeout=3)
    except Exception as error:
        yield ProbeResult("broker", "does not work", f"{type(error).__name__}", "look at SPELLBOOK_BROKER_URL")
        return
    yield ProbeResult("broker", "works", str(settings.CELERY_BROKER_URL).split("@")[-1])


def dbt() -> Iterator[ProbeResult]:
    """The dbt that runs rehearsals and reruns, and whether its DuckDB is the app's."""
    path = Path(settings.SPELLBOOK_DBT)
    if not path.is_file():
        yield ProbeResult(
            "dbt", "does not work", "there is no dbt where SPELLBOOK_DBT says", "run make setup, or set SPELLBOOK_DBT"
        )
        return
    python = path.parent / "python"
    versions = (
        "from importlib.metadata import version as v, PackageNotFoundError as E\n"
        "for n in ('dbt-core', 'duckdb'):\n"
        "    try: print(v(n))\n"
        "    except E: print('none')\n"
    )
    try:
        done = subprocess.run(
            [str(python), "-c", versions], capture_output=True, text=True, timeout=DBT_SECONDS, check=True
        )
        core, theirs = done.stdout.split()
    except (OSError, ValueError, subprocess.SubprocessError):
        yield ProbeResult("dbt", "unknown", "its environment does not tell its versions")
        return
    yield ProbeResult("dbt", "works", f"dbt-core {core}")
    ours = importlib.metadata.version("duckdb")
    if theirs not in ("none", ours):
        todo = "pin the same version in both environments"
        yield ProbeResult(
            "duckdb", "does not work", f"dbt has {theirs}, the app {ours}: one may not read the other's file", todo
        )


def warehouses() -> Iterator[ProbeResult]:
    """Each connection that reads a warehouse."""
    for row in Connection.objects.filter(purpose="read", kind__in=KINDS):
        try:
            open_warehouse(row.kind, row.params, row.secret_names).test()
        except SpellbookError as error:
            yield ProbeResult(f"connection {row.name}", "does not work", str(error), "look at its parameters")
        else:
            yield ProbeResult(f"connection {row.name}", "works", row.namespace)


def code_hosts() -> Iterator[ProbeResult]:
    """Each connection to code: the branch in the repository on this machine, or the repository at its host."""
    for row in Connection.objects.filter(purpose="code", kind__in=CODE):
        try:
            said = CODE[row.kind](row)
        except SpellbookError as error:
            yield ProbeResult(f"connection {row.name}", "does not work", str(error), "look at its parameters")
        else:
            yield ProbeResult(f"connection {row.name}", "works", said)


def _local(row: Connection) -> str:
    branch = str(row.params.get("branch", "main"))
    return f"{branch} is at {local_git.head(str(row.params.get('path', '')), branch)[:12]}"


def _hosted(row: Connection) -> str:
    with open_github(row) as host:
        return host.repository().full_name


CODE: dict[str, Callable[[Connection], str]] = {"git": _local, KIND: _hosted}


def ledger() -> Iterator[ProbeResult]:
    """Whether receipts wait for the sealer."""
    oldest = Receipt.objects.filter(sealed_at__isnull=True).order_by("created_at").first()
    if oldest is None:
        yield ProbeResult("ledger", "works", "every receipt is sealed")
        return
    age = (now() - oldest.created_at).total_seconds()
    state = "works" if age < settings.SPELLBOOK_READY_LIMIT else "does not work"
    todo = "" if state == "works" else "look at the worker for wake and its keys"
    yield ProbeResult("ledger", state, f"the oldest receipt has waited {age:.0f} s for its seal", todo)


PROBES: dict[str, Callable[[], Iterator[ProbeResult]]] = {
    "database": database,
    "broker": broker,
    "dbt": dbt,
    "warehouses": warehouses,
    "code": code_hosts,
    "rights": doctor_graph.rights,
    "introspection": doctor_graph.introspections,
    "namespaces": doctor_graph.namespaces,
    "ledger": ledger,
}
READ_ROWS = frozenset({"warehouses", "code", "rights", "introspection", "namespaces", "ledger"})
"""The probes that read what stands in the database."""
