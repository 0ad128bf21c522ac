"""The facts of an installation over HTTP, as a review in another place asks for them. No Django."""

from __future__ import annotations

import time
from typing import Final

import httpx

from catalog.review.known.facts_document import LARGEST
from foundation.errors import BadInput, NotAllowed, SpellbookError, Unavailable

TOKEN: Final = "SPELLBOOK_FACTS_TOKEN"  # noqa: S105  the name of the variable
SECONDS: Final = 20.0
HOPS: Final = 3
HERE: Final = frozenset({"localhost", "127.0.0.1", "::1"})


def is_url(text: str) -> bool:
    """Whether `text` is meant as an address and not as a file."""
    return "://" in text


def fetch(address: str, token: str) -> bytes:
    """What stands at `address` (https, or http on this machine), asked for with `token` unless that is empty.

    At most 20 seconds and 64 MB; a redirect is followed on the same host alone. BadInput for an address or token that
    cannot be used and for too much, NotAllowed when the token is not accepted or another host is named, Unavailable
    when there is no answer. No message holds the token, or what follows `?` in the address.
    """
    url = _usable(address)
    headers = {"Accept": "application/json", "User-Agent": "spellbook", **_bearer(token)}
    end = time.monotonic() + SECONDS
    try:
        # A proxy of the environment may carry a tunnel, and would read what goes in plain text.
        with httpx.Client(timeout=SECONDS, headers=headers, trust_env=url.scheme == "https") as http:
            for _ in range(HOPS + 1):
                with http.stream("GET", url) as response:
                    if not response.has_redirect_location:
                        _check_status(response, token)
                        return _body(response, end)
                    url = _next(url, response.headers["location"])
    except httpx.TimeoutException:
        raise _late(url) from None
    except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError) as error:
        raise Unavailable(f"{said(url)} cannot be reached: {error or type(error).__name__}.") from None
    raise Unavailable(f"{said(url)} redirects more than {HOPS} times.")


def said(url: httpx.URL | str) -> str:
    """The address without user, query and fragment, which may hold secrets."""
    plain = httpx.URL(url) if isinstance(url, str) else url
    return str(plain.copy_with(username="", password="", query=None, fragment=None))


def _usable(address: str) -> httpx.URL:
    try:
        url = httpx.URL(address)
    except (httpx.InvalidURL, ValueError):
        raise BadInput("The address of the facts cannot be read.") from None
    if url.userinfo:
        raise BadInput(f"The address of the facts holds a user or password; put the token into {TOKEN}.")
    if not url.host or not (url.scheme == "https" or (url.scheme == "http" and url.host in HERE)):
        raise BadInput(f"The facts are asked for over https (http on this machine alone), not from {said(url)}.")
    return url


def _bearer(token: str) -> dict[str, str]:
    plain = token.strip()
    if not plain:
        return {}
    if not (plain.isascii() and plain.isprintable() and " " not in plain):
        raise BadInput(f"{TOKEN} holds characters that no token has.")
    return {"Authorization": f"Bearer {plain}"}


def _check_status(response: httpx.Response, token: str) -> None:
    where, code = said(response.url), response.status_code
    if code in (401, 403):
        raise NotAllowed(f"{where} does not accept the token of {TOKEN}." if token.strip() else _asks(where))
    if code != 200:
        raise Unavailable(f"{where} answers {code}.")


def _asks(where: str) -> str:
    return f"{where} asks for a token; put one into {TOKEN}."


def _body(response: httpx.Response, end: float) -> bytes:
    found = bytearray()
    for chunk in response.iter_bytes():
        found += chunk
        if len(found) > LARGEST:
            raise BadInput(f"{said(response.url)} sends more than {LARGEST // 2**20} MB.")
        if time.monotonic() > end:
            raise _late(response.url)
    return bytes(found)


def _next(here: httpx.URL, location: str) -> httpx.URL:
    there = here.join(location)
    if (there.scheme, there.host, there.port) != (here.scheme, here.host, here.port):
        raise NotAllowed(f"{said(here)} redirects to another host; that is not followed.")
    return there


def _late(url: httpx.URL) -> SpellbookError:
    return Unavailable(f"{said(url)} did not answer within {SECONDS:.0f} seconds.")
