"""Every pair of colours that the styles put together, light and dark, by WCAG 2.2 (criteria 1.4.3 and 1.4.11)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

CSS = Path(__file__).resolve().parents[2] / "static" / "css"
TOKENS = {
    name: (light, dark)
    for name, light, dark in re.findall(
        r"--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);", (CSS / "tokens.css").read_text(encoding="utf-8")
    )
}
TEXT = ("text", "muted", "accent", "ok", "warn", "bad")
GROUNDS = ("page", "surface", "ins", "del")


def luminance(colour: str) -> float:
    """Relative luminance of #rrggbb (WCAG 2.2, definition "relative luminance")."""
    parts = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    red, green, blue = (one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """Contrast ratio, 1 to 21 (WCAG 2.2, definition "contrast ratio")."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def test_the_measure_is_the_one_of_wcag() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("mode", [0, 1], ids=["light", "dark"])
def test_text_is_readable_on_every_ground(mode: int) -> None:
    low = {
        (text, ground): ratio
        for text in TEXT
        for ground in GROUNDS
        if (ratio := contrast(TOKENS[text][mode], TOKENS[ground][mode])) < 4.5
    }
    assert not low


@pytest.mark.parametrize("mode", [0, 1], ids=["light", "dark"])
def test_buttons_and_borders_are_told_apart(mode: int) -> None:
    for button in ("accent", "bad"):
        assert contrast(TOKENS["on-accent"][mode], TOKENS[button][mode]) >= 4.5
    for ground in ("page", "surface"):
        assert contrast(TOKENS["border"][mode], TOKENS[ground][mode]) >= 3


def test_plain_text_of_a_diff_is_far_above_the_minimum() -> None:
    for mode in (0, 1):
        for ground in ("ins", "del"):
            assert contrast(TOKENS["text"][mode], TOKENS[ground][mode]) >= 11


def test_no_style_names_a_colour_of_its_own() -> None:
    for file in CSS.glob("*.css"):
        if file.name != "tokens.css":
            text = file.read_text(encoding="utf-8")
            assert not re.search(r"#[0-9a-fA-F]{3,8}\b(?=[;\s)])|rgba?\(|hsla?\(", text), file.name


def test_every_colour_that_a_style_uses_is_a_token() -> None:
    known = set(re.findall(r"--([\w-]+):", (CSS / "tokens.css").read_text(encoding="utf-8")))
    for file in CSS.glob("*.css"):
        used = set(re.findall(r"var\(--([\w-]+)\)", file.read_text(encoding="utf-8")))
        assert used <= known, (file.name, used - known)
