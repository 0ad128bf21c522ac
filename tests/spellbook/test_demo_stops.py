"""When the demo cannot go on, one sentence says in which stage, what was awaited, what was seen, which log to read."""

from __future__ import annotations

import re
from pathlib import Path

import httpx
import pytest
from django.test import Client

from examples.mixpanel_night import play, site
from examples.mixpanel_night.playing import Night
from examples.mixpanel_night.stages import STAGES
from spellbook.processes import services


@pytest.fixture
def night() -> Night:
    return Night(rows=10, port=8123, manual=False)


def test_the_sentence_names_stage_awaited_seen_and_log(night: Night) -> None:
    night.stage = "4 cause"
    with pytest.raises(site.Stuck) as why:
        night.site.wait(
            "the diagnosis", lambda: False, lambda: "INC-1 open; diagnosed: no", log="worker-work.log", seconds=0
        )
    assert play.stopped(night, why.value) == (
        "The night stopped in stage 4 cause; awaited: the diagnosis (for 0 s); seen: INC-1 open; diagnosed: no; "
        f"read {night.data / 'log' / 'worker-work.log'}."
    )


@pytest.mark.django_db
def test_a_page_that_refuses_is_told_in_its_own_sentence_and_not_as_a_page(night: Night) -> None:
    gone = Client(raise_request_exception=False).get("/nothing/here")
    answer = httpx.Response(gone.status_code, content=gone.content, headers={"content-type": "text/html"})
    assert site.refusal(answer) == "There is no page at this address."
    told = Client().post("/api/v1/values", "{}", content_type="application/json")
    answer = httpx.Response(told.status_code, content=told.content, headers={"content-type": told["Content-Type"]})
    assert site.refusal(answer) == "Send a token as 'Authorization: Bearer …'."
    assert site.refusal(httpx.Response(502, text="<html><title>Bad &amp; gone</title></html>")) == "Bad & gone"
    assert site.refusal(httpx.Response(502, text="x" * 10_000)) == "no reason was given"


def test_a_site_that_does_not_answer_and_a_command_that_fails_are_one_line(night: Night) -> None:
    client = httpx.Client(base_url="http://localhost:1")
    with pytest.raises(site.Stuck, match=r"^GET /x was awaited; seen: no answer \(ConnectError\)$"):
        site.asked(client, "GET", "/x")
    assert site.last_line("Traceback\n  more\nCommandError: No.\n\n") == "No."
    why = site.Stuck("manage.py migrate", "CommandError: No.", "")
    assert play.stopped(night, why).endswith("awaited: manage.py migrate; seen: CommandError: No.")


def test_the_logs_that_it_names_are_written_by_somebody() -> None:
    written = {f"{one.name}.log" for one in services([], keys=Path(), run_dir=Path())}
    source = "".join(path.read_text() for path in Path(site.__file__).parent.glob("*.py"))
    named = set(re.findall(r'"((?:web|worker)[\w-]*\.log)"', source))
    assert named
    assert named <= written
    assert len({stage for stage, _ in STAGES}) == len(STAGES)
