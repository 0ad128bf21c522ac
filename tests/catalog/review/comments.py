"""What a comment's Markdown comes to, for tests: parsed as GitHub's flavour of it."""

from __future__ import annotations

import re

from markdown_it import MarkdownIt
from markdown_it.token import Token

READER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


def tokens(markdown: str) -> list[Token]:
    """All tokens, with those inside a line."""
    return [inner for token in READER.parse(markdown) for inner in (token, *(token.children or ()))]


def shown(markdown: str) -> str:
    """What a person sees of a text in Markdown."""
    return "".join(token.content for token in tokens(markdown) if token.type in ("text", "text_special", "code_inline"))


def links(markdown: str) -> list[str]:
    """The addresses of all links and pictures."""
    return [str(token.attrs.get("href") or token.attrs.get("src")) for token in tokens(markdown) if token.attrs
            and token.type in ("link_open", "image")]  # fmt: skip


def tags(markdown: str) -> list[str]:
    """All tags of HTML, in order."""
    inside = "\n".join(token.content for token in tokens(markdown) if token.type in ("html_block", "html_inline"))
    return re.findall(r"<[^>]*>", inside)


def assert_whole(markdown: str) -> None:
    """Every fence and every pair of tags is closed, every table is one, and only our own tags are there."""
    found = tags(markdown)
    assert set(found) <= {"<details>", "<details open>", "</details>", "<summary>", "</summary>", "<code>", "</code>",
                          "<span>", "</span>"}  # fmt: skip
    for name in ("details", "summary", "code", "span"):
        opened = [tag for tag in found if tag.startswith(f"<{name}")]
        assert len(opened) == found.count(f"</{name}>"), name
    depth = 0
    for tag in found:
        depth += tag.startswith("<details")
        depth -= tag == "</details>"
        assert 0 <= depth <= 1
    lines = markdown.split("\n")
    for token in READER.parse(markdown):
        if token.type == "fence":
            assert token.map is not None
            assert lines[token.map[1] - 1].strip("`") == "", "a fence is open"
    rows = [line for line in _outside_fences(markdown) if line.startswith("|")]
    assert len(rows) == sum(token.type == "tr_open" for token in tokens(markdown)) + sum(
        token.type == "table_open" for token in tokens(markdown)
    )


def _outside_fences(markdown: str) -> list[str]:
    lines = markdown.split("\n")
    for token in READER.parse(markdown):
        if token.type == "fence" and token.map is not None:
            lines[token.map[0] : token.map[1]] = [""] * (token.map[1] - token.map[0])
    return lines
