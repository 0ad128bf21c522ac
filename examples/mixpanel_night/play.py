"""Plays the night on a running site: every person and every other system of it; the product knows nothing of it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import yaml

from examples.mixpanel_night import load
from examples.mixpanel_night.figures import asked_rows
from examples.mixpanel_night.night import history, reader, repo, sync
from examples.mixpanel_night.site import ROOT, Person, Site
from examples.mixpanel_night.warehouse import connect

TABLE = "analytics.fct_account_events"
MART = "analytics.agg_plan_upgraded_quarterly"
SYNC = "Mixpanel warehouse connector: account events"
BOARD = "Activation & Expansion Board"
METRIC = "plan_upgraded_q3"
APPROVER = "analytics.lead@example.com"
NEXT_SYNC = timedelta(minutes=40)
PAUSE_BEFORE_SIGNING = 20


class Night:
    """The state of one playing: the folders, the site, the sign-ins, the stages so far."""

    def __init__(self, rows: int, port: int, manual: bool) -> None:
        self.rows, self.manual = rows, manual
        self.data = (ROOT / "var" / "demo").resolve()
        self.estate = self.data / "estate"
        self.duck, self.copy, self.repo = (self.estate / name for name in ("warehouse.duckdb", "tool.duckdb", "dbt"))
        self.site = Site(f"http://localhost:{port}", self.data)
        self.site.environment["PORT"] = str(port)
        self.sign_ins: dict[str, str] = {}
        self.began = self.last = time.monotonic()

    def say(self, stage: str, what: str, page: str = "") -> None:
        """One line of the night: the stage, what happened, the seconds it took, the page to open."""
        took, self.last = time.monotonic() - self.last, time.monotonic()
        print(
            f"{stage:<10} {took:5.1f} s  {what}" + (f"\n{'':<18} {self.site.address}{page}" if page else ""), flush=True
        )

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
        self.site.wait(f"the build {key}", lambda: self.site.api("GET", f"/builds/{key}")["measured"])
        low, high = float(recorded["low"]), float(recorded["high"])
        return f"{count:,} rows: {recorded['verdict']} (band {low:,.0f} to {high:,.0f})"

    def incident(self) -> dict[str, Any]:
        """The incident of the night as the API tells it."""
        return self.site.api("GET", "/incidents/1")


def dbt(night: Night, verb: str, target: Path) -> None:
    """One real dbt command in the example's own repository."""
    done = subprocess.run(
        [os.environ.get("SPELLBOOK_DBT", str(ROOT / ".envs" / "dbt" / "bin" / "dbt")), verb, "--no-version-check", "-q",
         "--project-dir", str(night.repo), "--profiles-dir", str(night.repo), "--target-path", str(target),
         "--log-path", str(night.estate / "logs")],
        env={**os.environ, "DUCK_PATH": str(night.duck), "DBT_SEND_ANONYMOUS_USAGE_STATS": "False"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(f"dbt {verb} failed: {(done.stdout + done.stderr).strip()[-800:]}")


def minute(moment: str | None) -> str:
    """A moment of the API as the pages write it."""
    return f"{datetime.fromisoformat(moment):%-d %b %H:%M} UTC" if moment else "not known"


def rows_of_table(duck: Path) -> int:
    """What the nightly job counts after its build."""
    with connect(duck, read_only=True) as connection:
        row = connection.execute(f"select count(*) from {TABLE}").fetchone()  # noqa: S608 - a constant of this file
    return int(row[0]) if row else 0


def prepare(night: Night) -> None:
    """The estate before tonight: warehouse, repository, connections, declarations, people, thirty nights of counts."""
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


def raise_level(night: Night) -> None:
    """Two people take the domain from L1 to L2 through the page."""
    page = "/domains/growth"
    first = night.person("dbt.owner@example.com")
    first.post(page, f"{page}/raise", [("step_class", ""), ("reason", "Plans are to be asked for.")])
    night.person("admin@example.com").post(page, f"{page}/second", [])


def stage_good(night: Night) -> None:
    values = [
        {name: line[name] for name in ("asset", "metric", "value", "build", "at")}
        for line in history.nights(night.rows, datetime.now(history.ZONE).date())
    ]
    night.site.api("POST", "/values", json={"values": values})
    said = night.build("tonight-good")
    first = play_sync(night, "sync-first", announce=False)
    night.say("1 good", f"real dbt build, {said}; the sync's copy has {first['rows_inserted']:,} rows", "/catalog")


def stage_bad(night: Night) -> None:
    repo.merge_bad_change(night.repo)
    said = night.build("tonight-bad")
    night.say("2 bad", f"a change was merged, the next build is green, {said}")


def stage_incident(night: Night) -> None:
    told = night.site.wait("the incident", lambda: (one := found(night)) and one["told"] and one)
    night.say(
        "3 incident",
        f"INC-{told['number']} {told['severity']}; next read {minute(told['next_read'])}; "
        f"holds: {', '.join(hold['reader'] + ' ' + hold['state'] for hold in told['holds'])}",
        f"/incidents/{told['number']}",
    )


def found(night: Night) -> dict[str, Any] | None:
    return night.incident() if night.site.api("GET", "/incidents")["total"] else None


def stage_cause(night: Night) -> None:
    told = night.site.wait("the diagnosis", lambda: (one := night.incident())["diagnosed"] and one, 90)
    night.say("4 cause", told["cause"]["statement"])
    if not told["cause"]["established"]:
        raise SystemExit("The cause was not established; the night ends here.")


def stage_plan(night: Night) -> dict[str, Any]:
    told = night.site.wait("the plan", lambda: planned(night), 120)
    plan = told["plan"]
    night.say("5 plan", f"{len(plan['steps'])} steps, {plan['rehearsal']}", f"/plans/{plan['id']}")
    return dict(plan)


def planned(night: Night) -> dict[str, Any] | None:
    told = night.incident()
    if told["no_plan"]:
        raise SystemExit(f"No plan: {told['no_plan']}")
    return told if told["plan"] and told["plan"]["request"] else None


def stage_request(night: Night, plan: dict[str, Any]) -> None:
    page = f"/requests/{plan['request']['id']}"
    done = play_sync(night, "sync-0200", announce=True)
    damage = night.site.wait(
        "the damage", lambda: [one for one in night.incident()["damage"] if one["state"] == "done"]
    )
    night.say(
        "6 request",
        f"to be decided before {minute(plan['request']['expires_at'])}; meanwhile the sync ran: "
        f"{done['rows_removed']:,} rows removed, damage done at {damage[0]['reader']}",
        page,
    )
    print(f"{'':<18} the approver signs in as {APPROVER} with {night.sign_ins[APPROVER]}", flush=True)
    if night.manual:
        print(f"{'':<18} waiting for you to decide in the browser", flush=True)
        night.site.wait("your decision", lambda: decided(night), 3600)
    else:
        decide(night, page)
    state = night.incident()["plan"]["request"]["state"]
    if state != "approved":
        raise SystemExit(f"The request ended as {state}; nothing runs, which is as it should be.")
    night.say("6 decision", "approved by the named person")


def decided(night: Night) -> bool:
    return bool(night.incident()["plan"]["request"]["state"] != "pending")


def decide(night: Night, page: str) -> None:
    """Twenty seconds for somebody at the browser; then the script is the approver and posts the same form."""
    until = time.monotonic() + PAUSE_BEFORE_SIGNING
    while time.monotonic() < until and not decided(night):
        time.sleep(0.5)
    if not decided(night):
        reason = "The filter meant internal accounts only; unknown is not internal."
        lead = night.person(APPROVER)
        lead.post(page, f"{page}/decision", [("decision", "approve"), ("reason", reason)])


def stage_repair(night: Night, plan: dict[str, Any]) -> None:
    patch = night.person("dbt.owner@example.com").read(f"/plans/{plan['id']}/patch")
    merged = repo.apply_and_merge(night.repo, patch)
    told = night.site.wait("the rerun", lambda: ended(night), 180)
    run = told["plan"]["run"]
    night.say("7 repair", f"the owner merged {merged[:10]}; dbt run {run['state']} (exit code {run['exit_code']})")


def ended(night: Night) -> dict[str, Any] | None:
    told = night.incident()
    if told["plan"]["state"] == "failed":
        raise SystemExit(f"The plan failed: {told['plan']['end_reason']}")
    run = told["plan"]["run"]
    return told if run and run["state"] in ("succeeded", "failed") else None


def stage_verify(night: Night) -> None:
    told = night.site.wait("the verification", lambda: verified(night), 120)
    value = reader.source_value(night.duck)
    night.site.record(MART, METRIC, value)
    back = play_sync(night, "sync-0300", announce=True)
    night.site.wait(
        "the damage to be repaired", lambda: all(one["state"] != "done" for one in night.incident()["damage"])
    )
    shown = reader.shown(night.copy)
    night.site.record(BOARD, METRIC, shown)
    night.say(
        "8 verified",
        f"{told['plan']['end_reason']}; source value {value:,}; the next sync brought {back['rows_inserted']:,} rows "
        f"back; the board shows {shown:,}",
    )


def verified(night: Night) -> dict[str, Any] | None:
    told = night.incident()
    if told["plan"]["state"] == "failed":
        raise SystemExit(f"The plan failed: {told['plan']['end_reason']}")
    return told if told["plan"]["state"] == "verified" else None


def stage_receipt(night: Night) -> None:
    told = night.site.wait("the closing", lambda: (one := night.incident())["state"] == "closed" and one)
    told = night.site.wait("the seal", lambda: sealed(night))
    receipt = next(one for one in told["receipts"] if one["type"] == "incident")
    bundle = night.data / "incident-receipt.zip"
    lead = night.person(APPROVER)
    bundle.write_bytes(lead.client.get(f"/receipts/{receipt['id']}/bundle").content)
    published = [line for line in lead.read("/ledger/keys").splitlines() if line and not line.startswith("#")]
    keys = [part for line in published for part in ("--key", line)]
    night.site.command("verify_receipt", str(bundle), *keys)
    refused = verify_changed(night, bundle, keys)
    night.say(
        "9 receipt",
        f"incident closed as {told['resolution']}; the bundle verifies with the published keys; {refused}",
        f"/receipts/{receipt['id']}",
    )


def sealed(night: Night) -> dict[str, Any] | None:
    told = night.incident()
    mine = [one for one in told["receipts"] if one["type"] == "incident"]
    return told if mine and mine[0]["sealed"] else None


def verify_changed(night: Night, bundle: Path, keys: list[str]) -> str:
    """One byte of the bundle changed: the verifier has to refuse it and say what broke."""
    data = bytearray(bundle.read_bytes())
    data[len(data) // 2] ^= 1
    changed = bundle.with_name("changed.zip")
    changed.write_bytes(bytes(data))
    done = subprocess.run(
        [sys.executable, "manage.py", "verify_receipt", str(changed), *keys],
        cwd=ROOT, env=night.site.environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode != 1:
        raise SystemExit("A bundle with one changed byte was accepted.")
    return f"one byte changed is refused: {done.stderr.strip().removeprefix('CommandError: ')}"


def play_sync(night: Night, key: str, *, announce: bool) -> dict[str, Any]:
    """The tool's sync runs, and announces what it did."""
    done = sync.sync(night.duck, night.copy)
    if announce:
        facts = {name: done[name] for name in ("rows_removed", "rows_inserted")}
        times = {name: done[name] for name in ("started_at", "ended_at")}
        night.site.announce(key=key, kind="sync", producer="sync", outputs=[SYNC], facts=facts, **times)
        night.site.wait(f"the run {key}", lambda: night.site.api("GET", f"/builds/{key}")["processed"])
    return dict(done)


@contextmanager
def running(night: Night) -> Iterator[subprocess.Popen[bytes]]:
    """The site with its workers; ended when the block fails or EXIT=1."""
    up = subprocess.Popen([sys.executable, "manage.py", "up"], cwd=ROOT, env=night.site.environment)
    try:
        night.site.wait("the site", lambda: alive(night, up))
        yield up
    except BaseException:
        stop(up)
        raise


def alive(night: Night, up: subprocess.Popen[bytes]) -> bool:
    if up.poll() is not None:
        raise SystemExit(up.returncode or 1)
    try:
        return httpx.get(f"{night.site.address}/healthz", timeout=2).status_code == 200
    except httpx.HTTPError:
        return False


def stop(up: subprocess.Popen[bytes]) -> None:
    if up.poll() is None:
        up.send_signal(signal.SIGTERM)
        up.wait(30)


def play(night: Night) -> None:
    """All stages in their order."""
    raise_level(night)
    stage_good(night)
    stage_bad(night)
    stage_incident(night)
    stage_cause(night)
    plan = stage_plan(night)
    stage_request(night, plan)
    stage_repair(night, plan)
    stage_verify(night)
    stage_receipt(night)


def main() -> int:
    """EXIT=1 ends what it started, MANUAL=1 waits for your decision, ROWS makes it small, PORT moves the site."""
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))  # the site is ended on the way out
    night = Night(asked_rows(None), int(os.environ.get("PORT") or 8000), os.environ.get("MANUAL") == "1")
    shutil.rmtree(night.data, ignore_errors=True)
    prepare(night)
    with running(night) as up:
        night.say("0 ready", f"{night.rows:,} rows; everybody's sign-in:", "/sign-in")
        for email, password in night.sign_ins.items():
            print(f"{'':<18} {email} {password}")
        play(night)
        peak = int((night.data / "run" / "peak_pss").read_text(encoding="utf-8")) / 1_000_000
        print(
            f"Played in {time.monotonic() - night.began:.0f} s; peak of the summed PSS of all processes {peak:,.0f} MB."
        )
        if os.environ.get("EXIT") == "1":
            stop(up)
            return 0
        print(f"The site goes on at {night.site.address} (Ctrl-C ends it).")
        try:
            return up.wait()
        except KeyboardInterrupt:
            stop(up)
            return 0


if __name__ == "__main__":
    sys.exit(main())
