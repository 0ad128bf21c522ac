"""The one outbound HTTP client: allowed hosts only, each resolved once and reached at exactly that address.

`SPELLBOOK_OUTBOUND_ALLOW` lists hosts (`hooks.example.com`, `*.example.com`), addresses and networks (`10.1.2.0/24`).
A private or loopback address is reached only when an entry of the list holds that address; link-local, multicast and
unspecified never (server-side request forgery,
https://cheatsheetseries.owasp.org/cheatsheets/Server_Side_Request_Forgery_Prevention_Cheat_Sheet.html).
"""

from __future__ import annotations

import ipaddress
import socket
from ipaddress import IPv4Address, IPv6Address, IPv6Network

import httpx
from django.conf import settings

from foundation.errors import NotAllowed, Unavailable

Address = IPv4Address | IPv6Address

_NAT64 = IPv6Network("64:ff9b::/96")


def client(timeout: float = 10, *, follow: bool = True) -> httpx.Client:
    """A client for one short use (`with client() as http:`). `timeout` in seconds, for each of connect, write, read.

    With `follow=False` a redirect is an answer like any other, whose reader decides where to go, and with what.

    Raises NotAllowed for a host or address that is not on the list, and for a redirect to another host; Unavailable
    when a name cannot be resolved; httpx's own errors otherwise.
    """
    return httpx.Client(
        transport=PinnedTransport(),
        timeout=timeout,
        follow_redirects=follow,
        max_redirects=3,
        trust_env=False,  # a proxy from the environment would resolve names for itself
        event_hooks={"response": [_same_host]} if follow else {},
        headers={"User-Agent": "spellbook"},
    )


class PinnedTransport(httpx.BaseTransport):
    """Checks the host, resolves it once, and connects to that address; TLS and the Host header still name the host."""

    def __init__(self) -> None:
        # No connection is kept: the pool knows connections by address, and two hosts may share one.
        self._inner = httpx.HTTPTransport(trust_env=False, limits=httpx.Limits(max_keepalive_connections=0))

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        host = request.url.host
        pinned = httpx.Request(
            method=request.method,
            url=request.url.copy_with(host=str(pin(host, request.url.port or 0))),
            headers=request.headers,
            stream=request.stream,
            extensions={**request.extensions, "sni_hostname": host},
        )
        return self._inner.handle_request(pinned)

    def close(self) -> None:
        self._inner.close()


def pin(host: str, port: int) -> Address:
    """The one address to connect to for `host`; every address that it resolves to must be allowed.

    Raises NotAllowed, and Unavailable when it cannot be resolved.
    """
    allowed = [entry.lower() for entry in settings.SPELLBOOK_OUTBOUND_ALLOW]
    literal = _literal(host)
    if literal is None and not _host_listed(host.lower().rstrip("."), allowed):
        raise NotAllowed(f"The host {host} is not on SPELLBOOK_OUTBOUND_ALLOW.")
    addresses = [literal] if literal is not None else _resolve(host, port)
    for address in addresses:
        _check_address(host, address, allowed, must_be_listed=literal is not None)
    return addresses[0]


def _check_address(host: str, address: Address, allowed: list[str], *, must_be_listed: bool) -> None:
    inner = _embedded(address)
    if inner.is_link_local or inner.is_multicast or inner.is_unspecified:
        raise NotAllowed(f"The host {host} leads to an address that is never allowed.")
    if (must_be_listed or not inner.is_global) and not _address_listed(inner, allowed):
        raise NotAllowed(f"The host {host} leads to an address that is not on SPELLBOOK_OUTBOUND_ALLOW.")


def _embedded(address: Address) -> Address:
    """The IPv4 address that an IPv6 address stands for, where it does."""
    if isinstance(address, IPv4Address):
        return address
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address


def _resolve(host: str, port: int) -> list[Address]:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise Unavailable(f"The host {host} cannot be resolved.") from None
    return [ipaddress.ip_address(str(entry[4][0]).partition("%")[0]) for entry in found]


def _host_listed(host: str, allowed: list[str]) -> bool:
    return any(host == entry or (entry.startswith("*.") and host.endswith(entry[1:])) for entry in allowed)


def _address_listed(address: Address, allowed: list[str]) -> bool:
    return any(network is not None and address in network for network in map(_network, allowed))


def _network(entry: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
    try:
        return ipaddress.ip_network(entry, strict=False)
    except ValueError:
        return None


def _literal(host: str) -> Address | None:
    try:
        return ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return None


def _same_host(response: httpx.Response) -> None:
    if not response.has_redirect_location:
        return
    here = response.request.url
    there = here.join(response.headers["location"])
    if there.host != here.host or (here.scheme == "https" and there.scheme != "https"):
        raise NotAllowed(f"The host {here.host} redirects to another host; that is not followed.")
