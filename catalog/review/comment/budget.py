"""A text that may not grow longer than a host allows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from catalog.code_hosts.github.limits import COMMENT

RESERVED: Final = 4_096
"""Kept free of a comment for what is put before the review: the hidden line by which the comment is found again, and
who acknowledged it."""
ROOM: Final = COMMENT - RESERVED
"""So long a review may be in a comment at GitHub."""


def size(text: str) -> int:
    """The length of `text` in UTF-16 code units: at least its number of characters, however a host counts them."""
    return len(text) + sum(letter > "\uffff" for letter in text) if not text.isascii() else len(text)


class Sheet:
    """Blocks of markdown, one empty line between two, that together stay within `room` characters.

    A block is put in whole or not at all, so that no cut falls into a table, a fence or a tag.
    """

    def __init__(self, room: int) -> None:
        self.room = room
        self.used = 0
        self._blocks: list[str] = []

    def add(self, block: str, *, keep: int = 0) -> bool:
        """Put `block` in if `keep` characters are still left after it; says whether it was."""
        wanted = size(block) + 2
        if not block or wanted + keep > self.room:
            return not block
        self._blocks.append(block)
        self.room -= wanted
        self.used += wanted
        return True

    def add_lines(self, head: str, lines: Iterable[str], *, keep: int = 0) -> int:
        """Put `head` and as many `lines` under it in as leave `keep` characters; how many that were. Without a single
        line the head is left out as well."""
        taken: list[str] = []
        used = size(head) + 2
        for line in lines:
            used += size(line) + 1
            if used + keep > self.room:
                break
            taken.append(line)
        if taken:
            self.add("\n".join([head, *taken] if head else taken), keep=keep)
        return len(taken)

    def take(self, other: Sheet) -> None:
        """Put all blocks of `other` in, as far as there is room."""
        for block in other._blocks:
            self.add(block)

    def text(self) -> str:
        """All blocks."""
        return "\n\n".join(self._blocks) + "\n"
