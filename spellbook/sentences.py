"""A refusal as every face shows it: one line, one sentence."""

from __future__ import annotations

from typing import Final

ARTICLES: Final = ("a ", "an ", "no ", "the ", "this ")


def sentence(refusal: object) -> str:
    """The words of a refusal on one line, with a full stop; a capital only where no name begins it.

    >>> sentence("the manifest is not JSON")
    'The manifest is not JSON.'
    """
    words = " ".join(str(refusal).split())
    if words.startswith(ARTICLES):
        words = words[0].upper() + words[1:]
    return words if words.endswith((".", "!", "?")) else f"{words}."
