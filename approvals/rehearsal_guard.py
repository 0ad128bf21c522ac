"""Whether a diff may be rehearsed at all, and the profile that a rehearsal runs with (pure; decides, runs nothing).

A rehearsal executes what the diff says, so only diffs are rehearsed that touch models and their properties and add
nothing that runs code beside one SELECT. Everything else is *not rehearsed*, and why is said. The guard refuses more
than it must and never less; the throw-away checkout, the empty environment, the copy of the data and the limits are
the walls behind it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

from approvals import jinja_grammar
from approvals.jinja_grammar import NotInGrammar
from approvals.runners.base import Limits

MAX_FILE_BYTES = 1_000_000
MAX_PATCH_CHARACTERS = 5_000_000
MAX_PATH_CHARACTERS = 500
MAX_FILES = 200
LIMITS = Limits(wall_seconds=600, cpu_seconds=900, file_size_bytes=20 * 1024**3)
EXCLUDE = ("resource_type:seed",)  # seeds are loaded from files, which the rehearsal's profile forbids
MEMORY_LIMIT = "500MB"

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_HEADER = re.compile(r'diff --git "?a/(?P<old>.+?)"? "?b/(?P<new>.+?)"?')
_MODE = re.compile(r"(?:new file mode|deleted file mode|old mode|new mode) (\d+)|index \S+ (\d+)")
_PROPERTY_KEYS = frozenset(
    {"version", "models", "sources", "exposures", "groups", "semantic_models", "metrics", "saved_queries", "unit_tests"}
)
_BUILT_IN_TESTS = frozenset({"unique", "not_null", "accepted_values", "relationships"})
_WRAPPED_BY_DBT = re.compile(r"\s*(?:env_var|ref|var|source|doc)\s*\(.+")
_RUNS_CODE = re.compile(
    r"(?:\+?(?:pre|post)[-_]hook|on[-_]run[-_](?:start|end)|sql_header|materialized|plugin|external|external_location"
    r"|location|grants|overrides|loader|database|schema|alias|macros|fixture)"
)


def refuse_reason(
    patch_text: str,
    files_before: Mapping[str, bytes],
    files_after: Mapping[str, bytes],
    *,
    model_paths: Sequence[str],
) -> str | None:
    """Why this diff is not rehearsed, as one sentence for people; None when it may be.

    `patch_text` is the unified git diff; `files_before` and `files_after` hold the touched files by their path in the
    git tree (from the tree, never from a manifest), a missing key meaning that the file does not exist; `model_paths`
    are the project's model folders as paths in the git tree.
    """
    touched = {
        path for path in files_before.keys() | files_after.keys() if files_before.get(path) != files_after.get(path)
    }
    reason = _refuse_patch(patch_text, touched)
    if reason is not None:
        return reason
    for path in sorted(touched):
        why = _refuse_path(path, model_paths) or _refuse_content(path, files_before.get(path), files_after.get(path))
        if why is not None:
            return f"{path} {why}."
    return None


def _refuse_patch(patch_text: str, touched: set[str]) -> str | None:
    if len(patch_text) > MAX_PATCH_CHARACTERS:
        return "The diff is too large."
    headers = [line for line in patch_text.splitlines() if line.startswith("diff --git ")]
    matches = [_HEADER.fullmatch(line[: 2 * MAX_PATH_CHARACTERS]) for line in headers]
    named = {name for match in matches if match for name in (match["old"], match["new"])}
    if not touched or None in matches or named != touched:
        return "The files that the diff names are not the files that differ."
    if len(touched) > MAX_FILES:
        return f"The diff touches {len(touched)} files, more than {MAX_FILES}."
    for line in patch_text.splitlines():
        mode = _MODE.fullmatch(line)
        if mode and (mode[1] or mode[2]) != "100644":
            return "The diff changes the kind of a file, or touches one that is not a plain text file."
        if line.startswith(("GIT binary patch", "Binary files ")):
            return "The diff holds a binary file."
    return None


def _refuse_path(path: str, model_paths: Sequence[str]) -> str | None:
    pure = PurePosixPath(path)
    if pure.is_absolute() or ".." in pure.parts or "\\" in path or str(pure) != path or not path.isprintable():
        return "is not a path inside the project"
    if not any(pure.is_relative_to(PurePosixPath(folder)) for folder in model_paths if PurePosixPath(folder).parts):
        return "lies outside the model paths"
    if pure.suffix not in {".sql", ".yml", ".yaml"}:
        return "is neither a SQL model nor a properties file"
    return None


def _refuse_content(path: str, before: bytes | None, after: bytes | None) -> str | None:
    if after is None:
        return None
    if max(len(before or b""), len(after)) > MAX_FILE_BYTES:
        return "is larger than one megabyte"
    try:
        texts = (before or b"").decode("utf-8"), after.decode("utf-8")
        if path.endswith(".sql"):
            _check_sql(*texts)
        else:
            _check_properties(*texts)
    except UnicodeDecodeError:
        return "is not UTF-8 text"
    except RecursionError:
        return "is nested too deeply"
    except NotInGrammar as error:
        return str(error)
    return None


def _check_sql(before: str, after: str) -> None:
    """Unchanged Jinja adds nothing, as long as no tag hands the SQL between the blocks to code; changed Jinja must be
    plain.
    """
    found = jinja_grammar.blocks(after)
    captured = jinja_grammar.captures(found)
    if captured is not None:
        raise NotInGrammar(f"uses the Jinja tag {captured[:40]!r}")
    if not before or found != jinja_grammar.blocks(before):
        jinja_grammar.check(found)


def _check_properties(before: str, after: str) -> None:
    """Whatever can run code in the properties after must have been there before, word for word."""
    added = Counter(_findings(_properties(after))) - Counter(_findings(_properties(before)))
    for _, what in sorted(added):
        raise NotInGrammar(what)


def _properties(text: str) -> dict[str, Any]:
    """The properties as plain values; aliases are refused, since a few lines of them can stand for millions of
    values.
    """
    try:
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, Loader=_LOADER)):
            raise NotInGrammar("uses YAML aliases")
        value = yaml.load(text, Loader=_LOADER)  # noqa: S506 - a safe loader
    except (yaml.YAMLError, ValueError, RecursionError):
        raise NotInGrammar("is not YAML that can be read") from None
    if value is None:
        return {}
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise NotInGrammar("is not a properties file")
    unknown = sorted(value.keys() - _PROPERTY_KEYS)
    if unknown:
        raise NotInGrammar(f"declares {unknown[0][:40]!r}")
    return value


def _findings(value: object, place: str = "") -> Iterator[tuple[str, str]]:
    """(exact place and text, reason) of everything in the properties that can run code or write elsewhere."""
    if isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                yield f"{place}/{key!r}: {item!r}", "has a key that is not text"
            elif _RUNS_CODE.fullmatch(key) and not _harmless(key, item, place):
                yield f"{place}/{key}: {item!r}", f"sets {key!r}"
            elif key in {"tests", "data_tests"}:
                yield from _test_findings(item, place)
            yield from _findings(key, place)
            yield from _findings(item, f"{place}/{key}")
    elif isinstance(value, list):
        for item in value:
            yield from _findings(item, place)
    elif isinstance(value, str):
        yield from _jinja_findings(value, place)


def _test_findings(tests: object, place: str) -> Iterator[tuple[str, str]]:
    """A test of any other name is a macro of the project or a package, run with the diff's arguments."""
    for test in tests if isinstance(tests, list) else [tests]:
        names = [test.get("test_name", key) for key in test] if isinstance(test, dict) else [test]
        if not all(name in _BUILT_IN_TESTS for name in map(str, names)):
            yield f"{place}/test: {test!r}", f"adds the test {str(names[0] if names else test)[:40]!r}"


def _jinja_findings(text: str, place: str) -> Iterator[tuple[str, str]]:
    """dbt renders every text of a properties file, and evaluates a bare `ref(…)` in a test's argument too."""
    if _WRAPPED_BY_DBT.match(text):
        text = "{{ " + text + " }}"
    try:
        found = jinja_grammar.blocks(text)
        captured = jinja_grammar.captures(found)
        if captured is not None:
            raise NotInGrammar(f"uses the Jinja tag {captured[:40]!r}")
        jinja_grammar.check(found)
    except NotInGrammar as error:
        yield f"{place}: {text}", str(error)


def _harmless(key: str, item: object, place: str) -> bool:
    """Names that run nothing: a plain materialization; where a source lies; a column called like a setting."""
    if key == "materialized":
        return item in jinja_grammar.MATERIALIZATIONS
    return key in {"database", "schema", "loader"} and place == "/sources" and isinstance(item, str)


def duckdb_profile(
    copy_path: Path,
    *,
    profile: str,
    database: str,
    schema: str = "main",
    target: str = "rehearsal",
    threads: int = 2,
) -> dict[str, Any]:
    """The content of profiles.yml for a rehearsal on a copy of a DuckDB file.

    dbt-duckdb hands `config_options` to `duckdb.connect`, so the wall stands before the first statement: no file, no
    network, no extension, and no statement can take it down. `copy_path` must be absolute and keep the original's
    file name (DuckDB names the database after it, and stored views call tables by that name); `database` is that
    name.
    """
    if not copy_path.is_absolute() or copy_path.stem != database:
        raise ValueError("the copy keeps the name of the original file, in a folder of its own")
    output = {
        "type": "duckdb",
        "path": str(copy_path),
        "schema": schema,
        "threads": threads,
        "config_options": {
            "enable_external_access": False,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "memory_limit": MEMORY_LIMIT,
            "lock_configuration": True,
        },
    }
    return {profile: {"target": target, "outputs": {target: output}}}
