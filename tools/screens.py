"""Takes the pictures in docs/screens: every page of a running demo, phone and desktop, light and dark.

python tools/screens.py http://localhost:8000 EMAIL PASSWORD [FOLDER]   (needs Chromium; CHROMIUM names another binary)
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

SIZES = {"phone": (375, 812), "desktop": (1280, 900)}
HIGHEST = {"phone": 2400, "desktop": 1400}
THEMES = ("light", "dark")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"]  # fmt: skip


def pages(page: Page, address: str) -> Iterator[tuple[str, str]]:
    """Name and address of each page; those with an id are found by following links from the incident."""
    yield "home", "/"
    yield "catalog", "/catalog"
    yield from _linked(page, f"{address}/catalog?q=fct", {"asset": r"^/assets/\d+$"})
    yield "incidents", "/incidents"
    yield "incident", "/incidents/1"
    found = dict(_linked(page, f"{address}/incidents/1", LINKS))
    yield from found.items()
    yield "readers", "/readers"
    yield "history", "/history"
    yield "domain", "/domains/growth"
    yield "receipts", "/receipts"
    yield "me", "/me"


LINKS = {
    "blast-radius": r"^/assets/\d+/blast-radius",
    "sign-off": r"^/requests/[0-9a-f-]+$",
    "plan": r"^/plans/[0-9a-f-]+$",
    "receipt": r"^/receipts/[0-9a-f-]+$",
}


def _linked(page: Page, start: str, wanted: dict[str, str]) -> Iterator[tuple[str, str]]:
    page.goto(start)
    links = page.eval_on_selector_all("a[href]", "all => all.map(a => a.getAttribute('href'))")
    for name, pattern in wanted.items():
        found = [link for link in links if re.match(pattern, link)]
        if found:
            yield name, found[-1 if name == "receipt" else 0]  # the last one is the incident's


def signed_in(browser: Browser, address: str, email: str, password: str, size: str, theme: str) -> Page:
    """A page of a fresh context with somebody signed in."""
    width, height = SIZES[size]
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme="dark" if theme == "dark" else "light",
        device_scale_factor=1,
    )
    page = context.new_page()
    page.goto(f"{address}/sign-in")
    page.fill("input[name=email]", email)
    page.fill("input[name=password]", password)
    page.press("input[name=password]", "Enter")
    page.wait_for_url(f"{address}/")
    return page


PAINTED = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 200))))"
"""A busy machine draws what a larger window uncovers a moment after it grew."""


def whole(page: Page, size: str) -> None:
    """Make the window as high as the page, up to a limit: what sticks to its lower edge then covers little."""
    width, height = SIZES[size]
    page.set_viewport_size({"width": width, "height": height})
    high = int(page.evaluate("document.documentElement.scrollHeight"))
    page.set_viewport_size({"width": width, "height": min(max(high, height), HIGHEST[size])})
    page.evaluate(PAINTED)


def main() -> int:
    if len(sys.argv) < 4:
        print(__doc__, file=sys.stderr)
        return 2
    address, email, password = sys.argv[1:4]
    folder = Path(sys.argv[4] if len(sys.argv) > 4 else "docs/screens")
    folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"), args=FLAGS
        )
        for size in SIZES:
            for theme in THEMES:
                page = signed_in(browser, address, email, password, size, theme)
                for name, path in list(pages(page, address)):
                    page.goto(address + path)
                    whole(page, size)
                    page.screenshot(path=folder / f"{name}-{size}-{theme}.png")
                    print(f"{name}-{size}-{theme}")
                page.context.close()
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
