"""What GitHub sends: the signature over the raw body, and which commits or pull requests to look at again.

Pure. An event says only *where* to look; the state itself is read from GitHub afterwards, so that a replay or a
forgery of what is not signed changes nothing. Signature: HMAC SHA-256 of the body, as lower-case hex behind "sha256="
(https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries).
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import orjson

from foundation.errors import BadInput, NotAllowed

LARGEST = 25 * 1024 * 1024  # bytes; GitHub sends no more
MOST_NUMBERS = 100  # pull requests named by one event

_SIGNATURE = re.compile(r"sha256=([0-9a-f]{64})")
_SHA = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_FULL_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}/[A-Za-z0-9._-]{1,100}")
_NAME = re.compile(r"[a-z0-9_]{1,60}")
_REFS = "refs/heads/"

_ACTIONS: Mapping[str, frozenset[str]] = {
    "pull_request": frozenset(
        ["opened", "reopened", "synchronize", "edited", "ready_for_review", "converted_to_draft", "closed"]
    ),
    "workflow_run": frozenset({"completed"}),
    # Our own check runs come back as created and completed: only what a person asks for counts.
    "check_run": frozenset({"rerequested", "requested_action"}),
    "check_suite": frozenset({"requested", "rerequested"}),
    "installation": frozenset({"created", "deleted", "suspend", "unsuspend", "new_permissions_accepted"}),
    "push": frozenset({""}),
    "ping": frozenset({""}),
}


@dataclass(frozen=True, slots=True)
class Event:
    """What an event asks us to look at.

    `repository` is its full name, "" where the event names none (installation, ping of an organisation).
    `relevant` is False for an event or action that changes nothing for us; then all else but `repository` is empty.
    `numbers` are pull requests, `head_sha` the commit that something happened to. `branch` is that of a push, whose
    open pull requests have a new base. GitHub names no pull request of a fork in check and workflow events: ask
    `GitHub.pull_requests_of(head_sha)`.
    """

    name: str
    action: str
    repository: str
    relevant: bool
    numbers: tuple[int, ...] = ()
    head_sha: str = ""
    branch: str = ""


def verify(secret: str, body: bytes, signature: str | None) -> None:
    """Return when `signature` (the header X-Hub-Signature-256) is that of the raw body; NotAllowed otherwise.

    BadInput when there is no secret to compare with, which is never taken for a match.
    """
    if not secret:
        raise BadInput("The webhook's secret is empty.")
    match = _SIGNATURE.fullmatch(signature or "")
    if match is None:
        raise NotAllowed("The webhook carries no signature X-Hub-Signature-256 of the form sha256=<64 hex digits>.")
    expected = hmac.new(secret.encode(), body, sha256).hexdigest()
    if not hmac.compare_digest(expected, match[1]):
        raise NotAllowed("The webhook's signature does not fit its body.")


def parse(name: str, body: bytes) -> Event:
    """The event called `name` (the header X-GitHub-Event). BadInput when the body is not what GitHub sends."""
    if not _NAME.fullmatch(name):
        raise BadInput("The webhook carries no event's name in X-GitHub-Event.")
    data = _loaded(body)
    action = data.get("action", "")
    if not isinstance(action, str) or len(action) > 60 or not action.isprintable():
        raise BadInput("The webhook's action is not a short text.")
    repository = _repository(data)
    if action not in _ACTIONS.get(name, ()):
        return Event(name, action, repository, relevant=False)
    if not repository and name not in ("installation", "ping"):
        raise BadInput("The webhook names no repository.")
    return _event(name, action, repository, data)


def _event(name: str, action: str, repository: str, data: dict[str, Any]) -> Event:
    numbers: tuple[int, ...] = ()
    head_sha = branch = ""
    if name == "pull_request":
        request = _part(data, "pull_request")
        numbers = (_id(request.get("number"), "pull request's number"),)
        head_sha = _sha(_part(request, "head").get("sha"))
    elif name in ("workflow_run", "check_run", "check_suite"):
        part = _part(data, name)
        numbers = _numbers(part.get("pull_requests"), _part(data, "repository").get("id"))
        head_sha = _sha(part.get("head_sha"))
    elif name == "push":
        branch, head_sha = _pushed(data)
    relevant = name != "push" or bool(branch)
    return Event(name, action, repository, relevant, numbers, head_sha, branch)


def _loaded(body: bytes) -> dict[str, Any]:
    if len(body) > LARGEST:
        raise BadInput("The webhook's body is larger than 25 MB.")
    try:
        data = orjson.loads(body)  # refuses NaN, lone surrogates and nesting beyond 1,024
    except orjson.JSONDecodeError:
        raise BadInput("The webhook's body is not JSON; its content type has to be application/json.") from None
    if not isinstance(data, dict):
        raise BadInput("The webhook's body is not a JSON object.")
    return data


def _part(data: dict[str, Any], key: str) -> dict[str, Any]:
    part = data.get(key)
    if not isinstance(part, dict):
        raise BadInput(f"The webhook's {key} is missing.")
    return part


def _repository(data: dict[str, Any]) -> str:
    if data.get("repository") is None:
        return ""
    name = _part(data, "repository").get("full_name")
    if not isinstance(name, str) or not _FULL_NAME.fullmatch(name):
        raise BadInput("The webhook's repository has no full name.")
    return name


def _id(value: object, what: str) -> int:
    if type(value) is not int or not 0 < value < 2**63:
        raise BadInput(f"The webhook's {what} is not a number.")
    return value


def _sha(value: object) -> str:
    if not isinstance(value, str) or not _SHA.fullmatch(value):
        raise BadInput("The webhook's commit is not a commit id.")
    return value


def _numbers(value: object, repository_id: object) -> tuple[int, ...]:
    """The pull requests into this repository: the list also names those that lead from it into another."""
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise BadInput("The webhook's pull requests are not a list.")
    here = [one for one in value[:MOST_NUMBERS] if _base_id(one) in (None, repository_id)]
    return tuple(dict.fromkeys(_id(one.get("number"), "pull request's number") for one in here))


def _base_id(request: dict[str, Any]) -> object:
    base = request.get("base")
    repository = base.get("repo") if isinstance(base, dict) else None
    return repository.get("id") if isinstance(repository, dict) else None


def _pushed(data: dict[str, Any]) -> tuple[str, str]:
    """Branch and new tip; both "" for a tag, and for a branch that was deleted."""
    ref = data.get("ref")
    if not isinstance(ref, str) or not ref.isprintable() or len(ref) > 1000:
        raise BadInput("The webhook's ref is not a text.")
    after = _sha(data.get("after"))
    if not ref.startswith(_REFS) or not after.strip("0"):
        return "", ""
    return ref.removeprefix(_REFS), after
