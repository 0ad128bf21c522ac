"""Recording values."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

from django.http import HttpRequest
from ninja import Router, Schema
from pydantic import Field

from foundation.audit import Actor
from foundation.errors import BadInput, SpellbookError, Unavailable
from spellbook.api.auth import Scope
from spellbook.judging import record_named
from spellbook.sentences import sentence

router = Router()
MOST = 1000


class ValueIn(Schema):
    asset: str
    metric: str
    value: Decimal = Field(allow_inf_nan=False)
    at: datetime | None = None
    build: str | None = None


class ValuesIn(Schema):
    """Either one value, or a list of them under `values`."""

    values: list[ValueIn] | None = None
    asset: str | None = None
    metric: str | None = None
    value: Decimal | None = Field(default=None, allow_inf_nan=False)
    at: datetime | None = None
    build: str | None = None


@router.post("/values", auth=Scope("value:write"))
def record_values(request: HttpRequest, body: ValuesIn) -> dict[str, object]:
    """Record one value or a list of them; each is judged, and the answer names the verdict of each.

    A list that does not have this form is refused whole. In a list that has it, a value that is refused says why in its
    place, the others are recorded, and `refused` counts; only when the installation itself fails is the rest left.
    """
    actor: Actor = request.auth  # type: ignore[attr-defined]
    if body.values is None:
        return keep(_single(body), actor)
    results = [_told(value, actor) for value in _listed(body, body.values)]
    return {"results": results, "refused": sum("error" in result for result in results)}


def keep(one: ValueIn, actor: Actor) -> dict[str, object]:
    """Record one value under the level of its domain: at L0 it is kept and not judged (D13)."""
    return record_named(one.asset, one.metric, one.value, actor=actor, at=one.at, build=one.build)


def _single(body: ValuesIn) -> ValueIn:
    if body.asset is None or body.metric is None or body.value is None:
        raise BadInput("Send asset, metric and value, or a list called values.")
    return ValueIn(asset=body.asset, metric=body.metric, value=body.value, at=body.at, build=body.build)


def _listed(body: ValuesIn, values: list[ValueIn]) -> list[ValueIn]:
    beside = body.dict(exclude={"values"}, exclude_none=True)
    if beside:
        raise BadInput(f"Send either one value or a list called values, not both ({', '.join(beside)}).")
    if len(values) > MOST:
        raise BadInput(f"At most {MOST} values are taken in one request, not {len(values)}.")
    return values


def _told(value: ValueIn, actor: Actor) -> dict[str, object]:
    try:
        return keep(value, actor)
    except Unavailable:
        raise
    except SpellbookError as error:
        return {"asset": value.asset, "metric": value.metric, "error": error.code, "message": sentence(error)}
