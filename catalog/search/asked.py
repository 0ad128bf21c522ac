"""What somebody asks the search for, made ready for the index."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Q

from catalog.models import Asset
from catalog.search.engine import Wanted
from catalog.search.marks import with_marks
from catalog.search.text import fold, words
from foundation.errors import BadInput

LONGEST = 1000  # letters: a namespace and a name together
MOST = 40  # words
PLACES = 20  # strokes at which a text may be a namespace and a name


@dataclass(frozen=True)
class Asked:
    """`text` as it was asked, `folded` as names are kept, `wanted` the words that an entry must hold.

    `whole` are the assets whose namespace and name together are the text.

    No word is wanted for an empty text, and for one of punctuation or a single letter, which only begins names.
    """

    text: str
    folded: str
    wanted: tuple[Wanted, ...]
    whole: tuple[int, ...]

    @property
    def words(self) -> tuple[str, ...]:
        """The wanted words without their marks."""
        return tuple(one.word for one in self.wanted)


def asked(text: str) -> Asked:
    """Read the text. BadInput when no name could hold it: over 1000 letters, over 40 words, unstorable characters."""
    plain = " ".join(text.split())
    if "\0" in plain or any("\ud800" <= letter <= "\udfff" for letter in plain):
        raise BadInput("The text to search for holds a character that cannot be stored; leave it out.")
    found = words(plain) if len(plain) <= LONGEST else ()
    if len(plain) > LONGEST or len(found) > MOST:
        raise BadInput(f"The text to search for has more than {LONGEST} letters or {MOST} words; shorten it.")
    kept = tuple(word for word in found if len(word) > 1 or not word.isascii())
    return Asked(plain, fold(plain), tuple(with_marks(kept)) if kept else (), _whole(plain))


def _whole(text: str) -> tuple[int, ...]:
    """Every way to read the text as a namespace, a stroke and a name."""
    ways = Q()
    for place in [place for place, letter in enumerate(text) if letter == "/"][:PLACES]:
        ways |= Q(namespace=text[:place], name=text[place + 1 :])
    return tuple(Asset.objects.filter(ways).values_list("pk", flat=True)) if ways else ()
