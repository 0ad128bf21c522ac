"""The check of an event against the published schema (OpenLineage.json beside this file)."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any, Final, Literal

import orjson
from jsonschema import Draft202012Validator, ValidationError
from jsonschema.exceptions import best_match

from catalog.sources.naming import printable
from foundation.errors import BadInput

Kind = Literal["run", "job", "dataset"]

VERSION: Final = "2-0-2"
KINDS: Final[tuple[Kind, ...]] = ("run", "job", "dataset")
_DEFINITIONS: Final[dict[Kind, str]] = {"run": "RunEvent", "job": "JobEvent", "dataset": "DatasetEvent"}
_SHOWN: Final = 200


def check(document: object) -> Kind:
    """Which of the three events `document` is; BadInput, with the first field that does not fit, when it is none.

    Exactly what the schema accepts is accepted. The schema's formats are not part of it: see `events.read`.
    """
    if not isinstance(document, dict):
        raise BadInput("an OpenLineage event is a JSON object")
    named = [kind for kind in _DEFINITIONS if kind in document]
    if not named:
        raise BadInput("an OpenLineage event has a run, a job or a dataset; this one has none of them")
    fitting = [kind for kind in named if _validator(kind).is_valid(document)]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        raise BadInput("an OpenLineage event is about a job or about a dataset; this one is about both")
    error = best_match(_validator(named[0]).iter_errors(document))
    raise BadInput(f"the event does not fit the OpenLineage schema {VERSION}: {_told(error)}")


@lru_cache
def published() -> dict[str, Any]:
    """The schema as it was published."""
    schema: dict[str, Any] = orjson.loads(Path(__file__).with_name("OpenLineage.json").read_bytes())
    return schema


@lru_cache
def _validator(kind: Kind) -> Draft202012Validator:
    return Draft202012Validator({"$defs": published()["$defs"], "$ref": f"#/$defs/{_DEFINITIONS[kind]}"})


def _told(error: ValidationError | None) -> str:
    """Where and why, short and printable: the message quotes what was sent."""
    if error is None:
        return "it is about nothing"
    where = ".".join(str(step) for step in error.absolute_path) or "the event"
    clean = printable(f"{where}: {error.message}")
    return clean if len(clean) <= _SHOWN else clean[:_SHOWN] + "…"
