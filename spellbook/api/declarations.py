"""Declaring over REST, and the register of readers."""

from __future__ import annotations

from typing import Any

import orjson
from django.http import HttpRequest
from ninja import Router

from catalog.register import register, row_as_dict
from catalog.services.access import is_agent
from catalog.sources.declared_file import LARGEST, read_yaml
from foundation.audit import Actor
from foundation.clock import now
from foundation.errors import BadInput
from spellbook.api.auth import Scope
from spellbook.coverage import with_baseline
from spellbook.declaring import declare_document
from spellbook.eyes import eyes_of
from spellbook.suggesting import COUNTS, WAITS

router = Router()
MOST = 1000
YAML_TYPES = ("application/yaml", "application/x-yaml", "text/yaml")


@router.post("/declarations", auth=Scope("declare:write"))
def declare(request: HttpRequest) -> dict[str, Any]:
    """Keep a declaration, JSON or YAML; an agent's is a suggestion until a person of the domain answers it, and the
    answer says so under `status`."""
    actor: Actor = request.auth  # type: ignore[attr-defined]
    told = declare_document(_body(request), actor=actor)
    suggested = COUNTS if told["consumers"] else WAITS
    return {**told, "status": suggested if is_agent(actor) else "declared"}


@router.get("/readers", auth=Scope("catalog:read"))
def readers(
    request: HttpRequest, gap: str = "", syncs: bool = False, order: str = "next", offset: int = 0, limit: int = 100
) -> dict[str, Any]:
    """The register: every reader that counts, when it reads next, and what is missing."""
    if not (0 <= offset <= 10**9 and 1 <= limit <= MOST):
        raise BadInput(f"offset is at least 0, and limit from 1 to {MOST}.")
    sight = eyes_of(request.auth)  # type: ignore[attr-defined]
    page = register(now(), baselines=with_baseline, gap=gap, syncs=syncs, order=order, offset=offset, limit=limit)
    return {
        "total": page.total,
        "truncated": page.truncated,
        "every": page.every,
        "syncs": page.syncs,
        "gaps": dict(page.counts),
        "readers": [row_as_dict(row, named=sight.name) for row in page.rows],
    }


def _body(request: HttpRequest) -> object:
    data = request.body
    if len(data) > LARGEST:
        raise BadInput(f"The declaration is larger than {LARGEST // 2**20} MB.")
    if request.content_type in YAML_TYPES:
        return read_yaml(data, "The body of the request")
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        raise BadInput("The body of the request is not JSON; YAML is sent as application/yaml.") from None
