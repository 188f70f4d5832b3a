"""The templates of pages and of what stands on them, and how a value stands in one."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from cardoffers_cli.kernel.sheets.sheets import guard
from cardoffers_cli.kernel.words.moments import format_brief, format_moment
from cardoffers_cli.kernel.words.visible import visible

_AMOUNT = re.compile(r" (?=%)|(?<=\b[A-Z]{3}) (?=-?\d)")
_FIELD = re.compile(r"\b[a-z]+(?:_[a-z]+)+\b")

if TYPE_CHECKING:
    from jinja2 import Environment


def _seen(value: Any) -> Any:
    """Return what stands in a template, text with whatever acts or hides as escapes."""
    return visible(value) if type(value) is str else value


def _as_lines(text: str) -> Any:
    from markupsafe import escape  # noqa: PLC0415  comes with jinja2

    return escape(visible(text, keep="\n"))


def _said(text: str) -> str:
    """Return a sentence in which a number stays on one line with its sign or its currency."""
    return _AMOUNT.sub("\u00a0", text)


def _coded(text: str) -> Any:
    """Return a sentence as HTML in which names of fields are set as code."""
    from markupsafe import Markup, escape  # noqa: PLC0415  comes with jinja2

    shown = str(escape(visible(text)))
    return Markup(_FIELD.sub(r"<code>\g<0></code>", shown))  # noqa: S704  escaped above


@cache
def templates() -> Environment:
    """Return the templates of this folder, and how a value stands in one."""
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415  heavy

    pages = Environment(
        loader=PackageLoader("cardoffers_cli.kernel", "sheets"),
        autoescape=True,
        finalize=_seen,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    pages.filters |= {
        "as_lines": _as_lines,
        "brief": format_brief,
        "coded": _coded,
        "exact": format_moment,
        "grouped": grouped,
        "said": _said,
        "told": lambda text: _said(guard(text)),  # it may begin with a name from outside
    }
    return pages


_WHOLE = re.compile(r"(?<=^[+-])\d{4,}|^\d{4,}")


def thousands(digits: str) -> list[str]:
    """Cut digits into groups of three, from the right."""
    head = len(digits) % 3
    return [*([digits[:head]] if head else []), *re.findall("...", digits[head:])]


def grouped(text: str) -> Any:
    """Return a number as HTML: each group but the first of its whole part stands in a `span`.

    Whatever begins otherwise than a number is text, and stays as it is.
    """
    from markupsafe import Markup, escape  # noqa: PLC0415  comes with jinja2

    whole, point, decimals = str(escape(visible(text))).partition(".")
    return Markup(_WHOLE.sub(_spans, whole) + point + decimals)  # noqa: S704  escaped above


def _spans(whole: re.Match[str]) -> str:
    first, *others = thousands(whole[0])
    return first + "".join(f"<span>{group}</span>" for group in others)
