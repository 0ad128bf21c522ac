"""The stages of the night: what every person and every other system of it does, and what is awaited of the site."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

from examples.mixpanel_night.night import history, reader, repo, sync
from examples.mixpanel_night.playing import SYNC, Night, dbt
from examples.mixpanel_night.site import ROOT, Stuck

MART = "analytics.agg_plan_upgraded_quarterly"
BOARD = "Activation & Expansion Board"
METRIC = "plan_upgraded_q3"
APPROVER = "analytics.lead@example.com"
PAUSE_BEFORE_SIGNING = 20
WEB, WAKE, WORK, LONG = "web.log", "worker-wake.log", "worker-work.log", "worker-long.log"


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
    night.say(f"real dbt build, {said}; the sync's copy has {first['rows_inserted']:,} rows", "/catalog")


def stage_review(night: Night) -> None:
    """What a review says of the pull request. On this evening nobody reads it."""
    repo.propose_bad_change(night.repo)
    dbt(night, "compile", night.estate / "proposed")
    written = night.data / "review.md"
    said = json.loads(
        night.site.command(
            "review", str(night.estate / "tonight-good"), str(night.estate / "proposed"),
            "--from-database", "--format", "json", "--markdown", str(written),
        )
    )  # fmt: skip
    night.say(f"a pull request adds a filter; its review says {said['verdict']}: {said['reasons'][0]}")
    print(f"{'':<18} {written.relative_to(ROOT)} holds the whole of it; nobody reads it tonight", flush=True)


def stage_bad(night: Night) -> None:
    repo.merge_bad_change(night.repo)
    said = night.build("tonight-bad")
    night.say(f"the pull request was merged, the next build is green, {said}")


def stage_incident(night: Night) -> None:
    told = night.wait("the incident, told", lambda: (one := found(night)) and one["told"] and one, log=WAKE)
    night.say(
        f"INC-{told['number']} {told['severity']}; next read {minute(told['next_read'])}; "
        f"holds: {', '.join(hold['reader'] + ' ' + hold['state'] for hold in told['holds'])}",
        f"/incidents/{told['number']}",
    )


def minute(moment: str | None) -> str:
    """A moment of the API as the pages write it."""
    return f"{datetime.fromisoformat(moment):%-d %b %H:%M} UTC" if moment else "not known"


def found(night: Night) -> dict[str, Any] | None:
    return night.incident() if night.site.api("GET", "/incidents")["total"] else None


def stage_cause(night: Night) -> None:
    told = night.wait("the diagnosis", lambda: (one := night.incident())["diagnosed"] and one, log=WORK, seconds=90)
    night.say(told["cause"]["statement"])
    if not told["cause"]["established"]:
        raise Stuck("a cause with its proof", "the cause was not established", WORK)


def stage_plan(night: Night) -> None:
    told = night.wait("a plan that is asked for", lambda: planned(night), log=LONG)
    night.plan = plan = told["plan"]
    night.say(f"{len(plan['steps'])} steps, {plan['rehearsal']}", f"/plans/{plan['id']}")


def planned(night: Night) -> dict[str, Any] | None:
    told = night.incident()
    if told["no_plan"]:
        raise Stuck("a plan", f"no plan, since {told['no_plan']}", WORK)
    return told if told["plan"] and told["plan"]["request"] else None


def stage_request(night: Night) -> None:
    page = f"/requests/{night.plan['request']['id']}"
    done = play_sync(night, "sync-0200", announce=True)
    damage = night.wait(
        "damage that is done", lambda: [one for one in night.incident()["damage"] if one["state"] == "done"], log=WAKE
    )
    night.say(
        f"to be decided before {minute(night.plan['request']['expires_at'])}; meanwhile the sync ran: "
        f"{done['rows_removed']:,} rows removed, damage done at {damage[0]['reader']}",
        page,
    )
    print(f"{'':<18} the approver signs in as {APPROVER} with {night.sign_ins[APPROVER]}", flush=True)


def stage_decision(night: Night) -> None:
    page = f"/requests/{night.plan['request']['id']}"
    if night.manual:
        print(f"{'':<18} waiting for you to decide in the browser", flush=True)
        night.wait("your decision", lambda: decided(night), log=WEB, seconds=3600)
    else:
        decide(night, page)
    state = night.incident()["plan"]["request"]["state"]
    if state != "approved":
        raise Stuck("an approval", f"the request ended as {state}, so nothing runs, which is as it should be", WEB)
    night.say("approved by the named person")


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


def stage_repair(night: Night) -> None:
    patch = night.person("dbt.owner@example.com").read(f"/plans/{night.plan['id']}/patch")
    merged = repo.apply_and_merge(night.repo, patch)
    told = night.wait("the end of the rerun", lambda: ended(night), log=LONG, seconds=180)
    run = told["plan"]["run"]
    night.say(f"the owner merged {merged[:10]}; dbt run {run['state']} (exit code {run['exit_code']})")


def ended(night: Night) -> dict[str, Any] | None:
    told = night.incident()
    if told["plan"]["state"] == "failed":
        raise Stuck("a rerun that succeeds", f"the plan failed: {told['plan']['end_reason']}", LONG)
    run = told["plan"]["run"]
    return told if run and run["state"] in ("succeeded", "failed") else None


def stage_verify(night: Night) -> None:
    told = night.wait("the verification", lambda: verified(night), log=WORK)
    value = reader.source_value(night.duck)
    night.site.record(MART, METRIC, value)
    back = play_sync(night, "sync-0300", announce=True)
    night.wait(
        "damage that is repaired", lambda: all(one["state"] != "done" for one in night.incident()["damage"]), log=WAKE
    )
    shown = reader.shown(night.copy)
    night.site.record(BOARD, METRIC, shown)
    night.say(
        f"{told['plan']['end_reason']}; source value {value:,}; the next sync brought {back['rows_inserted']:,} rows "
        f"back; the board shows {shown:,}",
    )


def verified(night: Night) -> dict[str, Any] | None:
    told = night.incident()
    if told["plan"]["state"] == "failed":
        raise Stuck("a verified plan", f"the plan failed: {told['plan']['end_reason']}", WORK)
    return told if told["plan"]["state"] == "verified" else None


def stage_receipt(night: Night) -> None:
    told = night.wait("the closing", lambda: (one := night.incident())["state"] == "closed" and one, log=WAKE)
    told = night.wait("the seal of its receipt", lambda: sealed(night), log=WAKE)
    receipt = next(one for one in told["receipts"] if one["type"] == "incident")
    bundle = night.data / "incident-receipt.zip"
    lead = night.person(APPROVER)
    bundle.write_bytes(lead.client.get(f"/receipts/{receipt['id']}/bundle").content)
    published = [line for line in lead.read("/ledger/keys").splitlines() if line and not line.startswith("#")]
    keys = [part for line in published for part in ("--key", line)]
    night.site.command("verify_receipt", str(bundle), *keys)
    refused = verify_changed(night, bundle, keys)
    night.say(
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
        raise Stuck("the refusal of a bundle with one changed byte", f"exit code {done.returncode}", "")
    return f"one byte changed is refused: {done.stderr.strip().removeprefix('CommandError: ')}"


def play_sync(night: Night, key: str, *, announce: bool) -> dict[str, Any]:
    """The tool's sync runs, and announces what it did."""
    done = sync.sync(night.duck, night.copy)
    if announce:
        facts = {name: done[name] for name in ("rows_removed", "rows_inserted")}
        times = {name: done[name] for name in ("started_at", "ended_at")}
        night.site.announce(key=key, kind="sync", producer="sync", outputs=[SYNC], facts=facts, **times)
        night.site.wait(f"the run {key}", lambda: night.read(key)["processed"], lambda: night.became(key), log=WORK)
    return dict(done)


STAGES: tuple[tuple[str, Callable[[Night], None]], ...] = (
    ("0 levels", raise_level),
    ("1 good", stage_good),
    ("2 review", stage_review),
    ("2 bad", stage_bad),
    ("3 incident", stage_incident),
    ("4 cause", stage_cause),
    ("5 plan", stage_plan),
    ("6 request", stage_request),
    ("6 decision", stage_decision),
    ("7 repair", stage_repair),
    ("8 verified", stage_verify),
    ("9 receipt", stage_receipt),
)
"""In their order, with what is written before each line."""
