"""One playing of the night: its folders, its site, its people, and the estate as it was before tonight."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import yaml

from examples.mixpanel_night import load
from examples.mixpanel_night.night import repo
from examples.mixpanel_night.site import ROOT, Person, Site, Stuck, last_line
from examples.mixpanel_night.warehouse import connect

TABLE = "analytics.fct_account_events"
SYNC = "Mixpanel warehouse connector: account events"
NEXT_SYNC = timedelta(minutes=40)


class Night:
    """The state of one playing: the folders, the site, the sign-ins, the stage that is played, the plan."""

    def __init__(self, rows: int, port: int, manual: bool) -> None:
        self.rows, self.manual = rows, manual
        self.data = (ROOT / "var" / "demo").resolve()
        self.estate = self.data / "estate"
        self.duck, self.copy, self.repo = (self.estate / name for name in ("warehouse.duckdb", "tool.duckdb", "dbt"))
        self.site = Site(f"http://localhost:{port}", self.data)
        self.site.environment["PORT"] = str(port)
        self.sign_ins: dict[str, str] = {}
        self.stage = "0 ready"
        self.plan: dict[str, Any] = {}
        self.began = self.last = time.monotonic()

    def say(self, what: str, page: str = "") -> None:
        """One line of the night: the stage, the seconds it took, what happened, the page to open."""
        took, self.last = time.monotonic() - self.last, time.monotonic()
        where = f"\n{'':<18} {self.site.address}{page}" if page else ""
        print(f"{self.stage:<10} {took:5.1f} s  {what}{where}", flush=True)

    def person(self, email: str) -> Person:
        """Sign in as one of the people."""
        return self.site.sign_in(email, self.sign_ins[email])

    def build(self, key: str) -> str:
        """Run dbt as the nightly job does, announce the build with its artifacts, record its row count."""
        started = datetime.now(UTC)
        target = self.estate / key
        dbt(self, "build", target)
        self.site.announce(
            key=key, kind="dbt", producer="nightly job", commit=repo.head(self.repo), repository="code",
            connection="warehouse", started_at=started.isoformat(), ended_at=datetime.now(UTC).isoformat(),
            files={"manifest": target / "manifest.json", "run_results": target / "run_results.json"},
        )  # fmt: skip
        count = rows_of_table(self.duck)
        recorded = self.site.record(TABLE, "row_count", count, build=key)
        measured = f"the measuring of the build {key}"
        self.site.wait(measured, lambda: self.read(key)["measured"], lambda: self.became(key), log="worker-work.log")
        low, high = float(recorded["low"]), float(recorded["high"])
        return f"{count:,} rows: {recorded['verdict']} (band {low:,.0f} to {high:,.0f})"

    def read(self, key: str) -> dict[str, Any]:
        """A build that was announced, as the API tells it."""
        return self.site.api("GET", f"/builds/{key}")

    def became(self, key: str) -> str:
        """What became of a build, in words."""
        told = self.read(key)
        return f"processed: {told['processed']}, measured: {told['measured']}, refusal: {told['refusal'] or 'none'}"

    def incident(self) -> dict[str, Any]:
        """The incident of the night as the API tells it."""
        return self.site.api("GET", "/incidents/1")

    def wait(self, what: str, ready: Callable[[], Any], *, log: str, seconds: float = 120) -> Any:
        """Wait for something to become of the incident; Stuck, with what is seen of it, when it never does."""
        return self.site.wait(what, ready, self.seen, log=log, seconds=seconds)

    def seen(self) -> str:
        """How far the incident is, in words."""
        if not self.site.api("GET", "/incidents")["total"]:
            return "no incident"
        told = self.incident()
        plan = told["plan"] or {}
        parts = {
            "told": told["told"], "diagnosed": told["diagnosed"], "plan": plan.get("state"),
            "request": (plan.get("request") or {}).get("state"), "run": (plan.get("run") or {}).get("state"),
            "damage": ", ".join(f"{one['reader']} {one['state']}" for one in told["damage"]),
        }  # fmt: skip
        said = "; ".join(f"{name}: {value or 'no'}" for name, value in parts.items())
        return f"INC-{told['number']} {told['state']}; {said}"


def dbt(night: Night, verb: str, target: Path) -> None:
    """One real dbt command in the example's own repository; Stuck, with its last line, when it fails."""
    done = subprocess.run(
        [os.environ.get("SPELLBOOK_DBT", str(ROOT / ".envs" / "dbt" / "bin" / "dbt")), verb, "--no-version-check", "-q",
         "--project-dir", str(night.repo), "--profiles-dir", str(night.repo), "--target-path", str(target),
         "--log-path", str(night.estate / "logs")],
        env={**os.environ, "DUCK_PATH": str(night.duck), "DBT_SEND_ANONYMOUS_USAGE_STATS": "False"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise Stuck(f"dbt {verb}", last_line(done.stdout + done.stderr), str(night.estate / "logs" / "dbt.log"))


def rows_of_table(duck: Path) -> int:
    """What the nightly job counts after its build."""
    with connect(duck, read_only=True) as connection:
        row = connection.execute(f"select count(*) from {TABLE}").fetchone()  # noqa: S608 - a constant of this file
    return int(row[0]) if row else 0


def prepare(night: Night) -> None:
    """The estate before tonight: warehouse, repository, connections, declarations, people, thirty nights of counts."""
    print(f"Writing {night.rows:,} rows and the dbt project into {night.data} (about a minute).", flush=True)
    night.estate.mkdir(parents=True)
    load.load(night.duck, night.rows)
    repo.create_repository(night.repo)
    run, target = night.site.command, night.estate / "parse"
    run("migrate", "--no-input", "-v", "0")
    run("connection", "add", "warehouse", "--kind", "duckdb", "--purpose", "read", "--namespace", "duckdb://warehouse",
        "--param", f"path={night.duck}")  # fmt: skip
    run("connection", "add", "code", "--kind", "git", "--purpose", "code", "--param", f"path={night.repo}",
        "--param", "branch=main")  # fmt: skip
    run("connection", "add", "dbt", "--kind", "dbt", "--purpose", "run", "--namespace", "duckdb://warehouse",
        "--param", "profiles_dir=.", "--param", "target=warehouse", "--param", "repository=code",
        "--param", f"env.DUCK_PATH={night.duck}")  # fmt: skip
    dbt(night, "parse", target)
    run("import_manifest", str(target / "manifest.json"), "--connection", "warehouse")
    declaration = night.estate / "estate.yml"
    declaration.write_text(yaml.safe_dump(tonight(), sort_keys=False, allow_unicode=True), encoding="utf-8")
    declared = json.loads(run("declare", str(declaration), "--sign-ins", "--format", "json"))
    night.sign_ins = declared["sign_ins"]
    scopes = ("build:write", "value:write", "build:read", "incident:read")
    asked = [part for scope in scopes for part in ("--scope", scope)]
    issued = run("token", "issue", "nightly job", "--owner", "dbt.owner@example.com", *asked, "--format", "json")
    night.site.token = json.loads(issued)["token"]


def tonight() -> dict[str, Any]:
    """The declaration, with the hourly sync forty minutes away whatever the clock says."""
    document: dict[str, Any] = yaml.safe_load((Path(__file__).parent / "estate.yml").read_text(encoding="utf-8"))
    minute = (datetime.now(UTC) + NEXT_SYNC).minute
    for consumer in document["consumers"]:
        if consumer["asset"] == SYNC:
            consumer["schedule"]["cron"] = f"{minute} * * * *"
    return document
