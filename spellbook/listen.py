"""The sockets of the site: loopback unless the operator says otherwise, and then only outside a demo."""

from __future__ import annotations

import errno
import ipaddress
import socket

from foundation.errors import Unavailable

LOOPBACK = ("127.0.0.1", "::1")


def addresses(bind: str) -> list[str]:
    """The IP addresses of `bind`, a name or an address; `localhost` is loopback whatever the resolver says."""
    if bind == "localhost":
        return list(LOOPBACK)
    try:
        found = socket.getaddrinfo(bind, None, type=socket.SOCK_STREAM)
    except OSError:
        raise Unavailable(f"SPELLBOOK_BIND names {bind!r}, which is no address of this machine.") from None
    return sorted({str(entry[4][0]) for entry in found})


def listen(bind: str, port: int, *, loopback_only: bool) -> list[socket.socket]:
    """Listening sockets on every address of `bind`; Unavailable when the port is taken or `bind` is not allowed."""
    hosts = addresses(bind)
    if loopback_only and not all(ipaddress.ip_address(host.partition("%")[0]).is_loopback for host in hosts):
        raise Unavailable(
            f"A demo listens on this machine only: SPELLBOOK_BIND={bind} needs SPELLBOOK_ENVIRONMENT=production."
        )
    sockets = [made for host in hosts if (made := _socket(host, port))]
    if not sockets:
        raise Unavailable(f"Nothing can listen on {bind}: this machine has no such address.")
    return sockets


def _socket(host: str, port: int) -> socket.socket | None:
    """None when this machine lacks the address, as many lack IPv6."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        made = socket.socket(family, socket.SOCK_STREAM)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        made.bind((host, port))
        made.listen(128)
    except OSError as error:
        if error.errno in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
            return None
        if error.errno == errno.EADDRINUSE:
            raise Unavailable(
                f"Port {port} is in use: stop what listens there or choose another with PORT=8001."
            ) from None
        if error.errno == errno.EACCES:
            raise Unavailable(
                f"Port {port} needs more rights than this user has: choose one above 1023 with PORT=."
            ) from None
        raise
    return made
