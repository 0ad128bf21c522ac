"""Everything that must forbid a dispatch does, and what may run is claimed exactly once."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction

from approvals.models import Outcome, Plan, Receipt, Run, Step
from approvals.services import autonomy, dispatch, merges, runs
from approvals.services.acting import advance
from approvals.services.stop import lift_stop, set_stop
from catalog.models import Asset, Consumer, EdgeClaim, GraphHead, GraphVersion, NodeClaim, Sync
from foundation import connections
from foundation.audit import sentence
from foundation.clock import now
from foundation.errors import BadInput, Conflict, SpellbookError, Unavailable
from foundation.models import AuditRow
from tests.approvals.acting_builders import until
from tests.approvals.builders import House, conductor, house, raise_level
from tests.approvals.code_builders import MODEL, NEW, OLD, Repo, acting, connect, fake_dbt, make_repo, step

pytestmark = pytest.mark.django_db


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return make_repo(tmp_path / "repo")


@pytest.fixture
def built() -> House:
    return house()


@pytest.fixture
def ran(tmp_path: Path, settings: Any) -> Path:
    settings.RUNS_DIR = tmp_path / "runs"
    return fake_dbt(tmp_path / "bin")


@pytest.fixture
def plan(built: House, repo: Repo, ran: Path) -> Plan:
    """Approved, and merged as approved; the rerun is next."""
    approved = acting(built, repo)
    repo.write(MODEL, NEW)
    assert merges.look(step(approved, 1), actor=conductor())
    return approved


def send(plan: Plan) -> bool:
    return dispatch.dispatch(step(plan, 2), actor=conductor())


def follow(plan: Plan) -> bool:
    return runs.follow(step(plan, 2), actor=conductor())


def waits() -> list[str]:
    return [sentence(row) for row in AuditRow.objects.filter(action="plan.step_waits").order_by("pk")]


def lines(ran: Path) -> int:
    return len(ran.read_text().splitlines()) if ran.exists() else 0


def test_the_checked_commit_is_built_once_and_followed_to_its_end(plan: Plan, repo: Repo, ran: Path) -> None:
    later = repo.write("models/other.sql", "select 3 as id\n")
    assert send(plan)
    run = Run.objects.get()
    assert run.commit != later
    assert (run.state, step(plan, 2).state) == ("running", "acting")
    assert (runs.run_folder(run) / "project" / "models/other.sql").read_text() == "select 2 as id\n"
    assert runs.run_folder(run).stat().st_mode & 0o777 == 0o700
    until(lambda: follow(plan))
    run.refresh_from_db()
    assert (run.state, run.exit_code, run.last_line) == ("succeeded", 0, "the end")
    assert run.build is not None
    assert (run.build.key, run.build.commit) == (f"run-{run.pk}", run.commit)
    assert step(plan, 2).state == "done"
    assert not send(plan)
    assert lines(ran) == 1
    actions = AuditRow.objects.filter(action__startswith="run.").order_by("pk").values_list("action", flat=True)
    assert list(actions) == ["run.claimed", "run.started", "run.ended"]


def test_a_run_spends_its_step_for_good(plan: Plan, repo: Repo, ran: Path) -> None:
    assert send(plan)
    for tamper in (lambda: Run.objects.update(outcome=None), lambda: Run.objects.all().delete()):
        with pytest.raises(IntegrityError), transaction.atomic():
            tamper()
    assert Run.objects.filter(outcome__isnull=False).count() == 1


def test_a_failed_run_fails_step_and_plan_with_their_receipts(plan: Plan, tmp_path: Path) -> None:
    fake_dbt(tmp_path / "bin", code=1)
    send(plan)
    until(lambda: advance(plan.pk, actor=conductor()))
    assert step(plan, 2).state == "failed"
    assert advance(plan.pk, actor=conductor())
    ended = Plan.objects.get()
    assert (ended.state, ended.end_reason, ended.due_at) == ("failed", "step 2 failed", None)
    assert step(plan, 3).state == "abandoned"
    assert sorted(Receipt.objects.filter(type__in=["step", "plan"]).values_list("type", flat=True)) == [
        "plan", "step", "step", "step"
    ]  # fmt: skip


def test_under_the_stop_nothing_is_claimed_and_why_is_said_once(plan: Plan, built: House, ran: Path) -> None:
    set_stop("look first", person=built.stranger)
    for _ in range(2):
        assert not send(plan)
    assert not Run.objects.exists()
    assert waits() == ["step 2 waits: the stop is set"]
    lift_stop(person=built.second)
    assert send(plan)


def test_a_claim_made_before_the_stop_is_not_started_under_it(
    plan: Plan, built: House, ran: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatch, "hit", lambda name: set_stop("now", person=built.stranger))
    assert not send(plan)
    assert Run.objects.get().state == "claimed"
    for _ in range(2):
        assert not follow(plan)
    assert lines(ran) == 0
    assert Run.objects.get().due_at is None, "nothing lives that could be ended, so nothing waits for an end"
    lift_stop(person=built.second)
    assert follow(plan)
    until(lambda: lines(ran) == 1)
    assert Run.objects.count() == 1


def test_a_run_in_flight_is_cancelled_by_the_stop_and_followed_to_its_end(
    plan: Plan, built: House, tmp_path: Path
) -> None:
    fake_dbt(tmp_path / "bin", seconds=60)
    send(plan)
    set_stop("now", person=built.stranger)
    until(lambda: follow(plan))
    run = Run.objects.get()
    assert (run.state, run.due_at) == ("cancelled", None)
    assert step(plan, 2).state == "failed"


def test_below_l2_nothing_is_dispatched(plan: Plan, built: House) -> None:
    autonomy.lower(built.domain, "rerun:dbt", 1, person=built.stranger)
    for _ in range(2):
        assert not send(plan)
    assert not Run.objects.exists()
    assert waits() == ["step 2 waits: the level is L1 now; below L2 nothing is dispatched"]
    raise_level(built, "rerun:dbt")
    assert send(plan)


def test_a_step_that_was_not_approved_is_refused(built: House, repo: Repo, ran: Path) -> None:
    plan = acting(built, repo, steps=[1, 3])
    Step.objects.filter(plan=plan, position=2).update(state="waiting")
    with pytest.raises(Conflict, match="Step 2 was not approved"):
        send(plan)


def test_a_plan_that_was_changed_after_its_approval_is_refused(plan: Plan) -> None:
    changed = step(plan, 2)
    changed.params = {**changed.params, "select": ["everything+"]}
    changed.save(update_fields=["params"])
    with pytest.raises(Conflict, match="not the one that was approved"):
        send(plan)
    assert not Run.objects.exists()


def test_another_commit_than_the_approved_change_is_never_built(plan: Plan, repo: Repo) -> None:
    other = repo.write("models/other.sql", "select 3 as id\n")
    Step.objects.filter(plan=plan, position=1).update(facts={"commit": other})
    with pytest.raises(Conflict, match="is not, or is no longer, the approved change"):
        send(plan)
    assert not Run.objects.exists()


def test_a_change_that_was_taken_back_before_the_dispatch_is_not_built(plan: Plan, repo: Repo) -> None:
    repo.write(MODEL, OLD)
    with pytest.raises(Conflict, match="no longer, the approved change"):
        send(plan)


def test_a_step_is_spent_once_even_if_its_row_says_otherwise(plan: Plan, ran: Path) -> None:
    send(plan)
    Step.objects.filter(plan=plan, position=2).update(state="waiting")
    with pytest.raises(Conflict, match="spent before"):
        send(plan)
    assert Run.objects.count() == 1


def join(built: House, cron: str) -> None:
    """Somebody declares another reader of the table after the plan was shown."""
    reader = Asset.objects.create(namespace="sync://tool", name="late sync", kind="sync", domain=built.domain)
    source = EdgeClaim.objects.get(from_asset=built.asset).source
    head = GraphHead.objects.get(pk=1)
    GraphHead.objects.filter(pk=1).update(version=head.version + 1)
    version = GraphVersion.objects.create(number=head.version + 1, at=now(), source=source)
    NodeClaim.objects.create(source=source, asset=reader, local_id=reader.name, added_in=version)
    EdgeClaim.objects.create(source=source, from_asset=built.asset, to_asset=reader, added_in=version)
    consumer = Consumer.objects.create(asset=reader, cron=cron, lead_seconds=60)
    Sync.objects.create(consumer=consumer, tool="crm", mode="mirror")


@pytest.mark.parametrize("cron", ["* * * * *", ""])
def test_a_new_reader_that_reads_before_the_end_stops_the_dispatch(plan: Plan, built: House, cron: str) -> None:
    join(built, cron)
    Plan.objects.update(expected_seconds=120)
    assert not send(plan)
    assert not Run.objects.exists()
    assert waits() == ["step 2 waits: new readers that nobody was shown read before the run would end: late sync"]


def test_a_new_reader_that_reads_later_does_not(plan: Plan, built: House, ran: Path) -> None:
    far = now() + timedelta(days=20)
    join(built, f"0 0 {far.day} {far.month} *")
    assert send(plan)


def test_a_missing_dbt_is_one_sentence_and_tried_again(plan: Plan, tmp_path: Path, settings: Any) -> None:
    settings.SPELLBOOK_DBT = str(tmp_path / "nowhere")
    for look in (send, follow):
        with pytest.raises(Unavailable, match="dbt is not installed"):
            look(plan)
    assert (Run.objects.get().state, Run.objects.count()) == ("claimed", 1)
    fake_dbt(tmp_path / "bin")
    assert follow(plan)


def test_a_run_folder_that_cannot_be_written_leaves_nothing_half_made(
    plan: Plan, tmp_path: Path, settings: Any
) -> None:
    (tmp_path / "file").touch()
    settings.RUNS_DIR = tmp_path / "file" / "runs"
    with pytest.raises(Unavailable, match="could not be prepared"):
        send(plan)
    settings.RUNS_DIR = tmp_path / "runs"
    run = Run.objects.get()
    half = runs.run_folder(run) / "project.new"
    half.mkdir(parents=True)
    (half / "left-over").touch()
    assert follow(plan)
    assert not half.exists()
    assert not (runs.run_folder(run) / "project" / "left-over").exists()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 256 KiB that is full; whoever removes the file `filler` makes room."""
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(folder)], check=False)
    if mounted.returncode:
        pytest.skip("a disk of limited size needs the right to mount one")
    try:
        with suppress(OSError), (folder / "filler").open("wb", buffering=0) as file:
            while True:
                file.write(b"0" * 4096)
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_a_full_disk_is_one_sentence_and_the_next_look_tries_again(plan: Plan, small_disk: Path, settings: Any) -> None:
    settings.RUNS_DIR = small_disk / "runs"
    for look in (send, follow):
        with pytest.raises(Unavailable, match=r"(?i)disk is full|no space left"):
            look(plan)
    assert not list(small_disk.rglob("exit.json"))
    assert not list(small_disk.rglob("project"))
    (small_disk / "filler").unlink()
    assert follow(plan)
    until(lambda: follow(plan))
    assert (Run.objects.get().state, Run.objects.count()) == ("succeeded", 1)


def test_a_run_that_died_without_a_word_is_started_again(plan: Plan, ran: Path) -> None:
    send(plan)
    until(lambda: lines(ran) == 1)
    run = Run.objects.get()
    until((runs.run_folder(run) / "exit.json").exists)
    (runs.run_folder(run) / "exit.json").unlink()
    follow(plan)
    until(lambda: lines(ran) == 2)
    assert Run.objects.count() == 1


@pytest.mark.parametrize("name", ["profiles_dir", "project_subdir"])
def test_a_folder_that_leaves_the_repository_is_refused(plan: Plan, repo: Repo, name: str) -> None:
    connect(repo, **{name: "../.."})
    with pytest.raises(BadInput, match="leaves the repository"):
        send(plan)


def test_the_declared_variables_and_the_named_secrets_reach_dbt_and_no_file(
    plan: Plan, repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPELLBOOK_CONN_WORD", "hush")
    row = connections.get("dbt")
    connections.save(
        "dbt", kind="dbt", purpose="run", namespace=row.namespace, params={**row.params, "env": {"PLACE": "here"}},
        secret_names=["SPELLBOOK_CONN_WORD"], actor=conductor(),
    )  # fmt: skip
    (tmp_path / "bin" / "dbt").write_text(f'#!/bin/sh\necho "$PLACE $SPELLBOOK_CONN_WORD" > {tmp_path}/seen\n')
    assert send(plan)
    until(lambda: (tmp_path / "seen").exists() and (tmp_path / "seen").read_text() != "")
    assert (tmp_path / "seen").read_text() == "here hush\n"
    kept = [path for path in runs.run_folder(Run.objects.get()).rglob("*") if path.is_file()]
    assert not any(b"hush" in path.read_bytes() for path in kept)


def test_a_rerun_without_a_change_builds_the_branch_as_it_is(built: House, repo: Repo, ran: Path) -> None:
    plan = acting(built, repo)
    Step.objects.filter(plan=plan, position=2).update(params={**step(plan, 2).params, "after": []})
    repo.write("models/other.sql", "select 3 as id\n")
    assert dispatch._commit(step(plan, 2)) == repo.head()


@pytest.mark.prove
def test_of_many_at_once_one_claims(committing: str, tmp_path: Path, settings: Any) -> None:
    settings.RUNS_DIR = tmp_path / "runs"
    ran, repo, built = fake_dbt(tmp_path / "bin"), make_repo(tmp_path / "repo"), house()
    plan = acting(built, repo)
    repo.write(MODEL, NEW)
    merges.look(step(plan, 1), actor=conductor())

    def one(_: int) -> bool:
        try:
            return send(plan)
        except SpellbookError:
            return False
        finally:
            connection.close()

    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(one, range(6)))
    assert sum(answers) == 1
    assert Run.objects.count() == Outcome.objects.count() == 1
    until(lambda: lines(ran) == 1)
