"""The trust score: its formula on made-up evidence, and what it says of the tables of one night."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from approvals.services.closing import close_by_hand
from catalog.models import Asset, AssetRole, ColumnList, Definition, EdgeClaim, GraphVersion, NodeClaim, Source
from foundation.clock import now
from incidents.models import Check, Result
from spellbook import trust_parts
from spellbook.trust import formula, rate, scores, weighed
from spellbook.trust_evidence import Evidence
from spellbook.trust_parts import PARTS, Cap, Part
from tests.spellbook.page_data import scene

MOMENT = datetime(2026, 3, 1, 6, tzinfo=UTC)


def part(key: str, score: int | None, known: int = 100) -> Part:
    return Part(key, score, known, "")


def nights(*ages: int, went: bool | None = True) -> list[tuple[bool | None, datetime]]:
    """Builds that ended so many hours before MOMENT."""
    return [(went, MOMENT - timedelta(hours=age)) for age in ages]


def test_the_weights_of_the_parts_make_a_hundred() -> None:
    assert sum(kind.weight for kind in PARTS.values()) == 100
    assert [one["weight"] for one in formula()] == [kind.weight for kind in PARTS.values()]


def test_the_score_is_the_mean_of_what_is_known_by_weight() -> None:
    found = rate([part("checks", 100), part("values", 50)])
    assert found.score == round((30 * 100 + 20 * 50) / 50)
    assert found.confidence == 100


def test_what_is_not_known_lowers_the_confidence_and_not_the_score() -> None:
    all_known = rate([part("checks", 90), part("values", 90)])
    half_known = rate([part("checks", 90), part("values", None, 0)])
    assert all_known.score == half_known.score == 90
    assert (all_known.confidence, half_known.confidence) == (100, 60)


def test_what_is_known_to_be_bad_lowers_the_score_and_not_the_confidence() -> None:
    found = rate([part("checks", 90), part("values", 0)])
    assert found.score == 54
    assert found.confidence == 100


def test_nothing_known_is_no_score_and_never_a_good_one() -> None:
    found = rate([part("checks", None, 0)])
    assert (found.score, found.confidence, found.state) == (None, 0, "unknown")
    assert rate([]).score is None


def test_a_score_from_too_little_is_not_called_high() -> None:
    found = rate([part("people", 100), *(part(key, None, 0) for key in ("checks", "values", "builds"))])
    assert found.score == 100
    assert found.state == "unknown"


def test_a_cap_holds_the_score_down_however_good_the_rest_is() -> None:
    found = rate([part("checks", 98)], [Cap(60, "a check failed"), Cap(40, "INC-1 is open on it")])
    assert found.score == 40
    assert found.lowered_by == Cap(40, "INC-1 is open on it")
    assert rate([part("checks", 30)], [Cap(60, "a check failed")]).lowered_by is None


def test_half_known_parts_count_half() -> None:
    assert weighed([part("checks", 100, 50), part("values", 0, 75)]) == 50


@pytest.mark.parametrize(
    ("checks", "answer"),
    [
        ([], (None, 0, "No check of it is known.")),
        (["passed", "passed"], (100, 100, "2 of 2 checks passed.")),
        (["passed", "failed"], (50, 100, "1 of 2 checks passed.")),
        (["passed", None], (100, 50, "1 of 1 check passed; 1 check of 2 said nothing in 30 days.")),
        ([None], (None, 0, "0 of 0 checks passed; 1 check of 1 said nothing in 30 days.")),
    ],
)
def test_checks_that_said_nothing_are_not_counted_as_passed(
    checks: list[str | None], answer: tuple[int | None, int, str]
) -> None:
    assert trust_parts.checks(Evidence(checks=checks)) == answer


@pytest.mark.parametrize(
    ("builds", "score", "known", "word"),
    [
        ([], None, 0, "No build"),
        (nights(2), 100, 50, "not known from 1 build"),
        (nights(5, 29, 53, 77), 100, 100, "usual rhythm"),
        (nights(54, 78, 102, 126), 75, 100, "later than usual"),
        (nights(100, 124, 148, 172), 50, 100, "later than usual"),
        (nights(5, 29, 53, 77, went=False), 50, 100, "did not go well"),
        (nights(5, 29, 53, 77, went=None), 100, 50, "How it went is unknown"),
        (nights(5, 5, 5, 5), 100, 50, "when it usually comes is not known"),
    ],
)
def test_a_build_is_judged_by_how_it_went_and_by_its_own_rhythm(
    builds: list[tuple[bool | None, datetime]], score: int | None, known: int, word: str
) -> None:
    found = trust_parts.builds(Evidence(builds=builds), MOMENT)
    assert found[:2] == (score, known)
    assert word in found[2]


def test_no_incident_says_nothing_of_a_table_that_nobody_looks_at() -> None:
    assert trust_parts.incidents(Evidence())[:2] == (None, 0)
    assert trust_parts.incidents(Evidence(checks=[None], verdicts=[None]))[:2] == (None, 0)
    assert trust_parts.incidents(Evidence(checks=["passed"]))[:2] == (100, 100)


@pytest.mark.django_db
def test_an_open_incident_shows_on_its_table_and_on_everything_below() -> None:
    night = scene()
    found = scores(list(night.assets.values()))
    name = str(night.incident)
    table, below, above = (found[night.assets[one].pk] for one in ("fct_orders", "mart_weekly", "stage_orders"))
    assert [cap.reason for cap in table.caps] == [f"{name} is open on it"]
    assert table.score is not None
    assert table.score <= 40
    assert [cap.reason for cap in below.caps] == [f"{name} is open on something that feeds it"]
    assert above.caps == ()
    close_by_hand(night.incident.pk, "accepted", "It is so.", person=night.people["owner"], actor=night.actor("owner"))
    assert not any(one.caps for one in scores(list(night.assets.values())).values())


@pytest.mark.django_db
def test_the_walk_goes_up_from_few_tables_and_down_from_few_incidents() -> None:
    night = scene()
    one = scores([night.assets["mart_weekly"]])
    many = scores(list(night.assets.values()))
    assert one[night.assets["mart_weekly"].pk] == many[night.assets["mart_weekly"].pk]


@pytest.mark.django_db
def test_the_parts_of_a_table_are_what_its_rows_say() -> None:
    night = scene()
    fact = night.assets["fct_orders"]
    parts = {one.key: one for one in scores([fact])[fact.pk].parts}
    assert (parts["checks"].score, parts["checks"].known) == (100, 67)
    assert parts["values"].score == 0
    assert parts["builds"].score == 100
    assert parts["people"].score == 100
    assert "no approved definition" not in parts["words"].evidence
    assert parts["words"].evidence == "Neither definition nor description; 1 of 1 column described."
    Definition.objects.create(
        asset=fact, number=1, text="One row an order.", author=night.people["owner"].principal, created_at=now(),
        approved_by=night.people["owner"], approved_at=now(),
    )  # fmt: skip
    again = {one.key: one for one in scores([fact])[fact.pk].parts}
    assert again["words"].score == 100


@pytest.mark.django_db
def test_an_old_result_is_no_evidence() -> None:
    night = scene()
    fact = night.assets["fct_orders"]
    later = now() + timedelta(days=31)
    parts = {one.key: one for one in scores([fact], at=later)[fact.pk].parts}
    assert (parts["checks"].score, parts["checks"].known) == (None, 0)


@pytest.mark.django_db
def test_a_failed_check_caps_the_score() -> None:
    night = scene()
    stage = night.assets["stage_orders"]
    check = Check.objects.create(asset=stage, kind="unique", origin="dbt", local_id="test.unique.stage")
    Result.objects.create(check_run=check, status="failed", at=now())
    assert scores([stage])[stage.pk].caps == (Cap(60, "1 check failed"),)


@pytest.mark.django_db
def test_an_asset_of_which_nothing_is_known_has_a_score_of_no_confidence() -> None:
    lonely = Asset.objects.create(namespace="duckdb://shop", name="lonely", kind="table")
    found = scores([lonely])[lonely.pk]
    assert found.confidence == 15
    assert found.state == "unknown"
    assert found.as_dict()["parts"][0]["score"] is None
    assert scores([]) == {}


@pytest.mark.django_db
def test_a_list_of_any_length_takes_at_most_twelve_queries() -> None:
    night = scene()
    source = Source.objects.get(key="dbt:retail")
    version = GraphVersion.objects.get(number=1)
    rows = Asset.objects.bulk_create(
        Asset(namespace="duckdb://shop", name=f"mart_{one}", kind="model", domain=night.domain) for one in range(300)
    )
    NodeClaim.objects.bulk_create(
        NodeClaim(source=source, asset=row, local_id=row.name, added_in=version) for row in rows
    )
    EdgeClaim.objects.bulk_create(
        EdgeClaim(source=source, from_asset=night.assets["fct_orders"], to_asset=row, added_in=version) for row in rows
    )
    ColumnList.objects.bulk_create(ColumnList(asset=row, items=[]) for row in rows)
    AssetRole.objects.bulk_create(AssetRole(asset=row, label="the team", role="owner") for row in rows)
    scores([])
    with CaptureQueriesContext(connection) as few:
        scores(list(night.assets.values()))
    with CaptureQueriesContext(connection) as many:
        found = scores(rows)
    assert len(found) == 300
    assert len(many) <= len(few) <= 12, [one["sql"][:80] for one in few]


@pytest.mark.django_db
def test_what_was_measured_is_said_to_count_under_values() -> None:
    night = scene()
    fact = night.assets["fct_orders"]
    check = Check.objects.create(asset=fact, kind="row_count", origin="measured")
    Result.objects.create(check_run=check, status="failed", at=now())
    said = next(one.evidence for one in scores([fact])[fact.pk].parts if one.key == "checks")
    assert said.startswith("2 of 2 checks passed; 1 check of 3 said nothing")
    assert said.endswith("; 1 check of what was measured counts under Values.")
    assert trust_parts.checks(Evidence(measured=2))[2].endswith("; 2 checks of what was measured count under Values.")
