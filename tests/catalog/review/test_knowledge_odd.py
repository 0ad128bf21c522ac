"""Whatever stands in a declaration, in dbt's meta or in a document of facts: it is used, or told, and never raises."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from catalog.review.engine import review
from catalog.review.known.facts_document import FORMAT, FactsDocument, read
from catalog.review.known.knowledge import gather
from catalog.sources import manifest as manifests
from catalog.sources.declared import SECTIONS
from foundation.errors import BadInput
from tests.catalog.manifests import exposure, manifest, model, source

AT = datetime(2026, 9, 28, 5, 13, tzinfo=UTC)
WORDS = st.sampled_from(
    ["main.orders", "board", "mirror", "sync", "0 * * * *", "UTC", "ada@example.com", "", "\0", "\ud800", "a\u202eb"]
)  # fmt: skip
SCALARS = st.none() | st.booleans() | st.integers(-1, 99) | st.floats() | WORDS | st.text(max_size=3)
OWN_KEYS = {"columns", "cron", "zone", "email", "approver", "team"}
KEYS = st.sampled_from(sorted({key for keys in SECTIONS.values() for key in keys} | OWN_KEYS))
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS | st.integers(), inner, max_size=3),
    max_leaves=6,
)
ENTRIES = st.dictionaries(KEYS, VALUES, max_size=6)
DOCUMENTS = st.dictionaries(
    st.sampled_from([*SECTIONS, "people", "odd"]), st.lists(ENTRIES | VALUES, max_size=3) | VALUES, max_size=4
)
HEAD = manifests.read(
    manifest(
        [model("orders", "source.shop.raw.orders")],
        sources=[source("orders")],
        exposures=[exposure("board", "model.shop.orders", label="Board")],
    )
)


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(DOCUMENTS | VALUES, max_size=2))
@example([{"consumers": [{"asset": "a", "schedule": {"cron": "0 0 31 2 *"}}]}])
def test_any_declaration_is_used_or_told(documents: list[Any]) -> None:
    known = gather(HEAD, HEAD, declared=[(f"{place}.yml", one) for place, one in enumerate(documents)])
    assert all(isinstance(one, str) and one.endswith(".") for one in known.problems)
    assert "board" in {reader.name.lower() for reader in known.readers}
    review(HEAD, HEAD, known, at=AT)


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(VALUES | ENTRIES | DOCUMENTS, VALUES | ENTRIES)
def test_any_meta_is_used_or_told(of_model: Any, of_exposure: Any) -> None:
    head = manifests.read(
        manifest(
            [model("orders", "source.shop.raw.orders", meta={"spellbook": _plain(of_model)})],
            sources=[source("orders")],
            exposures=[exposure("board", "model.shop.orders", meta={"spellbook": _plain(of_exposure)})],
        )
    )
    known = gather(head, head)
    assert all(problem.startswith("meta.spellbook of ") for problem in known.problems)
    review(head, head, known, at=AT)


FACTS_KEYS = st.sampled_from(
    ["name", "key", "kind", "reads", "mode", "status", "people", "owner", "columns", "keys", "nulls", "cron", "asset"]
)
FACTS_VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(FACTS_KEYS, inner, max_size=4), max_leaves=8
)


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(st.sampled_from(["domains", "assets", "readers", "rules", "graph_version"]), FACTS_VALUES))
def test_any_facts_are_read_or_refused_in_one_sentence(fields: dict[str, Any]) -> None:
    data = json.dumps({"format": FORMAT, "taken_at": AT.isoformat(), **_plain(fields)}).encode()
    found = _read(data)
    if isinstance(found, BadInput):
        assert str(found).startswith("facts.json")
        assert "\n" not in str(found)
    else:
        review(HEAD, HEAD, gather(HEAD, HEAD, facts=[found]), at=AT)


def _read(data: bytes) -> FactsDocument | BadInput:
    try:
        return read(data, "facts.json")
    except BadInput as refusal:
        return refusal


def _plain(value: Any) -> Any:
    """As a JSON file can hold it."""
    return json.loads(json.dumps(value))
