"""Facts over HTTP: where they may come from, who hears the token, and what each refusal says."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from foundation.errors import BadInput, NotAllowed, SpellbookError, Unavailable
from spellbook import facts_url
from spellbook.facts_url import fetch, is_url

Answer = Callable[[BaseHTTPRequestHandler], None]


class Site:
    """A real server on this machine; `answers` by path, and what it was asked."""

    def __init__(self) -> None:
        self.answers: dict[str, Answer] = {}
        self.heard: list[tuple[str, str | None]] = []
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site.heard.append((self.path, self.headers["Authorization"]))
                site.answers[self.path.partition("?")[0]](self)

            def log_message(self, format: str, *args: object) -> None:
                """Quiet."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}"


def said(code: int, body: bytes = b"", **headers: str) -> Answer:
    def answer(request: BaseHTTPRequestHandler) -> None:
        request.send_response(code)
        for name, value in headers.items():
            request.send_header(name, value)
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)

    return answer


@pytest.fixture
def site() -> Iterator[Site]:
    made = Site()
    threading.Thread(target=made.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    yield made
    made.server.shutdown()
    made.server.server_close()


def refused(address: str, token: str = "") -> SpellbookError:
    with pytest.raises(SpellbookError) as refusal:
        fetch(address, token)
    words = str(refusal.value)
    assert words.endswith(".")
    assert "\n" not in words
    assert "sbk_secret" not in words
    return refusal.value


def test_an_address_is_told_from_a_file() -> None:
    assert is_url("https://a.example.com/x")
    assert not is_url("facts.json")
    assert not is_url("c:/facts.json")


def test_the_token_goes_with_the_request(site: Site) -> None:
    site.answers["/facts"] = said(200, b"{}")
    assert fetch(f"{site.address}/facts?project=shop", " sbk_secret\n") == b"{}"
    assert fetch(f"{site.address}/facts", "") == b"{}"
    assert site.heard == [("/facts?project=shop", "Bearer sbk_secret"), ("/facts", None)]


def test_no_proxy_hears_the_token_in_plain_text(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    site.answers["/facts"] = said(200, b"{}")
    assert fetch(f"{site.address}/facts", "sbk_secret") == b"{}"


@pytest.mark.parametrize(
    ("address", "why"),
    [
        (
            "http://facts.example.com/x?key=sbk_secret",
            r"asked for over https .* not from http://facts.example.com/x\.$",
        ),
        ("ftp://facts.example.com", "asked for over https"),
        ("file:///etc/passwd", "asked for over https"),
        ("https://", "asked for over https"),
        (
            "https://me:sbk_secret@facts.example.com",
            "holds a user or password; put the token into SPELLBOOK_",
        ),
        ("https://facts.example.com:port/", "The address of the facts cannot be read"),
        ("https://a\x00b", "cannot be read"),
    ],
)
def test_an_address_that_is_not_safe_is_not_asked(address: str, why: str) -> None:
    error = refused(address)
    assert isinstance(error, BadInput)
    assert re.search(why, str(error))


def test_a_token_that_is_none_is_not_sent(site: Site) -> None:
    assert isinstance(refused(f"{site.address}/facts", "sbk_secret\nHost: x"), BadInput)
    assert isinstance(refused(f"{site.address}/facts", "sbk_secretß"), BadInput)
    assert site.heard == []


@pytest.mark.parametrize(
    ("code", "kind"), [(401, NotAllowed), (403, NotAllowed), (404, Unavailable), (500, Unavailable)]
)
def test_what_the_site_refuses_is_said(site: Site, code: int, kind: type[SpellbookError]) -> None:
    site.answers["/facts"] = said(code, b"sbk_secret")
    error = refused(f"{site.address}/facts?token=sbk_secret", "sbk_secret")
    assert isinstance(error, kind)
    assert str(code) in str(error) or "does not accept the token of SPELLBOOK_FACTS_TOKEN" in str(error)
    if kind is NotAllowed:
        assert "asks for a token" in str(refused(f"{site.address}/facts"))


def test_a_redirect_is_followed_on_the_same_host_alone(site: Site) -> None:
    site.answers["/here"] = said(307, Location="/facts")
    site.answers["/facts"] = said(200, b"{}")
    assert fetch(f"{site.address}/here", "sbk_secret") == b"{}"
    site.answers["/away"] = said(302, Location=f"http://localhost:{site.server.server_port}/facts")
    assert isinstance(refused(f"{site.address}/away", "sbk_secret"), NotAllowed)
    site.answers["/round"] = said(302, Location="/round")
    assert "redirects more than 3 times" in str(refused(f"{site.address}/round"))
    assert [path for path, _ in site.heard].count("/facts") == 1


def test_too_much_is_refused_while_it_comes(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(facts_url, "LARGEST", 2**20)
    site.answers["/facts"] = said(200, b" " * (2**20 + 1))
    assert "sends more than 1 MB" in str(refused(f"{site.address}/facts"))


def test_a_site_that_does_not_answer_or_drips_is_left(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(facts_url, "SECONDS", 0.4)
    ended = threading.Event()

    def silent(request: BaseHTTPRequestHandler) -> None:
        ended.wait(3)

    def drips(request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.end_headers()
        for _ in range(100):
            request.wfile.write(b" ")
            request.wfile.flush()
            if ended.wait(0.1):
                break

    site.answers |= {"/silent": silent, "/drips": drips}
    for path in ("/silent", "/drips"):
        assert "did not answer within" in str(refused(site.address + path))
    ended.set()


def test_a_host_that_is_not_there_is_said() -> None:
    assert "cannot be reached" in str(refused("http://127.0.0.1:9/facts"))
