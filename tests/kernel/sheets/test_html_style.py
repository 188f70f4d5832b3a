"""Colours of pages: each scheme has all of them, with the contrast that WCAG 2.2 AA asks for."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest

STYLE = (files("cardoffers_cli.kernel.sheets") / "style.css").read_text("utf-8")
SCHEMES = dict(
    zip(("light", "dark", "paper"), re.findall(r":root \{(.*?)\}", STYLE, re.DOTALL), strict=True)
)
TEXT = ("ink", "muted", "accent", "good", "warn", "alarm")
GRAPHICS = ("accent", "strong", "soft", "good", "warn", "alarm")


def colours(scheme: str) -> dict[str, str]:
    return dict(re.findall(r"--(\w+): #(\w{6})", SCHEMES[scheme]))


def luminance(colour: str) -> float:
    """Return the relative luminance of a colour (WCAG 2.2)."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (0, 2, 4)]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted(map(luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_scheme_has_every_colour_that_is_used(scheme: str) -> None:
    assert set(re.findall(r"var\(--(\w+)\)", STYLE)) | {*TEXT, *GRAPHICS} <= colours(scheme).keys()


@pytest.mark.parametrize("name", TEXT)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_text_stands_out(scheme: str, name: str) -> None:
    shown = colours(scheme)
    assert contrast(shown[name], shown["paper"]) >= 4.5


@pytest.mark.parametrize("name", GRAPHICS)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_bars_stand_out(scheme: str, name: str) -> None:
    shown = colours(scheme)
    assert contrast(shown[name], shown["paper"]) >= 3


@pytest.mark.parametrize("scheme", SCHEMES)
def test_what_is_spent_is_told_from_the_rest_without_its_hue(scheme: str) -> None:
    shown = colours(scheme)
    for bar in ("accent", "strong"):
        assert contrast(shown[bar], shown["track"]) >= 4.5
    assert contrast(shown["accent"], shown["soft"]) >= 1.8
