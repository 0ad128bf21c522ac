"""Announcing builds."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
from django.http import HttpRequest
from ninja import File, Form, Router, Schema, Status
from ninja.files import UploadedFile

from catalog.models import Build
from catalog.services.builds import announce
from foundation.errors import BadInput, NotFound
from spellbook.api.auth import Scope

router = Router()
LARGEST = 500 * 1024 * 1024


class Announcement(Schema):
    key: str
    kind: str = "dbt"
    producer: str = ""
    status: str = "succeeded"
    started_at: datetime | None = None
    ended_at: datetime | None = None
    commit: str = ""
    repository: str = ""
    connection: str = ""
    project: str = ""
    outputs: str = "[]"
    facts: str = "{}"


class Announced(Schema):
    build: UUID
    key: str
    created: bool


@router.post("/builds", auth=Scope("build:write"), response={202: Announced})
def announce_build(
    request: HttpRequest,
    body: Form[Announcement],
    manifest: File[UploadedFile | None] = None,
    run_results: File[UploadedFile | None] = None,
    catalog: File[UploadedFile | None] = None,
    sources: File[UploadedFile | None] = None,
) -> Status[Announced]:
    """Keep a build with its artifacts; it is processed afterwards. `outputs` and `facts` are JSON texts."""
    files = {"manifest": manifest, "run_results": run_results, "catalog": catalog, "sources": sources}
    text = next((name for name in files if name in request.POST), None)
    if text is not None:
        raise BadInput(f"The {text} is sent as text; send it as a file.")
    build, created = announce(
        actor=request.auth,  # type: ignore[attr-defined]
        artifacts={kind: _read(kind, file) for kind, file in files.items() if file is not None},
        outputs=_json("outputs", body.outputs, list),
        facts=_json("facts", body.facts, dict),
        **body.dict(exclude={"outputs", "facts"}),
    )
    return Status(202, Announced(build=build.pk, key=build.key, created=created))


@router.get("/builds/{path:key}", auth=Scope("build:read"))
def read_build(request: HttpRequest, key: str) -> dict[str, object]:
    """What became of an announced build."""
    build = Build.objects.select_related("review").filter(key=key).first() if key.isprintable() else None
    if build is None:
        raise NotFound(f"No build has the key {key[:80]!r}.")
    review = getattr(build, "review", None)
    return {
        "build": str(build.pk), "key": build.key, "kind": build.kind, "status": build.status,
        "processed": build.processed_at is not None, "refusal": build.refusal,
        "measured": bool(review and review.measured_at), "graph_version": build.graph_version_id,
    }  # fmt: skip


def _read(kind: str, file: UploadedFile) -> bytes:
    if file.size is not None and file.size > LARGEST:
        raise BadInput(f"The {kind} is larger than 500 MB.")
    return bytes(file.read())


def _json(name: str, text: str, shape: type) -> Any:
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        value = None
    if not isinstance(value, shape):
        raise BadInput(f"{name} must be a JSON {'list' if shape is list else 'object'}.")
    return value
