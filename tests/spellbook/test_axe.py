"""axe-core finds nothing on any page, and none is cut by its window: phone and desktop, light and dark."""

from __future__ import annotations

import mimetypes
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.staticfiles import finders
from django.test import Client
from playwright.sync_api import BrowserContext, Route, sync_playwright

from approvals.services import stop
from catalog.models import Asset
from catalog.services.declare import declare
from foundation.audit import Actor
from foundation.people import create_agent
from tests.spellbook.page_data import scene
from tests.spellbook.test_pages_render import pages
from tools.screens import FLAGS, SIZES, THEMES

ROOT = Path(__file__).resolve().parents[2]
AXE = "axe-core@4.14.1"
TAGS = ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa", "best-practice"]
CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
SITE = "http://localhost"
CUT = """[...document.querySelectorAll('.scroll:not([tabindex])')].filter(one => one.scrollWidth > one.clientWidth)
    .map(one => one.innerText)"""  # what is meant to be scrolled takes the focus


@pytest.fixture
def axe() -> str:
    """The source of axe-core, installed once into var/axe."""
    source = ROOT / "var" / "axe" / "node_modules" / "axe-core" / "axe.min.js"
    if not source.exists():
        npm = shutil.which("npm")
        if npm is None:
            pytest.skip("npm was not found, and axe-core comes from npm")
        folder = source.parents[2]
        folder.mkdir(parents=True, exist_ok=True)
        install = [npm, "install", "--silent", "--no-save", "--ignore-scripts", "--prefix", str(folder), AXE]
        subprocess.run(install, check=True, timeout=100, capture_output=True)
    return source.read_text(encoding="utf-8")


def rendered(who: str) -> dict[str, bytes]:
    """Every page by its path, as this person gets it; signed out that is one page. The admin has set the stop."""
    night, client = scene(), Client()
    long = "warehouse.marts.int_orders_with_returns_and_shop_attribution_weekly"
    Asset.objects.filter(pk=night.assets["mart_weekly"].pk).update(name=long)
    feed = {"asset": "Copy of the weekly orders for the planning team", "tool": "copier", "reads": [long, "main.lost"]}
    declare({"consumers": [feed]}, actor=Actor(create_agent("scout", owner=night.people["owner"]), "mcp"))
    if not who:
        return {"/sign-in": client.get("/sign-in").content}
    if who == "admin":
        stop.set_stop("The warehouse is being moved.", person=night.people["admin"])
    client.force_login(night.people[who])
    return {path: client.get(path).content for path in [*pages(night), "/no/such/page"]}


def contexts(answers: dict[str, bytes]) -> Iterator[BrowserContext]:
    """A browser for each size in each theme that gets these answers; without the policy's header, which stops axe."""

    def answer(route: Route) -> None:
        path = route.request.url.removeprefix(SITE)
        if path in answers:
            route.fulfill(body=answers[path], content_type="text/html; charset=utf-8")
        elif path.startswith("/static/") and (found := finders.find(path.removeprefix("/static/"))):
            route.fulfill(body=Path(str(found)).read_bytes(), content_type=mimetypes.guess_type(path)[0] or "")
        else:
            route.fulfill(status=404, body="")

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        for width, height in SIZES.values():
            for theme in THEMES:
                context = browser.new_context(
                    viewport={"width": width, "height": height}, color_scheme="dark" if theme == "dark" else "light"
                )
                context.route("**/*", answer)
                yield context
                context.close()
        browser.close()


def violations(context: BrowserContext, path: str, axe: str) -> list[str]:
    """What axe says of this page with everything unfolded."""
    page = context.new_page()
    page.goto(SITE + path)
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
    page.evaluate(axe)
    found: dict[str, Any] = page.evaluate("tags => axe.run({runOnly: {type: 'tag', values: tags}})", TAGS)
    said = [f"{path} at {page.viewport_size}: {one['id']} {one['nodes'][0]['html']}" for one in found["violations"]]
    if page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth"):
        said.append(f"{path} at {page.viewport_size}: wider than the window")
    said += [f"{path} at {page.viewport_size}: cut, {one[:80]}" for one in page.evaluate(CUT)]
    page.close()
    return said


@pytest.mark.real
@pytest.mark.timeout(600)
@pytest.mark.django_db
@pytest.mark.parametrize("who", ["approver", "operator", "admin", ""])
def test_axe_finds_nothing_on_any_page(who: str, axe: str) -> None:
    if not Path(CHROMIUM).exists():
        pytest.skip(f"{CHROMIUM} was not found; CHROMIUM names another")
    answers = rendered(who)
    said = [line for context in contexts(answers) for path in answers for line in violations(context, path, axe)]
    assert not said, "\n".join(said)
