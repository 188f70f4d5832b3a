"""Thousands that are told apart by the style, and not by a sign in the text.

So that a number is read with ease, as in a sentence, and still is, to whoever copies it or searches
for it, the text that it is in every other format.
"""

from __future__ import annotations

import re
from typing import Any

from cardoffers_cli.domain.visible import visible

_WHOLE = re.compile(r"\d{4,}")


def thousands(digits: str) -> list[str]:
    """Cut digits into groups of three, from the right."""
    head = len(digits) % 3
    return [*([digits[:head]] if head else []), *re.findall("...", digits[head:])]


def grouped(text: str) -> Any:
    """Return a number as HTML: each group but the first of its whole part stands in a `span`."""
    from markupsafe import Markup, escape  # noqa: PLC0415  comes with jinja2

    whole, point, decimals = str(escape(visible(text))).partition(".")
    return Markup(_WHOLE.sub(_spans, whole) + point + decimals)  # noqa: S704  escaped above


def _spans(whole: re.Match[str]) -> str:
    first, *others = thousands(whole[0])
    return first + "".join(f"<span>{group}</span>" for group in others)
