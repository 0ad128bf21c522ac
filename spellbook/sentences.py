"""Words that every face shares: a refusal as one sentence on one line, a number with what it counts."""

from __future__ import annotations

from typing import Final

ARTICLES: Final = ("a ", "an ", "no ", "the ", "this ")


def counted(number: int, word: str) -> str:
    """How many there are of what `word` names, one of them.

    >>> counted(1, "asset"), counted(0, "asset")
    ('1 asset', '0 assets')
    """
    return f"{number} {word}{'' if number == 1 else 's'}"


def sentence(refusal: object) -> str:
    """The words of a refusal on one line, with a full stop; a capital only where no name begins it.

    >>> sentence("the manifest is not JSON")
    'The manifest is not JSON.'
    """
    words = " ".join(str(refusal).split())
    if words.startswith(ARTICLES):
        words = words[0].upper() + words[1:]
    return words if words.endswith((".", "!", "?")) else f"{words}."
