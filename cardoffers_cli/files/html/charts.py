"""Pictures as specifications in Vega-Lite: bars that are named, and columns by day.

A specification holds its own figures, and every place and text in it is given: Vega-Lite scales,
and measures nothing. Figures are written beside what they measure; colours are the page's own, by
the names of its style. Amounts come as the texts that tables show; only lengths are computed.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from decimal import Decimal
from itertools import accumulate
from typing import TYPE_CHECKING, Any
from unicodedata import east_asian_width

from cardoffers_cli.domain.visible import visible

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    Spec = dict[str, Any]

ACCENT = "accent"
_LINE = 42
"""Pixels from one named bar to the next."""
_LETTER = 7
"""Pixels of a letter of a label, as well as one can tell without its typeface."""
_THICK = 8
_TALL = 132
_GUTTER = 14
_TICKS = 4
_DATE_ROOM = 60
_FEWEST = 14
_MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
_WORDS = {"field": "text", "type": "nominal"}
_PLACE = {"field": "x", "type": "quantitative", "axis": None, "scale": None}


@dataclass(frozen=True)
class Bar:
    """A bar with its name and the text of its figure; parts are shares of the full length."""

    name: str
    text: str
    parts: Sequence[tuple[Decimal, str]]


@dataclass(frozen=True)
class Day:
    """A column: its day, its height, and the text of that."""

    day: date
    value: Decimal
    text: str


def bars(rows: Sequence[Bar], width: int) -> Spec:
    """Specify bars one below the other, each under its name and its figure."""
    placed = [(f"{place:04}", row) for place, row in enumerate(rows)]
    tracks = [{"place": place, "from": 0, "to": 1, "fill": "var(--track)"} for place, _ in placed]
    parts = [{"place": place, **part} for place, row in placed for part in _parts(row)]
    names = [{"place": place, "text": _name(row, width)} for place, row in placed]
    figures = [{"place": place, "text": row.text} for place, row in placed]
    return _spec(width, _LINE * len(rows)) | {
        "encoding": {"y": {"field": "place", "type": "ordinal", "axis": None}},
        "layer": [
            _stretches(tracks),
            _stretches(parts),
            _column(names, "left", 0),
            _column(figures, "right", width),
        ],
    }


def _parts(row: Bar) -> list[Spec]:
    ends = accumulate(share for share, _ in row.parts)
    return [
        {"from": end - share, "to": end, "fill": f"var(--{colour})"}
        for end, (share, colour) in zip(ends, row.parts, strict=True)
        if share > 0
    ]


def _name(row: Bar, width: int) -> str:
    return clipped(row.name, width - _LETTER * (len(row.text) + 2))


def _stretches(values: Sequence[Spec]) -> Spec:
    scale = {"domain": [0, 1], "clamp": True, "nice": False}
    return {
        "data": {"values": values},
        "mark": {"type": "rect", "height": _THICK, "yOffset": -1},
        "encoding": {
            "x": {"field": "from", "type": "quantitative", "axis": None, "scale": scale},
            "x2": {"field": "to"},
            "color": {"field": "fill", "type": "nominal", "scale": None},
        },
    }


def _column(values: Sequence[Spec], align: str, x: int) -> Spec:
    return {
        "data": {"values": values},
        "mark": _text(align, "var(--ink)", dy=-11),
        "encoding": {"x": {"value": x}, "text": _WORDS},
    }


def by_day(days: Sequence[Day], width: int) -> Spec:
    """Specify a column for each day, the oldest on the left, with the highest one named."""
    ticks = steps(max((day.value for day in days), default=Decimal(0)))
    gutter = _GUTTER + _LETTER * max(len(text) for _, text in ticks)
    room = width - gutter
    scale = {"domain": [0, ticks[-1][0]], "nice": False}
    height = {"field": "value", "type": "quantitative", "axis": None, "scale": scale}
    lines = [{"value": value, "text": text} for value, text in ticks]
    columns = [{"place": place, "value": day.value} for place, day in enumerate(days)]
    return _spec(room, _TALL, left=gutter, top=20, bottom=24) | {
        "layer": [
            {
                "data": {"values": lines},
                "mark": {"type": "rule", "color": "var(--rule)"},
                "encoding": {"y": height},
            },
            {
                "data": {"values": lines},
                "mark": _text("right", "var(--muted)", dx=-10, baseline="middle"),
                "encoding": {"x": {"value": 0}, "y": height, "text": _WORDS},
            },
            {
                "data": {"values": columns},
                "mark": {"type": "bar", "color": "var(--accent)"},
                "encoding": {"x": _across(days), "y": height},
            },
            {
                "data": {"values": _highest(days, room)},
                "mark": _text("center", "var(--ink)", dy=-5),
                "encoding": {"x": _PLACE, "y": height, "text": _WORDS},
            },
            {
                "data": {"values": _dates(days, room)},
                "mark": _text("center", "var(--muted)"),
                "encoding": {"x": _PLACE, "y": {"value": _TALL + 17}, "text": _WORDS},
            },
        ]
    }


def steps(most: Decimal) -> list[tuple[Decimal, str]]:
    """Return the lines of a scale from 0 to at least `most`, each with its text: 0, 20, 40, 60."""
    top = most or Decimal(1)
    power = Decimal(1).scaleb(top.adjusted() - 1)
    sizes = [power * factor for factor in (1, 2, 5, 10, 20, 50)]
    if top == top.to_integral_value():
        sizes = [size for size in sizes if size >= 1]
    size = next(size for size in sizes if size * _TICKS >= top)
    values = [size * count for count in range(_TICKS + 1) if size * (count - 1) < top]
    return [(value, f"{value.normalize():f}") for value in values]


def clipped(name: str, room: float) -> str:
    """Return as much of a name as fits into so many pixels, hidden characters escaped."""
    shown, most = visible(name), max(int(room / _LETTER), 8)
    ends = list(accumulate(2 if east_asian_width(letter) in "WF" else 1 for letter in shown))
    if not ends or ends[-1] <= most:
        return shown
    return shown[: bisect_right(ends, most - 1)].rstrip() + "…"


def _highest(days: Sequence[Day], room: int) -> list[Spec]:
    """Return the text above the highest column, its middle far enough from both ends."""
    if not any(day.value for day in days):
        return []
    place, day = max(enumerate(days), key=lambda each: (each[1].value, each[0]))
    half = len(day.text) * _LETTER / 2
    x = min(max(_middle(place, days, room), half), room - half)
    return [{"x": round(x, 1), "value": day.value, "text": day.text}]


def _across(days: Sequence[Day]) -> Spec:
    scale = {"paddingInner": 0.24, "paddingOuter": 0.12, "domain": [*range(_slots(days))]}
    return {"field": "place", "type": "ordinal", "axis": None, "scale": scale}


def _dates(days: Sequence[Day], room: int) -> list[Spec]:
    """Return the names of some days, evenly apart, the first and the last among them."""
    room_for = room * len(days) // (_slots(days) * _DATE_ROOM)
    count = max(min(room_for, len(days)), 1)
    gaps = max(count - 1, 1)
    places = sorted({round(number * (len(days) - 1) / gaps) for number in range(count)})
    half = _DATE_ROOM / 3
    return [
        {
            "x": round(min(_middle(place, days, room), room - half), 1),
            "text": f"{days[place].day.day} {_MONTHS[days[place].day.month - 1]}",
        }
        for place in places
    ]


def _middle(place: int, days: Sequence[Day], room: int) -> float:
    return (place + 0.5) * room / _slots(days)


def _slots(days: Sequence[Day]) -> int:
    """Return how many columns there is room for: a few days leave some on the right."""
    return max(len(days), _FEWEST)


def _text(align: str, colour: str, **more: Any) -> Spec:
    return {"type": "text", "align": align, "baseline": "alphabetic", "color": colour, **more}


def _spec(width: int, height: int, *, left: int = 0, top: int = 14, bottom: int = 0) -> Spec:
    return {
        "width": width,
        "height": height,
        "padding": {"left": left, "top": top, "right": 0, "bottom": bottom},
        "autosize": {"type": "none"},
        "background": None,
        "config": {"aria": False, "view": {"stroke": None}, "text": {"fontSize": 12}},
    }
