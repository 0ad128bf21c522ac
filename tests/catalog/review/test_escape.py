"""Text of others in a comment: it shows as it is, and does nothing."""

from __future__ import annotations

import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from catalog.review.comment.escape import (
    cell,
    code,
    fence,
    html_code,
    in_html,
    masked,
    plain,
    shortened,
    visible,
)

pytestmark = pytest.mark.real

READER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
HOSTILE = (
    "@team/all", "#12", "GH-12", "a/b#3", "a@0123abc", "https://x.example/a", "www.x.example", "![a](http://b)",
    "[a](b 'c')", "[a]: http://b", "<b onclick=x>", "<!-- x -->", "<a@b.example>", "</details>", "&lt;", ":smile:",
    "|", "\\|", "\\", "`", "```", "~~x~~", "**x**", "__x__", "- x", "1. x", "2) x", "# x", "> x", "---", "===", "$x$",
    "$$", "\n", "\r\n", "\t", " ", "    ", "\x00", "\x1b[31m", "\u202e", "\u200b", "\ud800", "\U000e0041", "\u2028",
    "😀", "é", "sam@store.example", "deadbeef1", "|---|", "*", "_", "[^1]", "[!NOTE]", "[x]", "{{ x }}",
)  # fmt: skip
TEXTS = st.one_of(
    st.text(), st.lists(st.sampled_from(HOSTILE)).map("".join), st.lists(st.sampled_from(HOSTILE)).map(" ".join)
)
WORDLESS = {"paragraph_open", "paragraph_close", "inline", "text", "text_special", "bullet_list_open", "list_item_open",
            "list_item_close", "bullet_list_close"}  # fmt: skip


def tokens(markdown: str) -> list[Token]:
    """All tokens, with those inside a line."""
    return [inner for token in READER.parse(markdown) for inner in (token, *(token.children or ()))]


def shown(markdown: str) -> str:
    """What a person sees of a line."""
    return "".join(token.content for token in tokens(markdown) if token.type in ("text", "text_special", "code_inline"))


def one_line(text: str) -> str:
    """What is to be seen of a text."""
    return masked(visible(text)).replace("\n", " ").replace("\t", " ")


@given(TEXTS)
def test_words_of_others_are_words_alone_and_all_of_them_are_seen(text: str) -> None:
    line = f"- {plain(text, 10_000)}"
    for token in tokens(line):
        dollar = token.type == "html_inline" and token.content in ("<span>", "</span>")
        assert token.type in WORDLESS or dollar, (token.type, token.content)
    assert shown(line).replace("\u200b", "") == one_line(text).strip()


@given(TEXTS)
def test_what_github_links_by_itself_is_broken_in_words_and_in_tags(text: str) -> None:
    for words in (shown(f"- {plain(text, 10_000)}"), html.unescape(in_html(text, 10_000))):
        assert not re.search(r"@\w|#\d|\bGH-\d|://\S|www\.|:[a-z]+:", words, re.IGNORECASE), words
        commits = re.findall(r"\b[0-9a-f]{7,40}\b", words, re.IGNORECASE)
        assert all(commit.isdigit() for commit in commits), words


@given(TEXTS)
def test_code_gives_the_text_back_exactly(text: str) -> None:
    expected = one_line(text)
    spans = [token.content for token in tokens(f"x {code(text, 100_000)} y") if token.type == "code_inline"]
    assert spans == ([expected] if expected else [])


@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=4))
def test_a_table_keeps_its_columns_and_its_code(rows: list[tuple[str, str]]) -> None:
    table = "\n".join([
        "| a | b |", "|---|---|",
        *(f"| {cell(code(one, 100_000))} | {cell(plain(two, 100_000))} |" for one, two in rows),
    ])  # fmt: skip
    found = READER.parse(f"{table}\n\nafter")
    assert [token.type for token in found].count("tr_open") == len(rows) + 1
    assert [token.type for token in found].count("td_open") == 2 * len(rows)
    assert found[-2].content == "after"
    cells = [token for token in found if token.type == "inline"][2:-1]
    for number, (one, two) in enumerate(rows):
        spans = [inner.content for inner in cells[2 * number].children or () if inner.type == "code_inline"]
        assert spans == ([one_line(one)] if one_line(one) else [])
        assert shown(cells[2 * number + 1].content).replace("\u200b", "") == one_line(two).strip()


@given(TEXTS)
def test_a_block_of_code_ends_where_it_should_and_keeps_its_text(text: str) -> None:
    found = READER.parse(f"{fence(text, 'sql', 100_000)}\n\nafter")
    assert [token.type for token in found] == ["fence", "paragraph_open", "inline", "paragraph_close"]
    assert found[0].info == "sql"
    assert found[0].content.rstrip("\n") == masked(visible(text)).strip("\n").rstrip("\n")


@given(TEXTS)
def test_no_tag_and_no_empty_line_comes_out_of_words_in_a_tag(text: str) -> None:
    for words in (in_html(text, 10_000), html_code(text, 10_000)):
        assert not re.sub(r"</?(span|code)>", "", words).count("<")
        assert "\n" not in words


@given(TEXTS, st.integers(10, 60))
def test_no_text_is_longer_than_was_asked_for(text: str, limit: int) -> None:
    assert len(shown(plain(text * 20, limit)).replace("\u200b", "")) <= limit
    assert len(shown(code(text * 20, limit))) <= limit


def test_a_name_of_ten_thousand_letters_is_shortened_from_its_middle() -> None:
    words = plain("a" * 9_990 + "z" * 10)
    assert len(words) == 300
    assert "…" in words
    assert words.endswith("z" * 10)
    assert shortened("short", 10) == "short"


def test_a_text_of_ten_megabytes_takes_no_time() -> None:
    assert len(plain("x " * 5_000_000)) <= 300


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("sam@store.example", "s***@store…"),
        ("'sam.o+x@mail.store.example',", "'s***@mail…',"),
        ("two: a@b.example, c@d.example", "two: a***@b…, c***@d…"),
        ("postgres://user:pw@localhost/x", "postgres://user:pw@localhost/x"),
        ("@handle and a @ b", "@handle and a @ b"),
    ],
)
def test_addresses_are_masked_and_nothing_else_is(text: str, seen: str) -> None:
    assert masked(text) == seen
    assert shown(code(f"x {text}")) == f"x {seen}"
    assert seen in fence(text)


def test_the_names_of_people_stay() -> None:
    assert plain("Zoë O'Hara-Núñez") == "Zoë O'Hara-Núñez"


def test_what_cannot_be_seen_is_shown() -> None:
    assert plain("a\u202eb\x00c\u200dd") == "a⟨U+202E⟩b⟨U+0000⟩c⟨U+200D⟩d"
    assert visible("line\r\nline\ttab") == "line\nline\ttab"


def test_a_language_is_a_word_of_small_letters() -> None:
    with pytest.raises(ValueError, match="no language"):
        fence("x", "mer maid\n")
