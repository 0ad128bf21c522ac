"""What comes in: verified by its receiver on the raw body, stored once, answered, then processed."""

from __future__ import annotations

import re
from collections.abc import Mapping

from foundation import clock
from foundation.errors import BadInput
from foundation.locks import transaction
from foundation.models import Inbox

# A header that proves who sent the message could be replayed by whoever reads this table.
_PRIVATE = re.compile(r"authorization|cookie|signature|token|secret|api-?key", re.IGNORECASE)


def receive(
    *, source: str, external_id: str, body: bytes, headers: Mapping[str, str] | None = None
) -> tuple[Inbox, bool]:
    """Store a verified message and make it due: `(row, created)`.

    The same (source, external_id) again returns the first row. Headers that hold proofs or secrets are dropped.
    BadInput when the sender gives no usable id, Busy when the database cannot be had.
    """
    if not 0 < len(external_id) <= 300 or not external_id.isprintable():
        raise BadInput("An incoming message needs an id of 1 to 300 printable characters.")
    kept = {name.lower(): _storable(value) for name, value in (headers or {}).items() if not _PRIVATE.search(name)}
    moment = clock.now()
    with transaction():
        return Inbox.objects.get_or_create(
            source=source,
            external_id=external_id,
            defaults={"body": body, "headers": kept, "received_at": moment, "due_at": moment},
        )


def _storable(value: str) -> str:
    return value.replace("\0", "\ufffd")[:1000]
