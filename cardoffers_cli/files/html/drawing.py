"""The pen: a picture's specification in Vega-Lite becomes SVG to stand inside a page.

Vega-Lite places everything; what it drew is then written anew with only the elements and attributes
that a picture needs, so that a page holds nothing else, and takes its colours and its typeface from
the page's own style. All places are given in a specification, none is measured from a typeface, so
that every machine draws the same bytes.
"""

from __future__ import annotations

import re
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

from cardoffers_cli.domain.json_text import dumps
from cardoffers_cli.files.html.digits import thousands

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

VERSION = "6.4"
"""The version of Vega-Lite that the specifications are written for."""

_PREFIX = "{http://www.w3.org/2000/svg}"
_LEAVES = {"path", "line", "text", "rect"}
_ATTRIBUTES = {
    *("d", "x", "y", "x1", "x2", "y1", "y2", "width", "height", "rx", "transform"),
    *("fill", "stroke", "stroke-width", "text-anchor", "font-size", "font-weight"),
}
_UNSEEN = {"background", "foreground"}
_NOWHERE = "translate(0,0)"
_DIGITS = re.compile(r"(?<![\d.-])(\d{4,})(?![\d-])")
_FRACTION = re.compile(r"-?\d+\.\d+(e-\d+)?")
_GAP = ".18em"


def can_draw() -> bool:
    """Whether the extra that draws pictures is installed."""
    return find_spec("vl_convert") is not None


def drawn(spec: Mapping[str, Any]) -> Any:
    """Return a picture: what stands inside an `svg`, and its `viewBox`; None without the pen."""
    if not can_draw():
        return None
    from markupsafe import Markup  # noqa: PLC0415  comes with jinja2
    from vl_convert import vegalite_to_svg  # noqa: PLC0415  heavy

    text = vegalite_to_svg(dumps(spec), vl_version=VERSION, allowed_base_urls=[])
    root = ET.fromstring(text)  # noqa: S314  drawn just now
    marks = "".join(ET.tostring(mark, encoding="unicode") for mark in _marks(root))
    return {"box": root.get("viewBox"), "marks": Markup(marks)}  # noqa: S704  written by a tree


def _marks(node: ET.Element) -> Iterator[ET.Element]:
    """Yield what is drawn inside an element, groups only where they move something."""
    for child in node:
        name = child.tag.removeprefix(_PREFIX)
        if name == "g":
            inside = list(_marks(child))
            place = child.get("transform", _NOWHERE)
            if place == _NOWHERE:
                yield from inside
            elif inside:
                group = ET.Element("g", {"transform": place})
                group.extend(inside)
                yield group
        elif name in _LEAVES and child.get("class") not in _UNSEEN:
            mark = ET.Element(name, _attributes(child))
            _write(mark, child.text or "")
            yield mark


def _attributes(node: ET.Element) -> dict[str, str]:
    """Return the attributes to keep, places as exact as an eye is."""
    kept = {name: value for name, value in node.attrib.items() if name in _ATTRIBUTES}
    return {name: _FRACTION.sub(_rounded, value) for name, value in kept.items()}


def _rounded(number: re.Match[str]) -> str:
    return f"{round(float(number[0]), 2) + 0:g}"  # and never -0


def _write(mark: ET.Element, text: str) -> None:
    """Write the text of a mark; one that does not start at its place is a number, grouped."""
    begin, *numbers = _DIGITS.split(text) if mark.get("text-anchor") != "start" else [text]
    mark.text = begin
    for number, after in zip(numbers[::2], numbers[1::2], strict=True):
        for position, group in enumerate(thousands(number)):
            span = ET.SubElement(mark, "tspan", {"dx": _GAP} if position else {})
            span.text = group
        mark[-1].tail = after
