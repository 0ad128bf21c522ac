"""A GitHub of one repository for tests: a server on this machine with a bare git repository behind it.

Every request is judged by GitHub's own OpenAPI description (`judge.py`): one that does not fit is answered with 422 and
noted in `violations`; every success of the double is judged too (`faults`). `check()` fails on either.

It differs from GitHub: the Link header names the next page only, there is one repository and one App, permissions are
six words, no pull request is ever merged or reviewed, a comparison names no commits and files, annotations are not
matched with lines, check runs start no events, installation tokens end only when a test takes them away, and rate
limits are those that a test asks for (`troubles`).
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import jwt

from tests.github.judge import Judge
from tests.github.routes import Ask, Routes, Say, no, split, token
from tests.github.shapes import Shapes
from tests.github.world import APP_ID, PUBLIC, Account, World

BAD = no(401, "Bad credentials")


@dataclass
class Trouble:
    """Instead of an answer, `times` times, for requests whose "METHOD /path" holds `on`. After `wait` seconds."""

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b"{}"
    on: str = ""
    times: int = 1
    wait: float = 0.0


@dataclass(frozen=True)
class Seen:
    """A request that came in; `host` is api or storage."""

    host: str
    method: str
    path: str
    headers: dict[str, str]
    body: bytes


class Double:
    """The running double. `api` and `storage` are the addresses of its two hosts."""

    def __init__(self, world: World, judge: Judge, api: str, storage: str) -> None:
        self.world, self.judge, self.api, self.storage = world, judge, api, storage
        self.shapes = Shapes(world, judge)
        self.routes = Routes(world, self.shapes, storage)
        self.troubles: list[Trouble] = []
        self.seen: list[Seen] = []
        self.violations: list[str] = []
        self.faults: list[str] = []
        self.lock = threading.Lock()

    def check(self) -> None:
        """Fail when a request of ours, or an answer of the double, did not fit GitHub's description."""
        assert self.violations == [], self.violations
        assert self.faults == [], self.faults

    def asked(self, text: str) -> list[Seen]:
        """The requests whose "METHOD /path" holds the text."""
        return [seen for seen in self.seen if text in f"{seen.method} {seen.path}"]

    def trouble(self, line: str) -> Trouble | None:
        with self.lock:
            found = next((one for one in self.troubles if one.times > 0 and one.on in line), None)
            if found is not None:
                found.times -= 1
            return found

    def answer(self, method: str, target: str, headers: dict[str, str], body: bytes) -> Say:
        """The answer to a request of the API; never raises for what the client can do wrong."""
        parts = urlsplit(target)
        query = dict(parse_qsl(parts.query, keep_blank_values=True))
        wrong = self.judge.request(method, parts.path, query, body, headers.get("content-type", ""))
        if headers.get("x-github-api-version") != "2022-11-28":
            wrong = wrong or f"{method} {parts.path}: no version of the API"
        if wrong:
            self.violations.append(wrong)
            return no(422, f"Invalid request. {wrong[:500]}")
        said = self._routed(method, parts.path, query, headers, json.loads(body) if body else {})
        if said.raw is None and said.status < 300:
            fault = self.judge.answer(
                method, parts.path, query, body, said.status, json.dumps(_described(said.value)).encode()
            )
            self.faults += [fault] if fault else []
        return said

    def _routed(
        self, method: str, path: str, query: dict[str, str], headers: dict[str, str], body: dict[str, Any]
    ) -> Say:
        scheme, _, credential = headers.get("authorization", "").partition(" ")
        if scheme != "Bearer":
            return no(401, "Requires authentication")
        if path == "/app" or path.startswith("/app/"):
            return self._for_app(path, credential, body)
        who = self._who(credential)
        if who is None:
            return BAD
        if path == "/user":
            known = self.shapes.user(who.login)
            refused = no(403, "Resource not accessible by integration")
            return refused if who.is_app else Say(200, self.judge.filled("public-user", known))
        rest = split(path, self.world)
        ask = Ask(method, rest or "", query, body, headers.get("accept", ""), who)
        return no(404, "Not Found") if rest is None else self.routes.answer(ask)

    def _for_app(self, path: str, credential: str, body: dict[str, Any]) -> Say:
        wrong = _judge_jwt(credential)
        if wrong:
            return no(401, wrong)
        if path == "/app":
            return Say(200, self.shapes.app())
        return token(self.world, path.split("/")[3], body, self.shapes)

    def _who(self, credential: str) -> Account | None:
        account = self.world.tokens.get(credential)
        return account if account is not None and account.until > time.time() else None


def _described(value: Any) -> Any:
    """As the description has it: that knows no deleted fork and no check run without a conclusion, for both of which
    GitHub sends null."""
    if isinstance(value, list):
        return [_described(one) for one in value]
    if not isinstance(value, dict):
        return value
    whole = {name: _described(one) for name, one in value.items()}
    if isinstance(whole.get("head"), dict) and whole["head"].get("repo", "") is None:
        whole["head"]["repo"] = whole["base"]["repo"]
    if "check_suite" in whole and whole["conclusion"] is None:
        whole["conclusion"] = "neutral"
    if whole.get("head_repository", "") is None:
        whole["head_repository"] = whole["repository"]
    return whole


def _judge_jwt(text: str) -> str:
    """What GitHub says to an App's JWT; "" when it takes it."""
    try:
        claims = jwt.decode(text, PUBLIC, algorithms=["RS256"], options={"require": ["exp", "iat", "iss"]})
    except jwt.ImmatureSignatureError:
        return "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued"
    except jwt.ExpiredSignatureError:
        return "'Expiration time' claim ('exp') must be a numeric value representing the future time"
    except jwt.PyJWTError:
        return "A JSON web token could not be decoded"
    if claims["exp"] > time.time() + 600:
        return "'Expiration time' claim ('exp') is too far in the future"
    return "" if str(claims["iss"]) == str(APP_ID) else "Integration not found"


@contextmanager
def running(folder: Path, judge: Judge) -> Iterator[Double]:
    """A double that lives as long as the block; the API and the storage of artifacts are two hosts."""
    api = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    storage = ThreadingHTTPServer(("127.0.0.2", 0), Handler)
    addresses = [f"http://{server.server_address[0]!s}:{server.server_port}" for server in (api, storage)]
    double = Double(World(folder), judge, *addresses)
    threads = []
    for server, name in ((api, "api"), (storage, "storage")):
        server.daemon_threads = True
        server.double, server.host_name = double, name  # type: ignore[attr-defined]
        threads.append(threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}))
        threads[-1].start()
    try:
        yield double
    finally:
        for server, thread in zip((api, storage), threads, strict=True):
            server.shutdown()
            thread.join()
            server.server_close()


class Handler(BaseHTTPRequestHandler):
    """Both hosts; which one, the server says."""

    def _any(self) -> None:
        double: Double = self.server.double  # type: ignore[attr-defined]
        host: str = self.server.host_name  # type: ignore[attr-defined]
        headers = {name.lower(): value for name, value in self.headers.items()}
        body = self.rfile.read(int(headers.get("content-length", 0)))
        double.seen.append(Seen(host, self.command, self.path, headers, body))
        trouble = double.trouble(f"{self.command} {self.path}")
        if trouble is not None:
            time.sleep(trouble.wait)
            if trouble.status:
                self._send(Say(trouble.status, raw=trouble.body, headers=trouble.headers))
            return  # without a status the connection is closed with nothing said
        self._send(double.answer(self.command, self.path, headers, body) if host == "api" else self._kept(double))

    def _kept(self, double: Double) -> Say:
        """What the storage gives out. It refuses a request with somebody's token, as Azure does."""
        number = int(urlsplit(self.path).path.rpartition("/")[2])
        found = [kept for run in double.world.runs for kept in run.artifacts if kept.id == number]
        if "authorization" in self.headers:
            return Say(400, raw=b"one way to authorize only")
        blob = found[0].blob if found else None
        return Say(404, raw=b"") if blob is None else Say(200, raw=blob, headers={"Content-Type": "application/zip"})

    def _send(self, say: Say) -> None:
        data = say.raw if say.raw is not None else json.dumps(say.value).encode()
        try:
            self.send_response(say.status)
            for name, value in {"Content-Type": "application/json; charset=utf-8", **say.headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)
        except (BrokenPipeError, ConnectionResetError):
            return  # the client has gone

    do_GET = do_POST = do_PATCH = _any

    def log_message(self, format: str, *args: Any) -> None:
        return
