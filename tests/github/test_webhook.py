"""Webhooks: the signature over the raw body, and where to look after an event."""

from __future__ import annotations

import hmac
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.code_hosts.github.webhook import LARGEST, Event, parse, verify
from foundation.errors import BadInput, NotAllowed

SECRET, BODY = "It's a Secret to Everybody", b"Hello, World!"
SIGNATURE = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
SHA, ZERO = "a" * 40, "0" * 40
REPOSITORY = {"id": 99, "full_name": "acme/shop.models"}


def test_githubs_own_example_is_accepted() -> None:
    """https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries#testing-the-webhook-payload"""
    verify(SECRET, BODY, SIGNATURE)


@pytest.mark.parametrize(
    "signature",
    [
        None, "", SIGNATURE[7:], SIGNATURE[:-1], SIGNATURE + "0", SIGNATURE.upper(), f" {SIGNATURE}", SIGNATURE + "\n",
        "sha256=", "sha256=" + "0" * 64, "sha256=" + "é" * 64, "sha256=" + "z" * 64,
        "sha1=" + hmac.new(SECRET.encode(), BODY, "sha1").hexdigest(),
        "sha512=" + hmac.new(SECRET.encode(), BODY, "sha512").hexdigest(),
    ],
)  # fmt: skip
def test_any_other_signature_is_refused(signature: str | None) -> None:
    with pytest.raises(NotAllowed) as error:
        verify(SECRET, BODY, signature)
    assert SECRET not in str(error.value)
    assert SIGNATURE[7:] not in str(error.value)


def test_another_body_or_secret_is_refused_and_an_empty_secret_never_fits() -> None:
    with pytest.raises(NotAllowed):
        verify(SECRET, BODY + b" ", SIGNATURE)
    with pytest.raises(NotAllowed):
        verify("another", BODY, SIGNATURE)
    with pytest.raises(BadInput):
        verify("", BODY, "sha256=" + hmac.new(b"", BODY, "sha256").hexdigest())


def event(name: str, **data: Any) -> Event:
    return parse(name, json.dumps({"repository": REPOSITORY, **data}).encode())


PULL = {"number": 7, "head": {"sha": SHA, "ref": "x", "repo": None}, "base": {"sha": ZERO}}


@pytest.mark.parametrize("action", ["opened", "reopened", "synchronize", "edited", "ready_for_review", "closed"])
def test_a_pull_request_is_looked_at_even_of_a_deleted_fork(action: str) -> None:
    found = event("pull_request", action=action, pull_request=PULL)
    assert found == Event("pull_request", action, "acme/shop.models", True, (7,), SHA)


@pytest.mark.parametrize(
    ("name", "action"),
    [
        ("pull_request", "labeled"), ("pull_request", ""), ("issues", "opened"), ("projects_v2_item", "edited"),
        ("workflow_run", "requested"),
        ("check_run", "completed"), ("check_run", "created"), ("check_suite", "completed"), ("star", ""),
    ],
)  # fmt: skip
def test_what_changes_nothing_for_us_is_not_looked_at(name: str, action: str) -> None:
    found = event(name, action=action, pull_request="not even read")
    assert found == Event(name, action, "acme/shop.models", relevant=False)


@pytest.mark.parametrize(
    ("name", "action"), [("workflow_run", "completed"), ("check_run", "rerequested"), ("check_suite", "rerequested")]
)
def test_a_run_leads_to_its_commit_and_to_pull_requests_into_this_repository(name: str, action: str) -> None:
    here, elsewhere = {"base": {"repo": {"id": 99}}, "number": 7}, {"base": {"repo": {"id": 5}}, "number": 8}
    found = event(name, action=action, **{name: {"head_sha": SHA, "pull_requests": [here, elsewhere, {"number": 9}]}})
    assert (found.relevant, found.numbers, found.head_sha) == (True, (7, 9), SHA)
    of_a_fork = event(name, action=action, **{name: {"head_sha": SHA, "pull_requests": []}})
    assert (of_a_fork.numbers, of_a_fork.head_sha) == ((), SHA)
    assert event(name, action=action, **{name: {"head_sha": SHA}}).numbers == ()


@pytest.mark.parametrize(
    ("ref", "after", "branch"),
    [
        ("refs/heads/main", SHA, "main"), ("refs/heads/release/1.x-ü", SHA, "release/1.x-ü"),
        ("refs/heads/main", ZERO, ""), ("refs/tags/v1", SHA, ""),
    ],
)  # fmt: skip
def test_a_push_names_its_branch_unless_it_is_a_tag_or_a_deletion(ref: str, after: str, branch: str) -> None:
    found = event("push", ref=ref, after=after)
    assert (found.relevant, found.branch, found.head_sha) == (bool(branch), branch, SHA if branch else "")


def test_a_ping_and_an_installation_need_no_repository() -> None:
    assert parse("ping", b'{"zen": "x"}') == Event("ping", "", "", True)
    body = json.dumps({"action": "deleted", "installation": {"id": 815}}).encode()
    assert parse("installation", body) == Event("installation", "deleted", "", True)


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("", b"{}"), ("Push", b"{}"), ("a" * 61, b"{}"), ("push\n", b"{}"),
        ("push", b""), ("push", b"payload=%7B%7D"), ("push", b"[]"), ("push", b"null"), ("push", b"1"),
        ("push", b"[" * 100_000), ("push", b'{"a":' * 100_000), ("push", b"\xff\xfe{}"), ("push", b'{"a": NaN}'),
        ("push", b'{"a": "\\ud800"}'), ("push", b" " * (LARGEST + 1)), ("push", b"{}"),
        ("push", b'{"repository": []}'), ("push", b'{"repository": {"full_name": "../x"}}'),
        ("push", b'{"repository": {"full_name": "a/b/c"}}'), ("push", b'{"repository": {"full_name": 1}}'),
        ("push", b'{"repository": {"full_name": "a/b"}}'), ("push", b'{"action": {}}'),
        ("push", b'{"action": "a\\u0000"}'),
    ],
)  # fmt: skip
def test_a_hostile_body_is_refused_in_words(name: str, body: bytes) -> None:
    with pytest.raises(BadInput) as error:
        parse(name, body)
    assert str(error.value).endswith(".")


@pytest.mark.parametrize("number", [0, -1, 2**63, 10**30, 1.0, True, "7", None, [], 1e400])
def test_a_number_that_is_none_is_refused(number: Any) -> None:
    with pytest.raises(BadInput):
        event("pull_request", action="opened", pull_request={**PULL, "number": number})
    with pytest.raises(BadInput):
        event("workflow_run", action="completed", workflow_run={"head_sha": SHA, "pull_requests": [{"number": number}]})


@pytest.mark.parametrize("sha", ["main", "", None, "A" * 40, "a" * 39, "a" * 41, 7, ["a" * 40]])
def test_a_commit_that_is_none_is_refused(sha: Any) -> None:
    with pytest.raises(BadInput):
        event("pull_request", action="opened", pull_request={**PULL, "head": {"sha": sha}})
    with pytest.raises(BadInput):
        event("check_suite", action="requested", check_suite={"head_sha": sha})
    with pytest.raises(BadInput):
        event("push", ref="refs/heads/main", after=sha)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.just(SHA),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
NAMES = ["pull_request", "workflow_run", "check_run", "check_suite", "push", "installation", "ping", "star"]
FIELDS = ["action", "repository", "number", "head", "sha", "pull_requests", "base", "repo", "id", "head_sha", "ref"]
KEYS = st.sampled_from([*NAMES, *FIELDS, "after", "full_name"])


@given(
    name=st.sampled_from(NAMES),
    action=st.sampled_from(["opened", "completed", "rerequested", "deleted", None]),
    data=st.dictionaries(KEYS, st.dictionaries(KEYS, VALUES) | VALUES, max_size=6),
)
def test_any_json_is_an_event_or_refused(name: str, action: str | None, data: dict[str, Any]) -> None:
    body = {"repository": REPOSITORY, **data} | ({"action": action} if action else {})
    try:
        found = parse(name, json.dumps(body).encode())
    except BadInput:
        return
    assert found.name == name
    assert all(type(number) is int and number > 0 for number in found.numbers)
