"""Requests to GitHub's REST API: one credential, one host, answers of limited size, reads tried again, writes never."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self
from urllib.parse import quote

import httpx
import orjson

from catalog.code_hosts.github.answers import clock_ahead, loaded, odd, refusal, unreachable
from catalog.code_hosts.github.auth import Credential
from catalog.code_hosts.github.connection import Settings
from catalog.code_hosts.github.fields import Fields, objects
from foundation import http
from foundation.errors import BadInput, NotAllowed, NotFound, Unavailable

JSON = "application/vnd.github+json"
VERSION = "2022-11-28"  # of the REST API
SECONDS = 10.0  # for each of connect, write and read
WHOLE_SECONDS = 60.0  # for one whole answer
LARGEST = 100 * 1024 * 1024  # bytes of one answer; GitHub gives out no larger file
PAGE = 100
PAUSES = (0.3, 1.5)  # seconds before a read is tried again
PASSING = frozenset({500, 502, 503, 504})
SKEW = 30  # seconds that a clock may be wrong before we mention it

Params = Mapping[str, str | int]


@dataclass(frozen=True, slots=True)
class Answer:
    """A success: its body is whole."""

    headers: httpx.Headers
    body: bytes


class Api:
    """One client for one short use, as a context manager; `path` of a method begins behind the API's address."""

    def __init__(self, settings: Settings, credential: Credential) -> None:
        self.settings = settings
        self.credential = credential
        self._http = http.client(timeout=SECONDS)
        self._bare = http.client(timeout=SECONDS, follow=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._http.close()
        self._bare.close()

    def repo(self, *parts: str | int) -> str:
        """A path under the repository; parts are quoted whole, a slash in a name included."""
        names = [self.settings.owner, self.settings.repository, *parts]
        return "/repos/" + "/".join(quote(str(name), safe="") for name in names)

    def read(self, path: str, what: str, params: Params | None = None, accept: str = JSON) -> Answer:
        """GET, tried again when GitHub stumbles. `what` names the thing in words for errors."""
        return _patiently(lambda: self._authorized("GET", path, what, params=params, accept=accept))

    def get(self, path: str, what: str, params: Params | None = None) -> Fields:
        """One object."""
        return Fields(loaded(self.read(path, what, params).body, what), what)

    def pages(self, path: str, what: str, most: int, params: Params | None = None, key: str = "") -> Iterator[Fields]:
        """The objects of all pages, about `most` at the most; they stand under `key`, or are the answer itself."""
        for page in range(1, -(-most // PAGE) + 1):
            answer = self.read(path, what, {**(params or {}), "per_page": PAGE, "page": page})
            data = loaded(answer.body, what)
            yield from Fields(data, what).parts(key) if key else objects(data, what)
            # A page may be short and not the last, so the header counts.
            if 'rel="next"' not in answer.headers.get("link", ""):
                return

    def write(self, method: str, path: str, what: str, body: Mapping[str, Any]) -> Fields:
        """POST or PATCH, sent once."""
        answer = self._authorized(method, path, what, json=body, writes=True)
        return Fields(loaded(answer.body, what), what)

    def as_app(self, path: str, what: str) -> Fields:
        """GET as the App itself, which an installation may not."""
        answer = _patiently(lambda: self._send("GET", path, what, self.credential.app_token()))
        return Fields(loaded(answer.body, what), what)

    def redirected(self, path: str, what: str) -> httpx.URL:
        """The address of another host that an answer leads to. Nobody has gone there yet."""
        answer = _patiently(lambda: self._authorized("GET", path, what, redirect=True))
        try:
            address = httpx.URL(answer.headers.get("location", ""))
        except httpx.InvalidURL:
            raise odd(what, "leads nowhere") from None
        if address.scheme not in ("https", "http") or not address.host:
            raise odd(what, "leads nowhere")
        return address

    def _authorized(self, method: str, path: str, what: str, **more: Any) -> Answer:
        """A 401 means that nothing was done, so that an installation token which was revoked is bought anew, once."""
        token = self.credential.token(self._buy)
        try:
            return self._send(method, path, what, token, **more)
        except _NotAccepted:
            if not self.credential.forget(token):
                raise
        return self._send(method, path, what, self.credential.token(self._buy), **more)

    def _buy(self, app_token: str) -> tuple[str, datetime]:
        what = f"an installation token of the App {self.settings.app_id}"
        path = f"/app/installations/{self.settings.installation_id}/access_tokens"
        body = {"repositories": [self.settings.repository]}  # the token reaches no other repository
        try:
            answer = Fields(loaded(self._send("POST", path, what, app_token, json=body).body, what), what)
        except NotFound:
            one = self.settings
            raise NotAllowed(
                f"The GitHub App {one.app_id} is not installed as {one.installation_id}, or no longer."
            ) from None
        until = answer.time("expires_at")
        if until is None:
            raise odd(what, "lacks expires_at")
        return answer.text("token"), until

    def _send(
        self,
        method: str,
        path: str,
        what: str,
        token: str,
        *,
        params: Params | None = None,
        accept: str = JSON,
        json: Mapping[str, Any] | None = None,
        writes: bool = False,
        redirect: bool = False,
    ) -> Answer:
        headers = {"Authorization": f"Bearer {token}", "Accept": accept, "X-GitHub-Api-Version": VERSION}
        if json is not None:
            headers["Content-Type"] = "application/json"
        client = self._bare if redirect else self._http
        try:
            address = self.settings.api + path
            request = client.build_request(method, address, headers=headers, params=params, content=_content(json))
            # A moved repository answers a write with 307, which repeats nothing; 301 would turn it into a read.
            with opened(client, request, follow=not writes and not redirect) as response:
                if writes and response.status_code in (307, 308) and response.next_request is not None:
                    with opened(client, response.next_request, follow=False) as moved:
                        return _answer(moved, what, writes=True, redirect=False)
                return _answer(response, what, writes=writes, redirect=redirect)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            kind = _Passing if isinstance(error, httpx.TransportError) else Unavailable
            raise kind(str(unreachable(error, what, wrote=writes))) from None


class _Passing(Unavailable):
    """It may succeed when it is tried again, which is done for reads."""


class _NotAccepted(NotAllowed):
    """401: the token is not accepted."""


@contextmanager
def opened(client: httpx.Client, request: httpx.Request, *, follow: bool = True) -> Iterator[httpx.Response]:
    """The answer with its body unread; closed at the end of the block."""
    response = client.send(request, stream=True, follow_redirects=follow)
    try:
        yield response
    finally:
        response.close()


def whole(response: httpx.Response, largest: int, what: str, seconds: float = WHOLE_SECONDS) -> Iterator[bytes]:
    """The body piece by piece, unpacked; BadInput when it is larger, Unavailable when it takes longer."""
    end = time.monotonic() + seconds
    size = 0
    for piece in response.iter_bytes():
        size += len(piece)
        if size > largest:
            raise BadInput(f"GitHub's answer on {what} is larger than {largest / 2**20:,.0f} MB.")
        if time.monotonic() > end:
            raise Unavailable(f"GitHub takes longer than {seconds:.0f} s for {what}.")
        yield piece


def _content(json: Mapping[str, Any] | None) -> bytes | None:
    if json is None:
        return None
    try:
        return orjson.dumps(json)
    except TypeError:  # half of a surrogate pair
        raise BadInput("What is to be sent to GitHub holds text that is not Unicode.") from None


def _patiently(call: Callable[[], Answer]) -> Answer:
    for pause in PAUSES:
        try:
            return call()
        except _Passing:
            time.sleep(pause)
    return call()


def _answer(response: httpx.Response, what: str, *, writes: bool, redirect: bool) -> Answer:
    body = b"".join(whole(response, LARGEST, what))
    status = response.status_code
    if response.is_redirect if redirect else response.is_success:
        return Answer(response.headers, body)
    if not response.is_error:
        raise odd(what, f"is not what was asked for ({status}); the repository may have been renamed")
    error = refusal(status, response.headers, body, what)
    if status == 401:
        ahead = clock_ahead(response.headers)
        clock = f" This machine's clock differs from GitHub's by {abs(ahead):.0f} s." if abs(ahead) > SKEW else ""
        raise _NotAccepted(f"{error}{clock}")
    if status in PASSING:
        unknown = " It is not known whether it was done." if writes else ""
        raise _Passing(f"{error}{unknown}")
    raise error
