"""Who we are for GitHub: a token, or an App's installation whose token lives an hour and is never stored.

App: a JWT signed with the App's private key (RS256, at most 10 minutes long) buys an installation token
(https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import sha256

import jwt

from catalog.code_hosts.github.connection import Settings
from foundation.errors import BadInput
from foundation.secrets import secret

BACK = 60  # seconds that a JWT is dated back, for a clock of ours that is fast
AHEAD = 480  # seconds that it lasts: with BACK under GitHub's 600, with room for a fast clock
MARGIN = timedelta(minutes=5)  # an installation token is not used so shortly before its end

Key = tuple[str, str, str, str, str]
Buy = Callable[[str], tuple[str, datetime]]
"""Takes a JWT, gives an installation token and its end."""

_lock = threading.Lock()
_tokens: dict[Key, tuple[str, datetime]] = {}


@dataclass(frozen=True, slots=True)
class Credential:
    """The secret in memory, out of sight of repr."""

    settings: Settings
    _value: str = field(repr=False)

    @property
    def is_app(self) -> bool:
        return bool(self.settings.app_id)

    def token(self, buy: Buy) -> str:
        """The token for a request: our own, or the installation's, bought when none is at hand in this process."""
        if not self.is_app:
            return self._value
        key = self._key()
        with _lock:
            present = _tokens.get(key)
        if present is not None and present[1] - MARGIN > datetime.now(UTC):
            return present[0]
        # Not under the lock: GitHub may be slow, and two tokens are no harm.
        bought = buy(self.app_token())
        with _lock:
            _tokens[key] = bought
        return bought[0]

    def forget(self, token: str) -> bool:
        """Throw an installation token away that GitHub refuses; True when another one can be bought."""
        if not self.is_app:
            return False
        with _lock:
            present = _tokens.get(self._key())
            if present is not None and present[0] == token:
                del _tokens[self._key()]
        return True

    def app_token(self) -> str:
        """A JWT for the App itself; BadInput when the secret is not a private key."""
        now = int(time.time())
        claims = {"iss": self.settings.app_id, "iat": now - BACK, "exp": now + AHEAD}
        try:
            return jwt.encode(claims, self._value, algorithm="RS256")
        except (ValueError, TypeError, jwt.PyJWTError):
            name = self.settings.credential_name
            raise BadInput(f"The secret {name} is not an RSA private key in PEM, as GitHub gives it out.") from None

    def _key(self) -> Key:
        one = self.settings
        return one.api, one.app_id, one.installation_id, one.full_name, sha256(self._value.encode()).hexdigest()


def credential_of(settings: Settings) -> Credential:
    """The credential that the connection names; Unavailable when it is not there, BadInput when it cannot be one."""
    value = secret(settings.credential_name).strip()
    if settings.app_id:
        # A variable of one line carries the key's line breaks as \n.
        return Credential(settings, value if "\n" in value else value.replace("\\n", "\n"))
    if not value.isascii() or not value.isprintable() or " " in value:
        raise BadInput(f"The secret {settings.credential_name} is not a token: it has spaces or line breaks.")
    return Credential(settings, value)
