"""Text made comparable for the search: folded, cut into words and trigrams, alike for what is kept and what is asked.

Pure functions. Accents and case do not count (Unicode NFKD without U+0300 to U+036F, then casefold); what separates is
everything that is no letter, digit or mark of a script. A letter of Chinese or Japanese is a word of its own, since
these scripts write no blanks.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

LONGEST = 100  # letters of a word that count; a digest as a name must not fill the index
_ASCII_WORDS = re.compile(r"[0-9a-z]+")
_ACCENTS = re.compile("[\u0300-\u036f]")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_NO_BLANKS = re.compile("[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")


def fold(text: str) -> str:
    """The text without case and accents, its separators kept.

    >>> fold("Ventes_Été")
    'ventes_ete'
    """
    if text.isascii():
        return text.lower()
    bare = _ACCENTS.sub("", unicodedata.normalize("NFKD", text))
    return unicodedata.normalize("NFC", bare).casefold()


def words(text: str) -> tuple[str, ...]:
    """The different words of `text` in their order.

    >>> words("fct_Account-events, fct")
    ('fct', 'account', 'events')
    """
    folded = fold(text)
    found = dict.fromkeys(_ASCII_WORDS.findall(folded) if folded.isascii() else _split(folded))
    if len(folded) > LONGEST:
        found = dict.fromkeys(word[:LONGEST] for word in found)
    return tuple(found)


@lru_cache(maxsize=65_536)
def name_words(name: str) -> tuple[str, ...]:
    """The words of a name: as `words`, and the humps of one written like OrderItems.

    >>> name_words("main.OrderItems")
    ('main', 'orderitems', 'order', 'items')
    """
    humps = _HUMP.sub(" ", name)
    return words(name) if humps == name else tuple(dict.fromkeys((*words(name), *words(humps))))


def trigrams(word: str) -> set[str]:
    """Every three letters in a row, with the ends marked so that a beginning counts more.

    >>> sorted(trigrams("ord"))
    ['$$o', '$or', 'ord', 'rd$']
    """
    padded = f"$${word}$"
    return {padded[start : start + 3] for start in range(len(padded) - 2)}


def distance(one: str, other: str, most: int) -> int:
    """How many letters must be changed, added, dropped or swapped with their neighbour; `most` + 1 when more.

    Optimal string alignment, as in L. Boytsov, "Indexing methods for approximate dictionary searching" (2011), 2.2.

    >>> distance("ordres", "orders", 2)
    1
    """
    if abs(len(one) - len(other)) > most:
        return most + 1
    before: list[int] = []
    last = list(range(len(other) + 1))
    for row, left in enumerate(one, 1):
        now = [row]
        for column, right in enumerate(other, 1):
            cost = min(last[column] + 1, now[-1] + 1, last[column - 1] + (left != right))
            if row > 1 and column > 1 and left == other[column - 2] and one[row - 2] == right:
                cost = min(cost, before[column - 2] + 1)
            now.append(cost)
        before, last = last, now
    return min(last[-1], most + 1)


def _split(folded: str) -> list[str]:
    spaced = _NO_BLANKS.sub(lambda found: f" {found[0]} ", folded)
    return "".join(letter if _is_letter(letter) else " " for letter in spaced).split()


@lru_cache(maxsize=4096)
def _is_letter(letter: str) -> bool:
    return unicodedata.category(letter)[0] in "LNM"
