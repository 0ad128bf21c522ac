"""Events against the published schema, what they say, and what the runs of a job add up to. No database."""

from __future__ import annotations

import copy
import random
from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from catalog.sources.naming import DatasetName
from catalog.sources.openlineage import events, facets, jobs
from catalog.sources.openlineage.jobs import Job
from catalog.sources.openlineage.schema import VERSION, check, published
from foundation.errors import BadInput
from tests.catalog.openlineage import (
    WH,
    at,
    dataset,
    dataset_event,
    facet,
    job_event,
    run_event,
    schema,
)


def test_the_schema_is_the_version_that_is_said_and_a_schema() -> None:
    assert published()["$id"] == f"https://openlineage.io/spec/{VERSION}/OpenLineage.json"
    Draft202012Validator.check_schema(published())


def test_each_kind_of_event_is_known() -> None:
    run = run_event("START", at(0), inputs=["a.b.c"], outputs=["a.b.d"])
    assert [check(one) for one in (run, job_event(at(0)), dataset_event(at(0), "a.b.c"))] == ["run", "job", "dataset"]


def test_an_event_without_a_type_or_datasets_is_an_event() -> None:
    body = run_event("START", at(0))
    del body["eventType"], body["inputs"], body["outputs"]
    found = events.read(body)
    assert (found.state, found.inputs, found.outputs) == ("", (), ())


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"run": None}, "run: None is not of type 'object'"),
        ({"run": {}}, "run: 'runId' is a required property"),
        ({"run": {"runId": "night-1"}}, "the runId 'night-1' is not a UUID"),
        ({"job": {"namespace": "x"}}, "job: 'name' is a required property"),
        ({"eventType": "DONE"}, "eventType: 'DONE' is not one of"),
        ({"eventTime": "yesterday"}, "the eventTime 'yesterday' is not a date and time"),
        ({"eventTime": "0001-01-01T00:00:00+14:00"}, "is not a date and time"),
        ({"eventTime": 5}, "eventTime: 5 is not of type 'string'"),
        ({"inputs": "orders"}, "inputs: 'orders' is not of type 'array'"),
        ({"inputs": [{"name": "x"}]}, "inputs.0: 'namespace' is a required property"),
        ({"inputs": [{"namespace": WH, "name": "x", "facets": {"schema": {}}}]}, "facets"),
        ({"inputs": [{"namespace": WH, "name": ""}]}, "the name of a dataset is empty"),
        ({"inputs": [{"namespace": WH, "name": "a\0b"}]}, "holds characters that cannot be printed"),
        ({"inputs": [{"namespace": WH, "name": "x" * 501}]}, "has more than 500 characters"),
        ({"outputs": [{"namespace": "n" * 301, "name": "x"}]}, "has more than 300 characters"),
        ({"job": {"namespace": "é" * 300, "name": "é" * 700, "facets": {}}}, None),
        ({"job": {"namespace": "日" * 300, "name": "日" * 700}}, "have more than 2500 bytes together"),
        ({"job": {"namespace": "x", "name": "\ud800"}}, "holds characters that cannot be printed"),
        ({"producer": None}, "producer: None is not of type 'string'"),
    ],
    ids=str,
)
def test_what_does_not_fit_is_refused_with_its_place(change: dict[str, Any], words: str | None) -> None:
    body = run_event("START", at(0)) | change
    if words is None:
        events.read(body)
        return
    with pytest.raises(BadInput) as refused:
        events.read(body)
    assert words in str(refused.value)
    assert len(str(refused.value)) < 400
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("body", [None, 1, "x", [], {}, {"eventTime": at(0)}], ids=str)
def test_what_is_no_event_is_refused(body: object) -> None:
    with pytest.raises(BadInput):
        events.read(body)


def test_too_many_edges_in_one_event_are_refused() -> None:
    body = run_event(
        "COMPLETE", at(0), inputs=[f"a.b.i{n}" for n in range(100)], outputs=[f"a.b.o{n}" for n in range(51)]
    )
    with pytest.raises(BadInput, match="5100 edges"):
        events.read(body)


def test_a_moment_without_a_zone_counts_as_utc_and_nanoseconds_are_read() -> None:
    plain, fine = (
        events.read(run_event("START", text)).at
        for text in ("2026-03-01T10:00:00", "2026-03-01T12:00:00.123456789+02:00")
    )
    assert plain == datetime(2026, 3, 1, 10, tzinfo=UTC)
    assert fine == datetime(2026, 3, 1, 10, 0, 0, 123456, tzinfo=UTC)


def test_a_dataset_that_is_named_twice_counts_once_with_all_its_facets() -> None:
    twice = [dataset("a.b.c", schema=schema(("id", "int"))), dataset("a.b.c", documentation={"description": "x"})]
    (one,) = events.read(run_event("START", at(0), inputs=twice)).inputs
    assert set(one.facets) == {"schema", "documentation"}


def test_exactly_what_the_published_schema_accepts_is_accepted() -> None:
    """2,000 seeded changes of good events, judged by the whole schema and by us."""
    whole, luck = Draft202012Validator(published()), random.Random(7)  # noqa: S311 -- seeded, so that a failure comes again
    good = [
        run_event("COMPLETE", at(0), inputs=[dataset("a.b.c", schema=schema(("id", "int")))], outputs=["a.b.d"]),
        job_event(at(0), inputs=["a.b.c"]),
        dataset_event(at(0), dataset("a.b.c", documentation={"description": "x"})),
    ]
    differ = []
    for _ in range(2000):
        body = changed(luck, luck.choice(good))
        try:
            check(body)
            ours = True
        except BadInput:
            ours = False
        if ours != whole.is_valid(body):
            differ.append(body)
    assert differ == []


def changed(luck: random.Random, body: dict[str, Any]) -> dict[str, Any]:
    """A copy with one to three places dropped, replaced, or borrowed from another kind of event."""
    found = copy.deepcopy(body)
    for _ in range(luck.randint(1, 3)):
        places = list(_places(found))
        where, key = luck.choice(places)
        if luck.random() < 0.4:
            del where[key]
        else:
            where[key] = luck.choice([None, 1, "x", [], {}, True, facet(), {"namespace": "a", "name": "b"}])
        if luck.random() < 0.2:
            found[luck.choice(["run", "job", "dataset"])] = luck.choice(
                [None, {}, {"namespace": "a", "name": "b"}, {"runId": "x"}]
            )
    return found


def _places(value: Any) -> Any:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in list(items):
        yield value, key
        yield from _places(item)


def test_a_job_that_only_tests_writes_nothing() -> None:
    body = run_event("COMPLETE", at(0), inputs=["a.b.c"], outputs=["audit.failures"])
    body["job"]["facets"] = {"jobType": facet(jobType="TEST", integration="DBT", processingType="BATCH")}
    found = events.read(body)
    assert ([one.name.name for one in found.inputs], found.outputs) == (["a.b.c"], ())


# --- facets -----------------------------------------------------------------------------------------------------------


def test_facets_are_read_as_facts() -> None:
    found = facets.told(
        dataset(
            "a.b.c",
            schema={
                "fields": [{"name": "id", "type": "int", "description": "the key"}, {"name": "x"}, {"type": "int"}, 3]
            },
            documentation={"description": "Orders"},
            ownership={"owners": [{"name": "team:data"}, {"name": "team:data"}, {}, None]},
            tags={
                "tags": [{"key": "pii", "value": "true"}, {"key": "tier", "value": "1"}, {"key": "x", "field": "id"}]
            },
            datasetType={"datasetType": "VIEW"},
            dbt_model={"config": {"materialized": "table"}},
        )["facets"]
    )
    assert found == {
        "columns": [["id", "int", "the key"], ["x", "", ""]],
        "description": "Orders",
        "owners": ["team:data"],
        "tags": ["pii", "tier:1"],
        "kind": "view",
        "materialized": "table",
    }


@pytest.mark.parametrize("odd", [None, 3, "x", [], [1], {"fields": 3}, {"owners": {"a": 1}}, {"tags": [[]]}], ids=str)
def test_odd_facets_say_nothing(odd: Any) -> None:
    names = ("schema", "documentation", "ownership", "tags", "dbt_model", "symlinks", "lifecycleStateChange")
    given_ = dict.fromkeys(names, odd)
    assert facets.told(given_) == {}
    assert facets.table_of(given_) is None
    assert not facets.dropped(given_)


def test_a_null_character_or_half_a_letter_in_a_facet_is_replaced() -> None:
    found = facets.told({"documentation": facet(description="a\0b\ud800")})
    assert found == {"description": "a\ufffdb\ufffd"}


def test_no_name_in_a_facet_holds_what_nobody_sees() -> None:
    hidden = dataset(
        "a", schema=schema(("to\u202etal", "in\u200bt")), ownership={"owners": [{"name": "te\u2066am"}]},
        tags={"tags": [{"key": "p\x07ii"}]}, documentation={"description": "One\nand two"},
    )["facets"]  # fmt: skip
    assert facets.told(hidden) == {
        "columns": [["to\ufffdtal", "in\ufffdt", ""]], "owners": ["te\ufffdam"], "tags": ["p\ufffdii"],
        "description": "One\nand two",
    }  # fmt: skip


def test_who_writes_a_table_knows_more_of_it_than_who_reads_it_and_then_the_later_word_counts() -> None:
    said = facets.merge({}, {"columns": [["a", "", ""], ["b", "", ""]]}, facets.WRITTEN, "2026-03-01")
    said = facets.merge(said, {"columns": [["a", "", ""]]}, facets.READ, "2026-03-02")
    assert len(facets.value(said, "columns")) == 2
    assert facets.value(facets.merge(said, {"columns": None}, facets.WRITTEN, "2026-03-03"), "columns") is None
    assert facets.merge(said, {"columns": []}, facets.WRITTEN, "2026-02-01") == said


def test_a_facet_that_is_deleted_is_taken_back() -> None:
    assert facets.told({"schema": facet(_deleted=True)}) == {"columns": None}


def test_a_symlink_of_type_table_is_the_table_that_is_meant() -> None:
    links = {
        "identifiers": [
            {"namespace": "x", "name": "y", "type": "LOCATION"},
            {"namespace": WH, "name": "a.b", "type": "TABLE"},
        ]
    }
    assert facets.table_of(dataset("/data/b", symlinks=links)["facets"]) == DatasetName(WH, "a.b")


# --- the runs of a job ------------------------------------------------------------------------------------------------


def told(*bodies: dict[str, Any], every: Sequence[dict[str, Any]] = ()) -> Job:
    """The job after these events, in this order; `every`: all that are stored, by default these."""
    job = Job()
    read = [events.read(body) for body in every or bodies]
    starts = {run: min(one.at for one in read if one.run == run) for run in {one.run for one in read if one.run}}
    named: dict[str, set[jobs.Use]] = defaultdict(set)
    for event in map(events.read, bodies):
        job = jobs.after(job, event, starts.get(event.run, event.at), named=named[event.run], starts=starts)
        named[event.run or event.at.isoformat()] |= {*jobs.uses_of(event)}
    return job


def names(job: Job) -> tuple[list[str], list[str]]:
    return tuple(sorted(one.name for one in job.datasets(role)) for role in ("input", "output"))  # type: ignore[return-value]


def test_the_events_of_a_run_add_up() -> None:
    found = told(
        run_event("START", at(0), inputs=["a"]), run_event("RUNNING", at(1), inputs=["b"]),
        run_event("COMPLETE", at(2), outputs=["c"]),
    )  # fmt: skip
    assert names(found) == (["a", "b"], ["c"])
    assert found.completed


def test_a_new_run_adds_until_it_completes_and_then_what_it_did_not_name_goes() -> None:
    first = run_event("COMPLETE", at(0), inputs=["a", "b"], outputs=["c"])
    start = run_event("START", at(5), run="two", inputs=["d"], outputs=["c"])
    assert names(told(first, start)) == (["a", "b", "d"], ["c"])
    assert names(told(first, start, run_event("COMPLETE", at(6), run="two"))) == (["d"], ["c"])


@pytest.mark.parametrize("state", ["OTHER", "RUNNING"])
def test_a_run_that_goes_on_takes_nothing_away(state: str) -> None:
    first = run_event("COMPLETE", at(0), inputs=["a"], outputs=["c"])
    assert names(told(first, run_event(state, at(5), run="two", inputs=["d"]))) == (["a", "d"], ["c"])


@pytest.mark.parametrize("state", ["FAIL", "ABORT"])
def test_a_run_that_failed_adds_nothing_and_hides_no_run_that_completed(state: str) -> None:
    first = run_event("COMPLETE", at(0), inputs=["a"], outputs=["c"])
    failed = [
        run_event("START", at(9), run="bad", inputs=["a", "d"], outputs=["c", "e"]),
        run_event(state, at(10), run="bad", inputs=["a", "d"], outputs=["c", "e"]),
    ]
    assert names(told(first, *failed)) == (["a"], ["c"])
    assert names(told(*failed)) == ([], [])
    between = run_event("COMPLETE", at(6), run="two", inputs=["b"], outputs=["c"])  # began before, ended after
    assert names(told(first, *failed, between)) == (["b"], ["c"])
    assert names(told(first, failed[0], between, failed[1])) == (["b"], ["c"])


def test_a_run_that_goes_on_keeps_its_datasets_while_another_completes() -> None:
    stream = run_event("START", at(5), run="stream", inputs=["a", "s"], outputs=["c"])
    night = run_event("COMPLETE", at(2), run="night", inputs=["a"], outputs=["c"])
    assert names(told(stream, night)) == (["a", "s"], ["c"])
    end = run_event("COMPLETE", at(9), run="stream")
    assert names(told(stream, night, end)) == (["a", "s"], ["c"])
    assert names(told(stream, night, run_event("FAIL", at(9), run="stream"))) == (["a"], ["c"])


def test_a_run_that_names_no_dataset_says_nothing() -> None:
    first = run_event("COMPLETE", at(0), inputs=["a"], outputs=["c"])
    empty = [run_event("START", at(5), run="two"), run_event("COMPLETE", at(6), run="two")]
    assert names(told(first, *empty)) == (["a"], ["c"])


def test_an_older_run_that_comes_late_says_nothing_any_more() -> None:
    new = run_event("COMPLETE", at(9), run="two", inputs=["b"], outputs=["c"])
    assert names(told(new, run_event("COMPLETE", at(1), inputs=["a"], outputs=["c"]))) == (["b"], ["c"])


def test_a_run_that_began_later_is_newer_though_it_ended_first() -> None:
    long_start = run_event("START", at(0), run="long", inputs=["old"])
    short = [
        run_event("START", at(5), run="short"),
        run_event("COMPLETE", at(6), run="short", inputs=["new"], outputs=["c"]),
    ]
    end = run_event("COMPLETE", at(20), run="long", inputs=["old"], outputs=["c"])
    assert names(told(long_start, *short, end)) == (["new"], ["c"])


def test_a_late_event_of_the_completed_run_adds_to_it() -> None:
    end = run_event("COMPLETE", at(9), inputs=["a"], outputs=["c"])
    assert names(told(end, run_event("START", at(1), inputs=["b"]))) == (["a", "b"], ["c"])


def test_a_job_event_says_what_the_job_is_now() -> None:
    first = run_event("COMPLETE", at(0), inputs=["a"], outputs=["c"])
    now, later = job_event(at(5), inputs=["b"], outputs=["c"]), job_event(at(6), outputs=["c"])
    assert names(told(first, now)) == (["b"], ["c"])
    assert names(told(first, now, later)) == ([], ["c"])


def test_the_edges_of_a_job_have_a_limit() -> None:
    many = [f"i{n}" for n in range(100)]
    with pytest.raises(BadInput, match="at most 5000 edges"):
        told(
            run_event("START", at(0), inputs=many, outputs=[f"o{n}" for n in range(40)]),
            run_event("RUNNING", at(1), outputs=[f"p{n}" for n in range(40)]),
        )


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # other processes may be busy
@given(st.permutations(range(6)), st.lists(st.integers(0, 5), max_size=4))
def test_order_and_repetition_of_one_run_and_the_one_before_do_not_matter(order: list[int], again: list[int]) -> None:
    """All events known, the newest completed run alone speaks, whatever came first or twice."""
    bodies = [
        run_event("START", at(0), run="one", inputs=["a"], outputs=["z"]),
        run_event("RUNNING", at(1), run="one", inputs=["b"]),
        run_event("COMPLETE", at(2), run="one", outputs=["z"]),
        run_event("START", at(10), run="two", inputs=["c"], outputs=["z"]),
        run_event("RUNNING", at(11), run="two", inputs=["d"]),
        run_event("COMPLETE", at(12), run="two", outputs=["z"]),
    ]
    found = told(*(bodies[place] for place in [*order, *again]), every=bodies)
    assert names(found) == (["c", "d"], ["z"])
