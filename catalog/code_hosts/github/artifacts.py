"""Artifacts of workflow runs: which there are, and one file out of one.

GitHub answers a download with a redirect to a storage of another host, whose address holds a signature: that address is
fetched without our token, only if its host is on SPELLBOOK_OUTBOUND_ALLOW, and is never shown.
"""

from __future__ import annotations

import tempfile
from typing import IO

import httpx

from catalog.code_hosts.github import zips
from catalog.code_hosts.github.answers import check_sha, odd, unreachable
from catalog.code_hosts.github.api import SECONDS, Api, opened, whole
from catalog.code_hosts.github.fields import Fields
from catalog.code_hosts.github.types import Artifact
from foundation import http
from foundation.errors import BadInput, NotFound, SpellbookError, Unavailable

MOST_RUNS = 300
MOST_ARTIFACTS = 500  # of one run
DOWNLOAD_SECONDS = 300.0
IN_MEMORY = 16 * 1024 * 1024  # bytes of a zip before it goes to a file without a name


def artifacts(api: Api, head_sha: str, name: str = "") -> list[Artifact]:
    """Those of completed runs of that commit, the newest run first."""
    what = f"workflow runs of commit {check_sha(head_sha)[:12]} of {api.settings.full_name}"
    params = {"head_sha": head_sha, "status": "completed"}
    found = api.pages(api.repo("actions", "runs"), what, MOST_RUNS, params, key="workflow_runs")
    # GitHub's filters are asked for and not relied on.
    runs = [one for one in found if one.text("head_sha") == head_sha and one.text("status", "") == "completed"]
    runs.sort(key=lambda one: (one.number("run_number"), one.number("run_attempt"), one.number("id")), reverse=True)
    runs.sort(key=lambda one: one.text("created_at"), reverse=True)
    return [artifact for run in runs for artifact in _of_run(api, run, name)]


def _of_run(api: Api, run: Fields, name: str) -> list[Artifact]:
    run_id = run.number("id")
    path = api.repo("actions", "runs", run_id, "artifacts")
    what = f"artifacts of workflow run {run_id} of {api.settings.full_name}"
    found = [
        Artifact(
            id=one.number("id"),
            name=one.text("name"),
            size=one.number("size_in_bytes"),
            expired=one.flag("expired"),
            run_id=run_id,
            created_at=one.time("created_at"),
        )
        for one in api.pages(path, what, MOST_ARTIFACTS, {"name": name} if name else None, key="artifacts")
    ]
    found.sort(key=lambda one: one.id, reverse=True)
    return [one for one in found if not name or one.name == name]


def artifact_file(api: Api, artifact: Artifact, member: str, largest: int) -> bytes:
    """One file out of the artifact's zip."""
    what = f"artifact {artifact.name[:100]} ({artifact.id})"
    if artifact.expired:
        raise NotFound(f"GitHub no longer has the {what}: it has expired.")
    if artifact.size > largest:
        raise BadInput(f"The zip of the {what} is larger than {largest / 2**20:,.0f} MB.")
    with tempfile.SpooledTemporaryFile(max_size=IN_MEMORY) as file:
        _download(_storage_address(api, artifact, what), file, largest, what)
        file.seek(0)
        return zips.member(file, member, largest, f"The {what}")


def _storage_address(api: Api, artifact: Artifact, what: str) -> httpx.URL:
    """Where GitHub sends us for the zip."""
    address = api.redirected(api.repo("actions", "artifacts", artifact.id, "zip"), what)
    if address.scheme != "https" and not api.settings.api.startswith("http://"):
        raise odd(what, "leads to an address without https")
    return address


def _download(address: httpx.URL, file: IO[bytes], largest: int, what: str) -> None:
    """The zip from its storage, with nothing of ours but the request itself."""
    try:
        with (
            http.client(timeout=SECONDS) as storage,
            opened(storage, storage.build_request("GET", address)) as response,
        ):
            if not response.is_success:
                raise _no_zip(response.status_code, what)
            for piece in whole(response, largest, what, DOWNLOAD_SECONDS):
                file.write(piece)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise Unavailable(str(unreachable(error, what, wrote=False))) from None
    except OSError:
        raise Unavailable(f"There is no room on this machine's disk for the {what}.") from None


def _no_zip(status: int, what: str) -> SpellbookError:
    if status in (404, 410):
        return NotFound(f"GitHub's storage no longer has the {what}.")
    return Unavailable(f"GitHub's storage fails on the {what} ({status}).")
