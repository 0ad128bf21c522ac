from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from ipaddress import ip_address
from typing import Any

import pytest
from pytest_django import Settings

from foundation import http
from foundation.errors import NotAllowed, Unavailable


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        target = {"/away": "http://elsewhere.example.org/", "/here": "/", "/loop": "/loop"}.get(self.path)
        self.send_response(302 if target else 200)
        if target:
            self.send_header("Location", target)
        self.end_headers()
        self.wfile.write((self.headers["Host"] or "").encode())

    def log_message(self, format: str, *args: Any) -> None:
        return


@pytest.fixture
def server() -> Iterator[int]:
    with HTTPServer(("127.0.0.1", 0), Handler) as site:
        thread = threading.Thread(target=site.serve_forever)
        thread.start()
        yield site.server_port
        site.shutdown()
        thread.join()


def resolves(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> list[str]:
    asked: list[str] = []

    def answer(host: str, port: int, **more: Any) -> list[Any]:
        asked.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in addresses]

    monkeypatch.setattr("foundation.http.socket.getaddrinfo", answer)
    return asked


def test_a_listed_host_is_reached_at_the_address_resolved_once(
    server: int, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.SPELLBOOK_OUTBOUND_ALLOW = ["hooks.example.org", "127.0.0.0/8"]
    asked: list[str] = []

    def resolve(host: str, port: int) -> list[http.Address]:
        asked.append(host)
        return [ip_address("127.0.0.1")]

    monkeypatch.setattr("foundation.http._resolve", resolve)
    with http.client() as client:
        answer = client.get(f"http://hooks.example.org:{server}/")
    assert answer.text == f"hooks.example.org:{server}"
    assert asked == ["hooks.example.org"]


def test_an_address_on_the_list_is_reached_and_a_redirect_on_the_same_host_followed(
    server: int, settings: Settings
) -> None:
    settings.SPELLBOOK_OUTBOUND_ALLOW = ["127.0.0.1"]
    with http.client() as client:
        assert client.get(f"http://127.0.0.1:{server}/here").status_code == 200


def test_a_redirect_is_an_answer_where_none_is_to_be_followed(server: int, settings: Settings) -> None:
    settings.SPELLBOOK_OUTBOUND_ALLOW = ["127.0.0.1"]
    with http.client(follow=False) as client:
        answer = client.get(f"http://127.0.0.1:{server}/away")
    assert (answer.status_code, answer.headers["location"]) == (302, "http://elsewhere.example.org/")


def test_a_redirect_to_another_host_is_not_followed(server: int, settings: Settings) -> None:
    settings.SPELLBOOK_OUTBOUND_ALLOW = ["127.0.0.1", "elsewhere.example.org"]
    with http.client() as client, pytest.raises(NotAllowed, match="redirects to another host"):
        client.get(f"http://127.0.0.1:{server}/away")


def test_nothing_is_reached_with_an_empty_list(settings: Settings) -> None:
    settings.SPELLBOOK_OUTBOUND_ALLOW = []
    for url in ("https://hooks.example.org", "http://93.184.216.34/", "http://127.0.0.1/", "http://[::1]/"):
        with http.client() as client, pytest.raises(NotAllowed):
            client.get(url)


@pytest.mark.parametrize(
    "address",
    [
        "10.0.0.1",
        "192.168.1.1",
        "127.0.0.1",
        "100.64.0.1",
        "::1",
        "fd00::1",
        "::ffff:10.0.0.1",
        "64:ff9b::a00:1",
        "2002:a00:1::",
    ],
)
def test_a_listed_name_that_leads_inside_is_refused(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    settings.SPELLBOOK_OUTBOUND_ALLOW = ["hooks.example.org"]
    resolves(monkeypatch, "93.184.216.34", address)
    with pytest.raises(NotAllowed, match="not on SPELLBOOK_OUTBOUND_ALLOW"):
        http.pin("hooks.example.org", 443)


@pytest.mark.parametrize("address", ["169.254.169.254", "fe80::1", "::ffff:169.254.169.254", "::", "224.0.0.1"])
def test_link_local_is_never_reached_even_when_listed(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    settings.SPELLBOOK_OUTBOUND_ALLOW = ["hooks.example.org", "0.0.0.0/0", "::/0"]
    resolves(monkeypatch, address)
    with pytest.raises(NotAllowed, match="never allowed"):
        http.pin("hooks.example.org", 443)
    with pytest.raises(NotAllowed, match="never allowed"):
        http.pin(address, 80)


def test_a_wildcard_covers_the_names_below_it(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.SPELLBOOK_OUTBOUND_ALLOW = ["*.Example.org"]
    resolves(monkeypatch, "93.184.216.34")
    assert str(http.pin("HOOKS.example.org.", 443)) == "93.184.216.34"
    for host in ("example.org", "badexample.org", "example.org.evil.net"):
        with pytest.raises(NotAllowed):
            http.pin(host, 443)


def test_a_name_that_does_not_resolve_is_said_so(settings: Settings) -> None:
    settings.SPELLBOOK_OUTBOUND_ALLOW = ["nowhere.invalid"]
    with http.client() as client, pytest.raises(Unavailable, match=r"nowhere\.invalid cannot be resolved"):
        client.get("https://nowhere.invalid/")
