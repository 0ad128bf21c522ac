"""Characters that cannot be seen, in text of others (D19): written out wherever a person reads it."""

from __future__ import annotations

import re
import unicodedata

_UNSEEN = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\ufe00-\ufe0d\U000e0100-\U000e01ef]")
"""Characters without a form of their own that Python counts as printable."""


def visible(text: object) -> str:
    """The text with every control, zero-width and direction-changing character written out, as in ⟨U+202E⟩, and with
    plain ends of lines, which may be those of any system (Unicode TR 36, TR 39). Nothing else is escaped."""
    found = str(text).replace("\r\n", "\n")
    if found.isprintable() and not _UNSEEN.search(found):
        return found
    return found.translate(_SHOWN)


class _Shown(dict[int, str]):
    """How each character is shown, as `str.translate` asks for it; remembers some, for texts of nothing else."""

    def __missing__(self, number: int) -> str:
        if len(self) > 5_000:
            self.clear()
        letter = chr(number)
        self[number] = letter if _seen(letter) else f"⟨U+{number:04X}⟩"
        return self[number]


_SHOWN = _Shown()


def _seen(letter: str) -> bool:
    if letter.isprintable():
        return not _UNSEEN.match(letter)
    return letter in "\n\t" or unicodedata.category(letter) == "Zs"
