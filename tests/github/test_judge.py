"""The judge itself: what GitHub's description refuses is refused, noted, and answered as GitHub does."""

from __future__ import annotations

import json

import httpx
import pytest

from tests.github.double import Double
from tests.github.judge import FILE, Judge

REPO = "/repos/acme/shop.models"


@pytest.mark.parametrize(
    ("method", "path", "query", "body", "words"),
    [
        ("POST", f"{REPO}/check-runs", {}, {"name": "x", "head_sha": "a", "conclusion": "bad"}, "'bad' is not one of"),
        ("POST", f"{REPO}/issues/1/comments", {}, {"text": "x"}, "'body' is a required property"),
        ("POST", f"{REPO}/issues/1/comments", {}, {"body": "x", "bodi": "y"}, "unknown field bodi"),
        ("GET", f"{REPO}/pulls", {"state": "opened"}, None, "'opened' is not one of"),
        ("GET", f"{REPO}/pulls", {"stat": "open"}, None, "unknown parameter stat"),
        ("GET", f"{REPO}/pulls/one", {}, None, "pull_number"),
        ("DELETE", REPO, {}, None, "Operation delete not found"),
        ("GET", f"{REPO}/secrets", {}, None, "Path not found"),
    ],
)
def test_a_request_that_does_not_fit_is_named(
    judge: Judge, method: str, path: str, query: dict[str, str], body: object, words: str
) -> None:
    data = json.dumps(body).encode() if body is not None else b""
    assert words in judge.request(method, path, query, data, "application/json" if data else "")


def test_the_double_answers_422_and_remembers(github: Double) -> None:
    headers = {"X-GitHub-Api-Version": "2022-11-28"}
    path = f"{github.api}{REPO}/issues/1/comments"
    answer = httpx.post(path, json={"text": "x"}, headers=headers, trust_env=False)
    assert answer.status_code == 422
    assert "'body' is a required property" in answer.json()["message"]
    with pytest.raises(AssertionError, match="is a required property"):
        github.check()
    github.violations.clear()
    assert httpx.get(f"{github.api}{REPO}", trust_env=False).status_code == 422
    with pytest.raises(AssertionError, match="no version of the API"):
        github.check()
    github.violations.clear()
    assert httpx.get(f"{github.api}{REPO}", headers=headers, trust_env=False).status_code == 401


def test_an_answer_that_does_not_fit_is_named(judge: Judge) -> None:
    said = judge.answer("GET", "/user", {}, b"", 200, b'{"login": 1}')
    assert said.startswith("answer to GET /user")
    assert judge.answer("GET", "/user", {}, b"", 200, json.dumps(judge.filled("public-user", {})).encode()) == ""


def test_the_description_holds_only_what_is_used_and_stays_small(judge: Judge) -> None:
    operations = [method for path in judge.description["paths"].values() for method in path if method != "parameters"]
    assert len(operations) == 19
    assert FILE.stat().st_size < 600_000
