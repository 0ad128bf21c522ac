"""Nothing inline: every page keeps what the Content-Security-Policy says, so that it works under it."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from django.test import Client

from spellbook.middleware import POLICY
from tests.spellbook.page_data import scene
from tests.spellbook.test_pages_render import pages

ROOT = Path(__file__).resolve().parents[2]


class Inline(HTMLParser):
    """Collects whatever the policy would stop: inline scripts and styles, handlers, addresses of other sites."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "style" or (tag == "script" and "src" not in given):
            self.found.append(f"<{tag}>")
        for name, value in given.items():
            if name == "style" or name.startswith("on"):
                self.found.append(f'{tag} {name}="{value}"')
            if name in ("src", "href", "action", "hx-get", "hx-post") and not re.match(r"[/?#]", value):
                self.found.append(f'{tag} {name}="{value}"')


@pytest.mark.django_db
def test_no_page_holds_an_inline_script_style_handler_or_foreign_address() -> None:
    night = scene()
    for who in ("approver", "operator"):
        client = Client()
        client.force_login(night.people[who])
        for path in [*pages(night), "/no/such/page"]:
            answer = client.get(path)
            assert answer["Content-Security-Policy"] == POLICY
            parser = Inline()
            parser.feed(answer.content.decode())
            assert not parser.found, (path, parser.found)
    parser = Inline()
    parser.feed(Client().get("/sign-in").content.decode())
    assert not parser.found


def test_the_policy_allows_nothing_inline_and_nothing_from_elsewhere() -> None:
    assert "unsafe" not in POLICY
    assert "http" not in POLICY
    assert "script-src 'self'" in POLICY


def test_no_script_of_ours_evaluates_text_or_writes_markup() -> None:
    for file in (ROOT / "static" / "js").glob("*.js"):
        text = file.read_text(encoding="utf-8")
        assert not re.search(r"\beval\(|new Function|innerHTML|insertAdjacentHTML|document\.write", text), file.name
