from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import stat
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import psutil
import pytest

from tests.engines import chosen

ROOT = Path(__file__).resolve().parents[2]
NAMES = ("spellbook.web", "-Q wake", "-Q send", "-Q work", "-Q long", " beat ")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def environment(data: Path, port: int, **more: str) -> dict[str, str]:
    plain = {name: value for name, value in os.environ.items() if not name.startswith("SPELLBOOK_")}
    plain.pop("DATABASE_URL", None)
    return plain | {
        "DJANGO_SETTINGS_MODULE": "spellbook.settings",
        "SPELLBOOK_DATA_DIR": str(data),
        "PORT": str(port),
        **more,
    }


def up(env: Mapping[str, str]) -> subprocess.Popen[str]:
    command = [sys.executable, "manage.py", "up"]
    return subprocess.Popen(command, cwd=ROOT, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for(what: Callable[[], bool], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.1)


def answers(port: int, path: str = "healthz") -> bool:
    try:
        with urllib.request.urlopen(f"http://localhost:{port}/{path}", timeout=5) as answer:
            return int(answer.status) == 200
    except (urllib.error.URLError, OSError):
        return False


@dataclass
class Site:
    process: subprocess.Popen[str]
    data: Path
    port: int

    def child(self, name: str) -> psutil.Process | None:
        for process in psutil.Process(self.process.pid).children():
            with contextlib.suppress(psutil.Error):  # it may end while we look
                if name in " ".join(process.cmdline()) + " ":
                    return process
        return None

    def replaced(self, name: str, before: psutil.Process) -> bool:
        now = self.child(name)
        return now is not None and now.pid != before.pid

    def all_run(self) -> bool:
        return all(self.child(name) for name in NAMES)


@contextlib.contextmanager
def running(data: Path, **more: str) -> Iterator[Site]:
    port = free_port()
    process = up(environment(data, port, **more))
    try:
        wait_for(lambda: process.poll() is not None or answers(port))
        made = Site(process, data, port)
        wait_for(lambda: process.poll() is not None or made.all_run())
        assert process.poll() is None, process.stderr and process.stderr.read()
        yield made
    finally:
        process.terminate()
        process.communicate(timeout=30)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """One running house for the tests that leave it running."""
    with running(tmp_path_factory.mktemp("house")) as made:
        yield made


def test_a_dead_child_is_started_again(site: Site) -> None:
    for name in ("spellbook.web", "-Q work"):
        before = site.child(name)
        assert before is not None
        before.send_signal(signal.SIGKILL)
        wait_for(partial(site.replaced, name, before))
    wait_for(lambda: answers(site.port))


@pytest.mark.real
def test_the_end_leaves_no_process(tmp_path: Path) -> None:
    with running(tmp_path) as site:
        children = psutil.Process(site.process.pid).children(recursive=True)
        assert (tmp_path / "run" / "up.pid").read_text().strip() == str(site.process.pid)
        assert int((tmp_path / "run" / "peak_pss").read_text()) > 50_000_000
        site.process.terminate()
        output, errors = site.process.communicate(timeout=30)
    assert site.process.returncode == 0, errors
    assert output.endswith("Stopped.\n")
    assert not [child for child in children if child.is_running() and child.status() != psutil.STATUS_ZOMBIE]
    assert not (tmp_path / "run" / "up.pid").exists()


def test_only_the_worker_for_wake_is_told_where_the_signing_keys_lie(site: Site) -> None:
    told = [name for name in NAMES if "SPELLBOOK_KEYS_DIR" in (site.child(name) or psutil.Process()).environ()]
    assert told == ["-Q wake"]
    keys = site.data / "keys"
    assert stat.S_IMODE(keys.stat().st_mode) == 0o700
    for name in ("secret.key", "receipt.key", "checkpoint.key"):
        assert stat.S_IMODE((keys / name).stat().st_mode) == 0o600
    assert len(bytes.fromhex((keys / "receipt.key").read_text())) == 32


@pytest.mark.real
def test_children_do_not_outlive_a_killed_parent(tmp_path: Path) -> None:
    with running(tmp_path) as site:
        children = psutil.Process(site.process.pid).children(recursive=True)
        site.process.kill()
        _, alive = psutil.wait_procs(children, timeout=10)
    assert not alive


def test_a_second_start_on_the_same_folder_is_refused(site: Site) -> None:
    second = up(environment(site.data, free_port()))
    _, errors = second.communicate(timeout=30)
    assert second.returncode == 1
    assert "already runs" in errors


@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_INET6])
def test_a_port_in_use_is_one_sentence(tmp_path: Path, family: socket.AddressFamily) -> None:
    with socket.socket(family) as taken:
        taken.bind(("127.0.0.1" if family == socket.AF_INET else "::1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        process = up(environment(tmp_path, port))
        output, errors = process.communicate(timeout=30)
    assert process.returncode == 1
    assert errors.strip().splitlines() == [
        f"CommandError: Port {port} is in use: stop what listens there or choose another with PORT=8001."
    ]
    assert not output


def test_a_demo_refuses_to_be_seen_from_outside(tmp_path: Path) -> None:
    process = up(environment(tmp_path, free_port(), SPELLBOOK_BIND="0.0.0.0"))  # noqa: S104
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 1
    assert "A demo listens on this machine only" in errors
    assert len(errors.strip().splitlines()) == 1


def test_a_wrong_setting_is_one_sentence(tmp_path: Path) -> None:
    process = up(environment(tmp_path, 8000, SPELLBOOK_ENVIRONMENT="staging"))
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 1
    assert errors == "SPELLBOOK_ENVIRONMENT must be one of demo, production, not 'staging'.\n"


def test_readyz_tells_the_age_of_the_oldest_due_row(site: Site) -> None:
    with urllib.request.urlopen(f"http://localhost:{site.port}/readyz", timeout=5) as answer:
        body = json.load(answer)
        policy = answer.headers["Content-Security-Policy"]
    assert body == {"status": "ok", "oldest_due_seconds": body["oldest_due_seconds"]}
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


@pytest.mark.skipif(chosen() != "postgres", reason="the other tests run on SQLite")
def test_the_house_runs_on_postgres_as_a_role_that_owns_nothing(tmp_path: Path, committing: str) -> None:
    with running(tmp_path, DATABASE_URL=committing) as site:
        assert answers(site.port, "readyz")
        assert not (tmp_path / "spellbook.sqlite3").exists()
