"""A full disk under each thing that is written: one sentence, nothing half-written, and it works again with room."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pytest
from django.db import connection
from pytest_django import Settings

from approvals.models import Plan, Request, Run
from catalog.models import Asset, Build
from catalog.selectors import find_asset
from examples.mixpanel_night.night.repo import apply_and_merge
from foundation import audit, connections
from foundation.canonical import sha256_hex
from foundation.errors import Unavailable
from foundation.models import AuditRow
from incidents.models import Metric, Result, Value
from incidents.services.record import record
from spellbook import stuck
from tests.catalog.manifests import run_results, shop
from tests.engines import chosen, open_at, put_back
from tests.estates.fanout import Fanout
from tests.spellbook.commands import manage
from tests.spellbook.house import House, end_runs
from tests.spellbook.machines import NAMESPACE, Machine, command_line, make_shop

pytestmark = [
    pytest.mark.real,
    pytest.mark.timeout(420),
    pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("mount"), reason="only root mounts a small disk"),
]
MEGABYTE = 1 << 20


@dataclass
class Disk:
    """A small disk of its own."""

    folder: Path
    megabytes: int

    def mount(self) -> None:
        self.folder.mkdir()
        size = f"size={self.megabytes}m"
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", size, "tmpfs", str(self.folder)], check=False)
        if done.returncode:
            pytest.skip("this machine lets nobody mount a small disk")

    @property
    def filler(self) -> Path:
        return self.folder / "filler"

    def fill(self, *, leave: int = 0) -> None:
        """Leave no more than so many bytes free."""
        free = os.statvfs(self.folder).f_bavail * os.statvfs(self.folder).f_frsize
        with self.filler.open("wb") as file:
            file.write(b"x" * max(0, free - leave))

    def clear(self) -> None:
        self.filler.unlink()

    def files(self) -> set[str]:
        return {str(path.relative_to(self.folder)) for path in self.folder.rglob("*") if path.is_file()} - {"filler"}


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    made = Disk(tmp_path / "disk", 64)
    made.mount()
    yield made
    subprocess.run(["umount", "-l", str(made.folder)], check=False)


@pytest.mark.skipif(chosen() != "sqlite", reason="PostgreSQL's disk is elsewhere")
def test_under_the_database(disk: Disk, committing: str) -> None:
    file = disk.folder / "spellbook.sqlite3"
    shutil.copyfile(committing.removeprefix("sqlite:///"), file)
    previous = open_at(f"sqlite:///{file}")
    try:
        make_shop()
        machine = Machine.make()
        orders = find_asset("main.orders")
        disk.fill()
        keys = map(str, range(2_000))
        with pytest.raises(Unavailable, match="disk under the database is full or failing; nothing was recorded"):
            kept_until_full(orders, keys)
        kept = int(next(keys)) - 1
        assert Value.objects.count() == Build.objects.count() == kept
        assert AuditRow.objects.filter(action="value.recorded").count() == kept
        status, told = machine.values({"asset": "main.orders", "metric": "other", "value": 1})
        assert (status, told["error"]) == (503, "unavailable")
        assert not Metric.objects.filter(name="other").exists()
        ran = manage("record", "main.orders", "other", "1")
        assert (ran.code, len(ran.err.splitlines())) == (1, 1), ran.err
        assert "full" in ran.err

        disk.clear()
        assert machine.values({"asset": "main.orders", "metric": "other", "value": 1})[0] == 200
        with connection.cursor() as cursor:
            assert cursor.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    finally:
        put_back(previous)


def kept_until_full(asset: Asset, keys: Iterator[str]) -> None:
    for key in keys:
        record(asset, "row_count", key, actor=command_line(), build_key=key)


@pytest.mark.django_db
def test_under_the_artifact_store(disk: Disk, settings: Settings) -> None:
    settings.ARTIFACTS_DIR = disk.folder / "artifacts"
    make_shop()
    machine = Machine.make()
    night = {"manifest": shop(stamp="night"), "run_results": run_results(("model.shop.orders", "success", 1))}
    disk.fill(leave=4096)
    status, told = machine.build(night, key="night")
    assert (status, told["error"]) == (503, "unavailable")
    assert told["message"] == "The file could not be stored: the disk is full; nothing was kept."
    assert not Build.objects.exists()
    assert all(whole(disk.folder / name) for name in disk.files()), "what is there may be unused, never half"
    disk.clear()
    assert machine.build(night, key="night")[0] == 202
    assert all(whole(disk.folder / name) for name in disk.files())
    assert Build.objects.get().artifacts.count() == 2


def whole(file: Path) -> bool:
    """Whether a stored file is what its name says."""
    return file.parent.name + file.name == sha256_hex(file.read_bytes())


@pytest.mark.django_db
def test_under_the_copies_of_the_warehouse(disk: Disk, settings: Settings, tmp_path: Path) -> None:
    settings.SPELLBOOK_DATA_DIR = disk.folder
    make_shop()
    file = tmp_path / "dev.duckdb"
    with duckdb.connect(str(file)) as source:
        source.execute("create table main.orders as select i from range(300000) as r(i)")
    connections.save(
        "wh", kind="duckdb", purpose="read", namespace=NAMESPACE, params={"path": str(file)}, secret_names=[],
        actor=command_line(),
    )  # fmt: skip
    disk.fill(leave=64 * 1024)
    before = disk.files()
    ran = manage("run_checks", "main.orders", "--format", "json")
    (told,) = ran.json["results"]
    assert told["status"] == "not evaluated"
    assert "disk is full" in told["reason"]
    assert not Value.objects.exists()
    assert not [name for name in disk.files() - before if not name.endswith("lock")]

    disk.clear()
    assert manage("run_checks", "main.orders").code == 0
    assert Value.objects.get().number == 300_000
    assert Result.objects.count() == 2


@pytest.mark.dbt
def test_under_the_folder_of_the_runs(disk: Disk, committing: str, settings: Settings, tmp_path: Path) -> None:
    settings.ARTIFACTS_DIR, settings.RUNS_DIR = tmp_path / "artifacts", disk.folder / "runs"
    settings.SPELLBOOK_DATA_DIR, settings.SPELLBOOK_KEYS_DIR = tmp_path, tmp_path / "keys"
    freight = Fanout.make(tmp_path / "estate", rows=1_000)
    house = House.open(freight)
    house.night("good")
    freight.break_it()
    house.night("bad")
    try:
        house.until(Request.objects.exists, 180)
        house.decide()
        apply_and_merge(freight.repo, str(Plan.objects.get().steps.get(kind="change").params["patch"]))
        disk.fill()
        house.until(lambda: said(Plan.objects.get()))
        for _ in range(3):
            house.look()
        assert said(Plan.objects.get()) == ["The disk is full, there is no room for the checkout."]
        run = Run.objects.get()
        assert run.state == "claimed"
        assert not list((disk.folder / "runs" / str(run.pk)).glob("project"))

        disk.clear()
        house.until(lambda: Plan.objects.get().state not in ("acting", "verifying"), 180)
        assert Plan.objects.get().state == "verified", Plan.objects.get().end_reason
        assert Run.objects.get().pk == run.pk
    finally:
        end_runs()


def said(plan: Plan) -> list[str]:
    rows = AuditRow.objects.filter(action=stuck.NOT_DONE, target_id=str(plan.pk)).order_by("pk")
    return [audit.sentence(row) for row in rows]
