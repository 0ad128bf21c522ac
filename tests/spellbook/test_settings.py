from __future__ import annotations

import ast
import os
import re
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from spellbook.settings import database, private_file

ROOT = Path(__file__).resolve().parents[2]
SHOW = "from django.conf import settings as s; import json; print(json.dumps([s.SECRET_KEY, s.DATABASES['default']]))"


def load(data: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """The outcome of a command that does nothing, in a process with exactly these variables."""
    plain = {"PATH": os.environ["PATH"], "SPELLBOOK_DATA_DIR": str(data), **environment}
    command = [sys.executable, "manage.py", "shell", "-v", "0", "-c", SHOW]
    return subprocess.run(command, cwd=ROOT, env=plain, capture_output=True, text=True, check=False)


def names_in_settings() -> set[str]:
    """Every variable that settings.py reads, from its syntax tree."""
    names = set()
    for node in ast.walk(ast.parse((ROOT / "spellbook" / "settings.py").read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id.startswith("env"):
            first = node.args[0]
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                names.add(first.value)
                if node.func.id == "env_secret":
                    names.add(f"{first.value}_FILE")
    return names


def test_env_example_names_exactly_what_the_settings_read() -> None:
    named = set(re.findall(r"^#?([A-Z_]+)=", (ROOT / "env.example").read_text(), re.MULTILINE))
    assert named == names_in_settings()


@pytest.mark.parametrize(
    ("environment", "sentence"),
    [
        ({"SPELLBOOK_ENVIRONMENT": "prod"}, "SPELLBOOK_ENVIRONMENT must be one of demo, production, not 'prod'."),
        ({"PORT": "eighty"}, "PORT must be a whole number from 1 to 65535, not 'eighty'."),
        ({"PORT": "0"}, "PORT must be a whole number from 1 to 65535, not '0'."),
        ({"DATABASE_URL": "mysql://u:hidden@h/n"}, "DATABASE_URL must begin with sqlite:/// or postgresql://."),
        ({"DATABASE_URL_FILE": "/nowhere"}, "DATABASE_URL_FILE names a file that cannot be read."),
        (
            {"DATABASE_URL": "sqlite:///a", "DATABASE_URL_FILE": "/b"},
            "Set either DATABASE_URL or DATABASE_URL_FILE, not both.",
        ),
        ({"SPELLBOOK_SECRET_KEY": "hidden"}, "SPELLBOOK_SECRET_KEY must have at least 32 characters."),
        (
            {"SPELLBOOK_BASE_URL": "localhost"},
            "SPELLBOOK_BASE_URL must be an address such as https://spellbook.example, not 'localhost'.",
        ),
        (
            {"SPELLBOOK_ENVIRONMENT": "production", "SPELLBOOK_ORIGIN": "a.example"},
            "Set SPELLBOOK_SECRET_KEY or SPELLBOOK_SECRET_KEY_FILE: only a demo makes its own.",
        ),
        (
            {"SPELLBOOK_ENVIRONMENT": "production"},
            "Set SPELLBOOK_ORIGIN, the name of this installation's ledger, such as data.example.org/ledger.",
        ),
        (
            {"SPELLBOOK_ENVIRONMENT": "production", "SPELLBOOK_ORIGIN": "a.example", "SPELLBOOK_FAILPOINTS": "x"},
            "SPELLBOOK_FAILPOINTS makes processes die on purpose and is refused outside a demo.",
        ),
    ],
)
def test_a_bad_value_is_one_sentence(tmp_path: Path, environment: dict[str, str], sentence: str) -> None:
    outcome = load(tmp_path, **environment)
    assert (outcome.returncode, outcome.stderr) == (1, f"{sentence}\n")
    assert "hidden" not in outcome.stdout + outcome.stderr


def test_a_data_folder_that_cannot_be_made_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    outcome = load(tmp_path / "file" / "data")
    assert outcome.returncode == 1
    assert len(outcome.stderr.splitlines()) == 1


def test_a_secret_may_stand_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("k" * 40 + "\n")
    outcome = load(tmp_path, SPELLBOOK_SECRET_KEY_FILE=str(tmp_path / "key"))
    assert f'"{"k" * 40}"' in outcome.stdout, outcome.stderr


def test_the_demo_keeps_its_secret_key(tmp_path: Path) -> None:
    first, second = load(tmp_path), load(tmp_path)
    assert first.stdout == second.stdout != ""
    key = tmp_path / "keys" / "secret.key"
    assert key.read_text() in first.stdout
    assert (stat.S_IMODE(key.stat().st_mode), stat.S_IMODE(key.parent.stat().st_mode)) == (0o600, 0o700)


def test_of_many_who_make_a_key_one_counts_for_all(tmp_path: Path) -> None:
    seen: list[str] = []
    threads = [
        threading.Thread(target=lambda n=n: seen.append(private_file(tmp_path / "k" / "key", str(n)))) for n in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 8
    assert len(set(seen)) == 1
    assert os.listdir(tmp_path / "k") == ["key"]


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        (
            "postgresql://app:p%40ss@db.example:5433/spell",
            {"HOST": "db.example", "PORT": "5433", "USER": "app", "PASSWORD": "p@ss", "NAME": "spell"},
        ),
        (
            "postgresql://postgres:@/postgres?host=/run/x",
            {"HOST": "/run/x", "PORT": "", "USER": "postgres", "PASSWORD": "", "NAME": "postgres"},
        ),
        ("postgresql://a@%2Frun%2Fx/n?sslmode=require", {"HOST": "/run/x", "USER": "a", "NAME": "n"}),
        ("sqlite:////tmp/a%20b.sqlite3", {"NAME": "/tmp/a b.sqlite3"}),
        ("sqlite:///relative.sqlite3", {"NAME": str(ROOT / "relative.sqlite3")}),
    ],
)
def test_a_database_url_becomes_djangos_form(url: str, expected: dict[str, str]) -> None:
    assert database(url).items() >= expected.items()


def test_options_of_a_postgres_url_are_handed_on() -> None:
    assert database("postgresql://a@h/n?sslmode=require")["OPTIONS"] == {"connect_timeout": 10, "sslmode": "require"}


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///", "postgresql://h", "postgresql://h:port/n", "postgresql://"])
def test_a_database_url_that_says_too_little_is_refused(url: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="DATABASE_URL"):
        database(url)


def test_reads_take_no_transaction() -> None:
    assert settings.DATABASES["default"]["ATOMIC_REQUESTS"] is False
