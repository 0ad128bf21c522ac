"""Pictures of a review about as GitHub shows it: a Markdown file to HTML to PNG, once for a phone, once for a desktop.

spellbook review BASE HEAD > FILE.md
python tools/render_comment.py FILE.md [FOLDER]   (needs Chromium; CHROMIUM names another binary)
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Literal

from markdown_it import MarkdownIt
from playwright.sync_api import sync_playwright

SIZES = {"phone": 375, "desktop": 900}
THEMES: dict[str, Literal["light", "dark"]] = {"phone": "light", "desktop": "dark"}
STYLE = """
:root { color-scheme: light dark; --text: #1f2328; --ground: #fff; --line: #d1d9e0; --soft: #f6f8fa; --link: #0969da;
  --old: #ffebe9; --new: #dafbe1 }
@media (prefers-color-scheme: dark) { :root { --text: #f0f6fc; --ground: #0d1117; --line: #3d444d; --soft: #151b23;
  --link: #4493f8; --old: #3d1a1c; --new: #12331f } }
body { margin: 0; padding: 16px; background: var(--ground); color: var(--text);
  font: 14px/1.5 system-ui, "Noto Sans", "DejaVu Sans", "Noto Color Emoji", sans-serif; overflow-wrap: break-word }
h2, h3 { margin: 24px 0 12px; line-height: 1.25 } h2 { font-size: 21px; border-bottom: 1px solid var(--line);
  padding-bottom: 6px } h3 { font-size: 17px } body > :first-child { margin-top: 0 }
p, ul, ol, pre, table, details { margin: 0 0 14px } ul, ol { padding-left: 2em } a { color: var(--link) }
code, pre { font: 12px/1.45 ui-monospace, "DejaVu Sans Mono", monospace; background: var(--soft); border-radius: 6px }
code { padding: .2em .4em } pre { padding: 12px; overflow: auto } pre code { padding: 0 }
table { display: block; width: max-content; max-width: 100%; overflow: auto; border-collapse: collapse }
th, td { padding: 6px 13px; border: 1px solid var(--line); text-align: left; vertical-align: top }
tr:nth-child(2n) { background: var(--soft) } summary { cursor: pointer }
.old { display: block; background: var(--old) } .new { display: block; background: var(--new) }
"""
SIGNS = {"⛔": "#d1242f", "⚠️": "#d4a72c", "✅": "#1a7f37", "ℹ️": "#0969da"}
"""A machine without a font of emoji draws boxes; the picture has discs in their colours."""
_CLASSES = {"+": "new", "-": "old"}
_DIFF = re.compile(r'<pre><code class="language-diff">(.*?)</code></pre>', re.DOTALL)
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]


def page(markdown: str) -> str:
    """A page that shows `markdown` about as a comment is shown."""
    reader = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    shown = _DIFF.sub(_coloured, reader.render(markdown))
    for sign, colour in SIGNS.items():
        shown = shown.replace(sign, f'<span style="color:{colour}">●</span>')
    return f"<!doctype html><meta charset=utf-8><style>{STYLE}</style>{shown}"


def _coloured(block: re.Match[str]) -> str:
    lines = (
        f"<span class={'new' if line[0] == '+' else 'old'}>{line}</span>" for line in block[1].splitlines() if line
    )
    return f"<pre><code>{''.join(lines)}</code></pre>"


def main() -> int:
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    written = Path(sys.argv[1]).read_text(encoding="utf-8")
    folder = Path(sys.argv[2] if len(sys.argv) > 2 else "docs/screens")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"), args=FLAGS
        )
        for size, width in SIZES.items():
            scheme = THEMES[size]
            shown = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
            shown.set_content(page(written))
            shown.screenshot(path=folder / f"review-comment-{size}-{scheme}.png", full_page=True)
            shown.close()
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
