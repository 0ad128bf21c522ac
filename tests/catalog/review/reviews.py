"""Reviews put together by hand, for tests of the faces."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from catalog.diff.row_set_types import CAN_ONLY_DROP, RowSetChange
from catalog.lints.types import Finding, Place
from catalog.review.types import Change, Check, Person, Reached, Review

AT = datetime(2026, 9, 28, 5, 13, tzinfo=UTC)
READ = datetime(2026, 9, 28, 6, 0, tzinfo=UTC)

SYNC = Reached(
    name="account events",
    kind="sync",
    hops=2,
    through=("fct_account_events",),
    tool="Mixpanel",
    mode="mirror",
    next_read=READ,
    last_useful_minute=READ - timedelta(minutes=15),
    zone="America/New_York",
    consequence="Rows that are gone here are deleted in the tool",
    people={"operator": ("Sam Okafor",)},
    columns=None,
    source="spellbook.yml",
)
BOARD = Reached(
    name="Activation board",
    kind="dashboard",
    hops=3,
    through=("fct_account_events", "agg_activation"),
    people={"business_owner": ("Growth PM",)},
    source="dbt exposures",
)
FINDING = Finding(
    rule="null-rows-dropped",
    severity="dangerous",
    place=Place(14, "not a.is_internal"),
    sentence="(not a.is_internal) is NULL, not TRUE, where a.is_internal is NULL, and drops such rows silently.",
    evidence=("3,912 of 48,210 rows of app.accounts had NULL in is_internal, measured 2026-09-28 01:05 UTC",),
    rewrite="a.is_internal is distinct from true",
    certainty="certain",
)
FILTER = Change(
    unique_id="model.shop.stg_app__accounts",
    name="stg_app__accounts",
    resource_type="model",
    action="modified",
    verdict="dangerous",
    reasons=(
        "A filter drops the rows of stg_app__accounts in which is_internal is NULL: 3,912 when last measured.",
        "The Mirror sync account events reads what is made of it at 02:00 and copies the loss.",
    ),
    path="models/staging/stg_app__accounts.sql",
    kinds=("body",),
    row_set=(
        RowSetChange(
            kind="filter_added",
            direction=CAN_ONLY_DROP,
            predicate="NOT a.is_internal",
            columns=(("a", "is_internal"),),
            whole=CAN_ONLY_DROP,
        ),
    ),
    direction=CAN_ONLY_DROP,
    findings=(FINDING,),
    reached={"model": 12, "dashboard": 1},
    nearest=("fct_account_events", "agg_activation"),
    readers=(SYNC, BOARD),
    people=(Person("Dana Reyes", "approves changes in Growth"), Person("Sam Okafor", "operates account events")),
    checks=(
        Check(
            kind="not_null",
            table="stg_app__accounts",
            columns=("is_internal",),
            sentence="Test that is_internal is never NULL in stg_app__accounts.",
            yaml="models:\n  - name: stg_app__accounts\n    columns:\n      - name: is_internal\n"
            "        data_tests:\n          - not_null\n",
        ),
    ),
)
COLUMN = Change(
    unique_id="model.shop.dim_plan",
    name="dim_plan",
    resource_type="model",
    action="modified",
    verdict="look",
    reasons=("The column tier is made of something else, and a dashboard reads it.",),
    path="models/marts/dim_plan.sql",
    kinds=("body",),
    row_set=(
        RowSetChange(
            kind="column_reexpressed",
            direction="same_rows",
            predicate="CASE WHEN p.seats > 10 THEN 'team' ELSE 'solo' END AS tier",
            before="p.tier",
            columns=(("p", "seats"),),
            note="a column is made of something else: tier",
            whole="same_rows",
        ),
    ),
    direction="same_rows",
    only_columns=frozenset({"tier"}),
    readers=(replace(BOARD, hops=1, through=(), columns=("tier",)),),
    reached={"dashboard": 1},
)
TEXT = Change(
    unique_id="model.shop.dim_calendar",
    name="dim_calendar",
    resource_type="model",
    action="modified",
    verdict="safe",
    reasons=("Only its form changed.",),
    path="models/marts/dim_calendar.sql",
    kinds=("description",),
    direction="same_rows",
)
REVIEW = Review(
    verdict="dangerous",
    reasons=FILTER.reasons,
    changes=(FILTER, COLUMN, TEXT),
    readers=(SYNC, BOARD),
    readers_known=True,
    people=FILTER.people,
    notes=("The base manifest is 3 days older than the head.",),
    sources=("dbt exposures", "spellbook.yml"),
    compared="The build of main of 2026-09-28 01:00 UTC was compared with the build of this branch.",
    at=AT,
)


def of_many(number: int) -> Review:
    """A review of `number` changes, one in a hundred of them dangerous."""
    grave = [
        replace(FILTER, unique_id=f"model.shop.grave_{place}", name=f"grave_{place}") for place in range(number // 100)
    ]
    calm = [
        replace(TEXT, unique_id=f"model.shop.calm_{place}", name=f"calm_{place}")
        for place in range(number - len(grave))
    ]
    return replace(REVIEW, changes=(*grave, *calm))
