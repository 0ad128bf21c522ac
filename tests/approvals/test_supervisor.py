"""Real child processes: they survive whoever started them, run once, end as told, and leave their exit code."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from approvals.runners import local
from approvals.runners.base import Limits, RunState
from approvals.runners.local import ProcessSpec
from foundation.errors import Conflict, Unavailable

REPOSITORY = Path(__file__).resolve().parents[2]
WAIT_FOR_GO = """
import os, pathlib, sys, time
folder = pathlib.Path(sys.argv[1])
with open(folder / "starts", "a") as file:
    file.write(f"{os.getpid()}\\n")
print("waiting", flush=True)
while not (folder / "go").exists():
    time.sleep(0.02)
print("went", flush=True)
"""


def python(code: str, *arguments: object, limits: Limits = Limits(wall_seconds=60)) -> ProcessSpec:  # noqa: B008
    argv = [sys.executable, "-c", code, *(str(argument) for argument in arguments)]
    return ProcessSpec(argv, Path("/"), limits)


def until(condition: Callable[[], bool], seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.01)


def ended(folder: Path) -> RunState:
    until(lambda: local.poll(folder).state != "running")
    return local.poll(folder)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A run folder; whatever still runs in it at the end is stopped."""
    path = tmp_path / "run"
    yield path
    if path.exists() and local.poll(path).state == "running":
        with contextlib.suppress(Unavailable):
            local.cancel(path)
        until(lambda: local.poll(path).state != "running")


def started(folder: Path) -> list[str]:
    return (folder / "starts").read_text().split()


def test_a_run_that_works_leaves_its_exit_code_log_and_times(folder: Path) -> None:
    first = local.launch(folder, python("print('one'); print('two\\x1b[31m  ')"), {})
    assert first.state in ("running", "succeeded")
    state = ended(folder)
    assert (state.state, state.exit_code, state.reason, state.last_line) == ("succeeded", 0, "exited", "two[31m")
    assert state.started_at is not None
    assert state.ended_at is not None
    assert state.started_at <= state.ended_at
    assert state.started_at.utcoffset() is not None
    assert all(path.stat().st_mode & 0o077 == 0 for path in folder.iterdir())


@pytest.mark.parametrize(
    ("code", "expected"),
    [("raise SystemExit(3)", 3), ("import os; os.kill(os.getpid(), 9)", 137), ("import os; os.abort()", 134)],
)
def test_a_run_that_fails_says_how(folder: Path, code: str, expected: int) -> None:
    local.launch(folder, python(code), {})
    state = ended(folder)
    assert (state.state, state.exit_code, state.reason) == ("failed", expected, "exited")


def test_a_program_that_is_not_there_or_may_not_run_is_a_failed_run(folder: Path, tmp_path: Path) -> None:
    assert local.launch(folder, ProcessSpec(["/nowhere/dbt"], Path("/"), Limits()), {}).exit_code == 127
    assert "could not be started" in local.poll(folder).last_line
    (tmp_path / "plain").write_text("text")
    other = tmp_path / "other"
    state = local.launch(other, ProcessSpec([str(tmp_path / "plain")], Path("/"), Limits()), {})
    assert (state.state, state.exit_code, state.reason) == ("failed", 126, "not_started")


def test_a_folder_in_which_nothing_ever_ran_is_lost_not_running(folder: Path) -> None:
    assert local.poll(folder) == RunState("lost")


def test_the_child_gets_exactly_the_given_environment_and_no_file_holds_it(folder: Path) -> None:
    code = "import os; print(sorted(set(os.environ) - {'LC_CTYPE'}), len(os.environ['WORD']))"
    local.launch(folder, python(code), {"WORD": "hush-hush"})
    assert ended(folder).last_line == "['WORD'] 9"
    assert not any(b"hush-hush" in path.read_bytes() for path in folder.iterdir())


def test_the_child_and_the_supervisor_survive_kill_9_of_the_worker_and_its_group(folder: Path) -> None:
    worker = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sys, time; sys.path.insert(0, sys.argv[1])\n"
            "from pathlib import Path\n"
            "from approvals.runners import local\n"
            "from approvals.runners.base import Limits\n"
            "spec = local.ProcessSpec(sys.argv[3:], Path('/'), Limits(wall_seconds=60))\n"
            "local.launch(Path(sys.argv[2]), spec, {})\n"
            "print('launched', flush=True); time.sleep(60)",
            str(REPOSITORY),
            str(folder),
            *python(WAIT_FOR_GO, folder).argv,
        ],
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert worker.stdout is not None
    assert worker.stdout.readline() == b"launched\n"
    os.killpg(worker.pid, signal.SIGKILL)
    worker.wait()
    worker.stdout.close()

    until(lambda: (folder / "starts").exists() and len(started(folder)) == 1)
    adopted = local.launch(folder, python(WAIT_FOR_GO, folder), {})
    assert adopted.state == "running"
    assert [str(adopted.pid)] == started(folder)
    (folder / "go").touch()
    assert ended(folder).exit_code == 0
    assert local.launch(folder, python(WAIT_FOR_GO, folder), {}).state == "succeeded"
    assert len(started(folder)) == 1


def test_of_twenty_racing_starters_one_starts_and_all_see_the_same_run(folder: Path) -> None:
    spec = python(WAIT_FOR_GO, folder)
    with ThreadPoolExecutor(20) as pool:
        states = list(pool.map(lambda _: local.launch(folder, spec, {}), range(20)))
    assert {state.state for state in states} == {"running"}
    until(lambda: bool(started(folder)))
    (folder / "go").touch()
    assert ended(folder).state == "succeeded"
    assert len(started(folder)) == 1


def test_watching_never_keeps_a_run_from_starting(folder: Path) -> None:
    with ThreadPoolExecutor(2) as pool:
        watching = True

        def watch() -> None:
            while watching:
                local.poll(folder)

        watcher = pool.submit(watch)
        state = local.launch(folder, python("pass"), {})
        assert state.state in ("running", "succeeded")
        watching = False
        watcher.result()
    assert ended(folder).state == "succeeded"


def test_a_folder_belongs_to_one_specification(folder: Path) -> None:
    local.launch(folder, python("pass"), {})
    with pytest.raises(Conflict):
        local.launch(folder, python("print(1)"), {})
    assert ended(folder).state == "succeeded"


def test_cancel_reaches_the_whole_group_of_the_child(folder: Path) -> None:
    code = (
        "import subprocess, sys\n"
        "deep = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        "print(deep.pid, flush=True); deep.wait()"
    )
    local.launch(folder, python(code), {})
    until(lambda: local.last_line(folder).isdigit())
    deep = int(local.last_line(folder))
    local.cancel(folder)
    state = ended(folder)
    assert (state.state, state.exit_code, state.reason) == ("failed", 143, "cancelled")
    until(lambda: not alive(deep))


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_run_cancelled_before_it_starts_never_starts(folder: Path) -> None:
    folder.mkdir()
    local.cancel(folder)
    state = local.launch(folder, python(WAIT_FOR_GO, folder), {})
    assert (state.state, state.exit_code, state.reason) == ("failed", 143, "cancelled")
    assert not (folder / "starts").exists()


def test_a_child_that_does_not_listen_is_killed_after_the_grace(folder: Path) -> None:
    code = "import signal, time; signal.signal(15, signal.SIG_IGN); print('deaf', flush=True); time.sleep(60)"
    local.launch(folder, python(code, limits=Limits(wall_seconds=60, grace_seconds=0)), {})
    until(lambda: local.last_line(folder) == "deaf")
    local.cancel(folder)
    assert ended(folder).reason == "cancelled"


def test_wall_clock_cpu_and_file_size_are_limited(tmp_path: Path) -> None:
    runs = {
        "wall": python("import time; time.sleep(60)", limits=Limits(wall_seconds=1, grace_seconds=1)),
        "cpu": python("while True: pass", limits=Limits(wall_seconds=60, cpu_seconds=1)),
        "file": python(
            "import sys; open(sys.argv[1], 'wb').write(bytes(10**6))",
            tmp_path / "big",
            limits=Limits(file_size_bytes=100_000),
        ),
        "memory": python("bytes(10**9)", limits=Limits(address_space_bytes=500_000_000)),
    }
    for name, spec in runs.items():
        local.launch(tmp_path / name, spec, {})
    states = {name: ended(tmp_path / name) for name in runs}
    assert (states["wall"].exit_code, states["wall"].reason) == (124, "timeout")
    assert states["cpu"].exit_code == 128 + signal.SIGXCPU
    assert states["file"].state == "failed"
    assert "File too large" in states["file"].last_line
    assert states["memory"].last_line == "MemoryError"


def test_a_child_that_outlives_its_supervisor_still_counts_as_running(folder: Path) -> None:
    spec = python(WAIT_FOR_GO, folder)
    local.launch(folder, spec, {})
    until(lambda: (folder / "starts").exists() and bool(started(folder)))
    kill_supervisor(folder)
    assert local.launch(folder, spec, {}).state == "running"
    assert len(started(folder)) == 1
    (folder / "go").touch()
    assert ended(folder).state == "lost"
    assert local.launch(folder, spec, {}).state in ("running", "succeeded")
    assert ended(folder).state == "succeeded"
    assert len(started(folder)) == 2


def test_a_child_without_its_supervisor_can_still_be_cancelled(folder: Path) -> None:
    local.launch(folder, python(WAIT_FOR_GO, folder), {})
    until(lambda: (folder / "starts").exists() and bool(started(folder)))
    kill_supervisor(folder)
    local.cancel(folder)
    assert ended(folder).state == "lost"


def kill_supervisor(folder: Path) -> None:
    supervisor = local._read(folder / "process.json")["supervisor_pid"]
    os.kill(supervisor, signal.SIGKILL)
    until(lambda: not alive(supervisor))


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    mount, umount = shutil.which("mount"), shutil.which("umount")
    disk = tmp_path / "disk"
    disk.mkdir()
    if mount is None or umount is None or os.geteuid() != 0:
        pytest.skip("only root can make a small disk")
    if subprocess.run([mount, "-t", "tmpfs", "-o", "size=256k", "tmpfs", disk], check=False).returncode:
        pytest.skip("no small disk can be mounted here")
    yield disk
    subprocess.run([umount, "-l", disk], check=True)


def test_a_disk_that_fills_up_during_the_run_does_not_swallow_the_exit_code(tiny_disk: Path) -> None:
    run = tiny_disk / "run"
    code = (
        "import os, sys, contextlib\n"
        "fill = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT)\n"
        "with contextlib.suppress(OSError):\n"
        "    while True: os.write(fill, bytes(4096))\n"
        "raise SystemExit(7)"
    )
    local.launch(run, python(code, tiny_disk / "filler"), {})
    state = ended(run)
    assert (state.state, state.exit_code) == ("failed", 7)


def test_nothing_starts_on_a_full_disk_and_the_answer_is_one_sentence(tiny_disk: Path) -> None:
    with contextlib.suppress(OSError), open(tiny_disk / "filler", "wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))
    with pytest.raises(Unavailable, match="No space left"):
        local.launch(tiny_disk / "run", python(WAIT_FOR_GO, tiny_disk), {})
    assert local.poll(tiny_disk / "run").state == "lost"
    assert not (tiny_disk / "starts").exists()


def test_a_run_folder_that_cannot_be_made_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(Unavailable):
        local.launch(tmp_path / "file" / "run", python("pass"), {})
