"""What dbt's own tests said of a build, read from its manifest and run results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from catalog.models import Asset, Build
from catalog.selectors import assets_of_nodes, manifest_of, run_results_of
from catalog.sources.manifest_types import TestNode
from catalog.sources.run_results import NodeResult

STATUS: Mapping[str, str] = {
    "pass": "passed",
    "success": "passed",
    "warn": "passed",
    "fail": "failed",
    "error": "error",
}
"""A warning is what the team's own threshold lets pass; it is kept as passed, with dbt's words as the reason."""


@dataclass(frozen=True)
class Told:
    """One test of one asset: what it is and what dbt said of it (`failures` in rows, None where it did not say)."""

    asset: Asset
    unique_id: str
    kind: str
    column: str
    status: str
    reason: str
    failures: int | None


def told_by(build: Build) -> list[Told]:
    """Every test that the build ran, and those of the tables that it wrote and that it did not run."""
    manifest, results = manifest_of(build), run_results_of(build)
    if manifest is None or results is None:
        return []
    assets = assets_of_nodes(sorted({_judged(test) for test in manifest.tests}), manifest.project or None)
    written = set(build.outputs.values_list("asset_id", flat=True))
    told = []
    for test in manifest.tests:
        asset, said = assets.get(_judged(test)), results.results.get(test.unique_id)
        if asset is not None and (said is not None or asset.pk in written):
            told.append(_told(asset, test, said))
    return told


def _judged(test: TestNode) -> str:
    """The node that a test is about; a test of one's own SQL belongs to the first that it reads."""
    return test.attached or next(iter(test.depends_on), "")


def _told(asset: Asset, test: TestNode, said: NodeResult | None) -> Told:
    name, column = test.name[:60], test.column or ""
    if said is None:
        return Told(asset, test.unique_id, name, column, "not_evaluated", "this build did not run the test", None)
    status = STATUS.get(said.status, "not_evaluated")
    quiet = said.status in ("pass", "success")
    reason = "" if quiet else f"dbt says {said.status}: {said.message or 'no message'}"
    return Told(asset, test.unique_id, name, column, status, reason, said.failures)
