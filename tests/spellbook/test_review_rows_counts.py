"""What a warehouse counts and what it cannot be asked for: an acknowledgement goes on to count while the change is the
same, and no danger is overlooked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest
from pytest_django import Settings

from catalog.models import PullRequest, Review
from catalog.services.reviewing import keeping
from catalog.services.reviewing.acknowledge import acknowledge
from foundation.audit import Actor
from foundation.models import Connection
from spellbook import review_acknowledging
from tests.github.double import Double
from tests.github.fixtures import github, judge  # noqa: F401
from tests.spellbook.review_world import ReviewWorld, review_world


@pytest.fixture
def world(committing: str, settings: Settings, tmp_path: Path, github: Double) -> ReviewWorld:  # noqa: F811
    settings.ARTIFACTS_DIR = tmp_path / "artifacts"
    return review_world(github)


@pytest.fixture
def warehouse(world: ReviewWorld, tmp_path: Path) -> Path:
    """A warehouse whose `stg_orders` has NULLs."""
    file = tmp_path / "dev.duckdb"
    with duckdb.connect(str(file)) as one:
        one.execute("create table stg_orders (order_id integer, is_test boolean)")
        one.execute("insert into stg_orders select i, if(i % 4 = 0, null, i % 2 = 0) from range(100) as t(i)")
    row = Connection.objects.get(name="wh")
    row.params = {**row.params, "path": str(file)}
    row.save()
    return file


def certainties(review: Review) -> set[str]:
    return {one["certainty"] for change in review.document["changes"] for one in change["findings"]}


def test_other_counts_and_a_warehouse_that_cannot_be_asked_take_no_acknowledgement_back(
    world: ReviewWorld, warehouse: Path
) -> None:
    review = world.ask(world.pull()).review
    assert review is not None
    assert "certain" in certainties(review)
    owner = world.people["owner"]
    right = review_acknowledging.covered
    acknowledge(review.pk, review.digest, "Agreed.", person=owner, right=right, actor=Actor(owner.principal, "web"))
    with duckdb.connect(str(warehouse)) as one:
        one.execute("update stg_orders set is_test = null where order_id < 40")
    world.again()
    away = warehouse.rename(warehouse.with_name("away.duckdb"))
    world.again()
    assert PullRequest.objects.get().problem == ""
    away.rename(warehouse)
    world.again()
    assert Review.objects.get() == review
    assert "**Acknowledged**" in world.comments[0]


def test_what_is_counted_for_the_first_time_makes_another_review(world: ReviewWorld, warehouse: Path) -> None:
    away = warehouse.rename(warehouse.with_name("away.duckdb"))
    first = world.ask(world.pull()).review
    assert first is not None
    assert "certain" not in certainties(first)
    away.rename(warehouse)
    world.again()
    second = PullRequest.objects.get().review
    assert second not in (None, first)
    assert second is not None
    assert "certain" in certainties(second)


def change(verdict: str, *, certainty: str = "possible", readers: tuple[str, ...] = ("a",)) -> dict[str, Any]:
    findings = [{"rule": "null-rows-dropped", "severity": "look", "certainty": certainty}]
    named = [{"name": one} for one in readers]
    return {"unique_id": "model.shop.orders", "verdict": verdict, "findings": findings, "readers": named}


def said(*changes: dict[str, Any]) -> Review:
    document = {"verdict": "look", "changes": list(changes)}
    fields = {"head_sha": "a" * 40, "head_manifest": "b" * 64, "base_manifest": "c" * 64}
    return Review(document=document, digest=keeping.digest_of(document), **fields)


def test_the_order_of_a_list_makes_no_other_digest_and_what_it_holds_does() -> None:
    one = said(change("look", readers=("a", "b")))
    assert one.digest == said(change("look", readers=("b", "a"))).digest
    assert one.digest != said(change("look", readers=("a",))).digest
    assert one.digest != said(change("look", readers=("a", "b", "b"))).digest


def test_a_count_that_failed_takes_back_no_danger_and_hides_none() -> None:
    counted, not_counted = said(change("dangerous", certainty="certain")), said(change("look"))
    assert keeping._stands(counted, not_counted, True)
    assert not keeping._stands(counted, not_counted, False)  # it was counted, and the NULLs are gone
    assert not keeping._stands(not_counted, counted, True)  # another danger is seen
    assert not keeping._stands(counted, said(change("look", readers=("a", "b"))), True)
    other = said(change("look"))
    other.head_manifest = "d" * 64
    assert not keeping._stands(counted, other, True)
