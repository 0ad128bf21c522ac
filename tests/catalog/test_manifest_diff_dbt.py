"""The diff of two manifests is dbt's own answer to `state:modified`, for every kind of change of a real project."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import pytest
from django.conf import settings

from catalog.diff.manifests import BEYOND_DBT, ManifestDiff, diff
from catalog.sources import manifest
from tests.catalog.manifest_pairs import FILES, Change, batches

Answers = Mapping[str, list[str]]
OF_FILES = ("model", "snapshot", "seed", "analysis", "function")
KINDS: Mapping[str, tuple[frozenset[str], tuple[str, ...]]] = {
    "state:modified.body": (frozenset({"body", "seed"}), OF_FILES),
    "state:modified.configs": (frozenset({"config"}), (*OF_FILES, "source", "exposure", "metric", "semantic_model")),
    "state:modified.relation": (frozenset({"relation"}), (*OF_FILES, "source")),
    "state:modified.macros": (frozenset({"macro"}), (*OF_FILES, "test")),
    "state:modified.contract": (frozenset({"contract"}), ("model",)),
    "state:modified.persisted_descriptions": (frozenset({"description"}), OF_FILES),
}
"""dbt's sub-selectors: our kinds, and the resource types for which dbt compares them."""
SELECTORS = ("state:modified", "state:modified+", *KINDS)
NO_NODES = ("macro", "group")


@pytest.mark.dbt
@pytest.mark.real
@pytest.mark.timeout(400)
def test_every_kind_of_change_of_a_real_project_is_named_and_dbt_selects_the_same(tmp_path: Path) -> None:
    answers = asked(tmp_path / "project", tmp_path / "out")
    base = manifest.read_file(tmp_path / "out/base/manifest.json")
    printed = []
    for number, changes in enumerate(batches()):
        name = f"batch_{number}"
        found = diff(base, manifest.read_file(tmp_path / "out" / name / "manifest.json"))
        assert said(found) == expected(changes.values()), list(changes)
        assert any("model.shop.late, where variables are read" in note for note in found.notes)
        printed += differences(found, answers[name], changes.values())
        noise = {key for one in changes.values() for key in one.noise}
        for selector in KINDS:
            listed = of_types(answers[name][selector], selector, found)
            assert kind(found, selector) == listed - noise, (selector, name)
    print("\n".join(printed))  # noqa: T201 -- the differences from dbt's answer, each with its kind
    assert printed


def asked(folder: Path, out: Path) -> Mapping[str, Answers]:
    """What dbt selects after each batch; the manifests are in `out`."""
    executable = Path(getattr(settings, "SPELLBOOK_DBT", "") or Path(settings.BASE_DIR, ".envs/dbt/bin/dbt"))
    if not executable.exists():
        pytest.skip(f"no dbt at {executable}: make setup installs it")
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    files = [{path: text for one in changes.values() for path, text in one.files.items()} for changes in batches()]
    spec = {f"batch_{number}": {"files": one, "selectors": SELECTORS} for number, one in enumerate(files)}
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "DBT_SEND_ANONYMOUS_USAGE_STATS": "0"}
    script = Path(__file__).with_name("manifest_pairs_ls.py")
    for command in (
        [str(executable), "deps", "--project-dir", str(folder), "--profiles-dir", str(folder)],
        [str(executable.with_name("python")), "-I", str(script), str(folder), str(out)],
    ):
        done = subprocess.run(
            command, cwd=folder, env=environment, input=json.dumps(spec), capture_output=True, text=True, timeout=380,
            check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
    answers: Mapping[str, Answers] = json.loads(done.stdout[done.stdout.index('{"batch_0"') :])
    return answers


def said(found: ManifestDiff) -> tuple[object, ...]:
    modified = {one.unique_id: one.changes for one in found.modified}
    renamed = [(one.before, one.after) for one in found.renamed]
    return modified, list(found.added), list(found.removed), renamed


def expected(changes: Iterable[Change]) -> tuple[object, ...]:
    several = list(changes)

    def all_of(ids: Callable[[Change], Iterable[str]]) -> list[str]:
        return sorted(key for one in several for key in ids(one))

    modified = {key: kinds for one in several for key, kinds in one.modified.items()}
    renamed = sorted(pair for one in several for pair in one.renamed)
    return modified, all_of(lambda one: one.added), all_of(lambda one: one.removed), renamed


def differences(found: ManifestDiff, answer: Answers, changes: Iterable[Change]) -> list[str]:
    """Each difference from `state:modified` with its reason; fails on one that has none."""
    several = list(changes)
    beyond = {key: why for one in several for key, why in one.beyond.items()}
    noise = {key: why for one in several for key, why in one.noise.items()}
    ours = {one.unique_id for one in found.modified} | set(found.added)
    nodes = {key for key in ours if not key.startswith(NO_NODES)}
    assert nodes - set(answer["state:modified"]) == beyond.keys()
    assert set(answer["state:modified"]) - nodes == noise.keys()
    for one in found.modified:
        if set(one.changes) <= BEYOND_DBT:
            assert one.unique_id in beyond
    if not beyond and not noise:
        assert list(found.downstream) == answer["state:modified+"]
    return [
        *(f"{key}: {why}" for key, why in sorted({**beyond, **noise}.items())),
        *(f"{key}: macros and groups are no nodes of dbt's selector" for key in sorted(ours - nodes)),
        *(f"{key}: removed" for key in found.removed),
        *(f"{one.before}: renamed to {one.after}" for one in found.renamed),
    ]


def kind(found: ManifestDiff, selector: str) -> set[str]:
    words, types = KINDS[selector]
    return {one.unique_id for one in found.modified if words & set(one.changes) and one.unique_id.startswith(types)}


def of_types(listed: list[str], selector: str, found: ManifestDiff) -> set[str]:
    """What dbt lists under a sub-selector, where every new node stands as well."""
    types = KINDS[selector][1]
    return {key for key in listed if key not in found.added and key.startswith(types)}
