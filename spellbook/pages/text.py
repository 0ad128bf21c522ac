"""Text of agents, manifests and warehouses, made fit for a page (D19)."""

from __future__ import annotations

import re

_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]"
)


def visible(text: object) -> str:
    """The text with every control, zero-width and direction-changing character written out, as in ⟨U+202E⟩.

    A line may end as on any system. HTML is escaped by the templates; this is about what HTML would let through unseen
    (Unicode TR 36, TR 39).
    """
    return _UNSEEN.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", str(text).replace("\r\n", "\n"))
