"""Patterns on paths mean what git means by them, and what cannot be meant is refused in words."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from catalog.sources.file_map import FileRule, Mapped, mapped, matches, read_file_map
from foundation.errors import BadInput

PATHS = (
    "pb_project.yaml", "README.md", "models/profiles.yaml", "models/inputs.yaml", "models/deep/er/cohorts.yaml",
    "models/deep/macros.yml", "models.yaml", "sql/a.sql", "sql/b.sql", "sql/B.sql", "sql/.hidden.sql",
    "docs/models/x.md", "a/b/c/d.txt", "a/x/b.txt", "a/b.txt", "a[1].txt", "über/maß.yaml", "with space/x y.sql",
)  # fmt: skip
PATTERNS = (
    "pb_project.yaml", "*.yaml", "**/*.yaml", "models/*.yaml", "models/**/*.yaml", "models/**", "models", "**", "*",
    "**/models/**", "*/*", "sql/?.sql", "sql/[ab].sql", "sql/[!a].sql", "sql/[^a].sql", "sql/[a-z].sql", "a/**/b.txt",
    "a/**/c/*", "a/*/b.txt", "**/b.txt", "**/*b*", "m*s/*.yaml", "a[[]1].txt", "über/*", "with space/*.sql",
    "**/**/x.md", "a/**/**/d.txt", "none/**", "[a-c]/**", "sql/*.SQL", "*/**/*.yml", "docs/mod",
)  # fmt: skip


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("files")
    git(root, "init", "--quiet")
    for path in PATHS:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("x")
    git(root, "add", "--all")
    return root


def git(root: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, check=True, timeout=60)
    return done.stdout


def in_git(repo: Path, pattern: str) -> set[str]:
    return set(git(repo, "ls-files", "-z", "--", f":(glob){pattern}").split("\0")) - {""}


def here(pattern: str) -> set[str]:
    return {path for path in PATHS if matches(pattern, path)}


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_pattern_means_the_files_that_git_lists_for_it(repo: Path, pattern: str) -> None:
    assert here(pattern) == in_git(repo, pattern)


NAMES = st.sampled_from(["a", "b", "models", "*", "**", "?", "[ab]", "*.yaml", "x*", "c", "deep", "d.txt", "er", "b*t"])


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(NAMES, min_size=1, max_size=5))
def test_made_up_patterns_mean_the_files_that_git_lists_for_them(repo: Path, parts: list[str]) -> None:
    pattern = "/".join(parts)
    assert here(pattern) == in_git(repo, pattern)


def test_a_folder_means_all_in_it_and_no_file_of_its_name() -> None:
    assert matches("models/", "models/deep/er/cohorts.yaml")
    assert not matches("models/", "models")
    assert not matches("models/", "models.yaml")
    assert matches("mod*/", "models/deep/er/cohorts.yaml")


def test_a_pattern_made_to_take_long_does_not() -> None:
    started = time.monotonic()
    assert not matches("/".join(["**", "a*"] * 60) + "/z", "/".join(["aa"] * 400))
    assert not matches("*a" * 100 + "b", "a" * 1000)
    assert time.monotonic() - started < 2


def test_every_matching_pattern_counts_and_a_harmless_one_only_alone() -> None:
    rules = [
        FileRule("models/**", ("id_graph", "features")),
        FileRule("**/*.yaml", ("features", "cohorts")),
        FileRule("**/*.md", ()),
        FileRule("docs/", ()),
    ]
    assert mapped("models/a.yaml", rules) == Mapped(("id_graph", "features", "cohorts"))
    assert mapped("docs/a.md", rules) == Mapped((), ("**/*.md", "docs/"))
    assert mapped("models/README.md", rules) == Mapped(("id_graph", "features"), ("**/*.md",))
    assert mapped("sql/a.sql", rules) == Mapped()


def test_a_parameter_is_read_with_one_name_several_or_none() -> None:
    given = [
        {"path": "pb_project.yaml", "asset": " id_graph "},
        {"path": "models/**", "asset": ["features", "cohorts", "features"]},
        {"path": "docs/", "asset": []},
    ]
    assert read_file_map(given, "The connection code") == (
        FileRule("pb_project.yaml", ("id_graph",)),
        FileRule("models/**", ("features", "cohorts")),
        FileRule("docs/", ()),
    )
    assert read_file_map([], "x") == ()


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"path": "a", "asset": "b"}, "files is a list of"),
        ("models/**", "files is a list of"),
        ([{"path": "a", "asset": "b"}] * 1001, "files has 1,001 entries; at most 1,000 are read"),
        ([{"path": "a"}], "entry 1 of files is not of the form"),
        ([{"path": "a", "asset": "b"}, {"path": "a", "asset": "b", "more": 1}], "entry 2 of files is not of the form"),
        ([["a", "b"]], "entry 1 of files is not of the form"),
        ([{"path": "", "asset": "b"}], "path is a text"),
        ([{"path": 7, "asset": "b"}], "path is a text"),
        ([{"path": "a\0", "asset": "b"}], "path is a text"),
        ([{"path": "x" * 301, "asset": "b"}], "at most 300 characters"),
        ([{"path": "a", "asset": ""}], "asset is a name or a list of names; an empty list means no table"),
        ([{"path": "a", "asset": None}], "asset is a name or a list of names"),
        ([{"path": "a", "asset": ["b", 7]}], "asset is a name or a list of names"),
        ([{"path": "/models/**", "asset": "b"}], "'/models/\\*\\*' is no path from the root"),
        ([{"path": "models/../x", "asset": "b"}], "is no path from the root"),
        ([{"path": "models//x", "asset": "b"}], "is no path from the root"),
        ([{"path": "./x", "asset": "b"}], "is no path from the root"),
        ([{"path": "models\\x", "asset": "b"}], "has a backslash"),
        ([{"path": "!models/x", "asset": "b"}], "begins with !"),
        ([{"path": "models**", "asset": "b"}], "it stands alone, for folders"),
        ([{"path": "models/[ab", "asset": "b"}], r"has a \[ without its \]"),
        ([{"path": "models/[]", "asset": "b"}], r"has a \[ without its \]"),
        ([{"path": "models/[a/b]", "asset": "b"}], r"has a \[ without its \]"),
        ([{"path": "models/[[:alpha:]]", "asset": "b"}], "names a class of characters"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_words(value: Any, words: str) -> None:
    with pytest.raises(BadInput, match=f"^The connection code: .*{words}"):
        read_file_map(value, "The connection code")
