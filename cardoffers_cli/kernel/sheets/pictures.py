"""Pictures of a page: bars that are named, and columns by day; what `picture.svg.j2` draws.

Everything here is where a mark stands and what is written beside it. Across, places are shares of
the picture's width, so that one drawing fits every page; down, they are pixels. Colours are names
of the style's, so that they change with light, dark and paper. Amounts come as the texts that
tables show; only lengths are computed. What has fewer than three points is no picture, but a
sentence.

Rows are added up by currency, and by day: up to nine weeks stay days, up to fourteen months become
weeks that begin on Monday, the rest become months. Cardholders are counted on each of their days:
their sums over a longer period are left out.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from decimal import Decimal
from itertools import accumulate, groupby, pairwise
from typing import TYPE_CHECKING, Any
from unicodedata import east_asian_width

from cardoffers_cli.kernel.sheets.sheets import guard
from cardoffers_cli.kernel.words.sentences import day_text, listed, month_text, short_day_text
from cardoffers_cli.kernel.words.visible import shortened, visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from cardoffers_cli.kernel.sheets.sheets import Row, Rows


if TYPE_CHECKING:
    Marks = Mapping[str, Any]

FEWEST = 3
"""Points of a picture at least."""
MOST_BARS = 8
LINE = 40
"""Pixels from one named bar to the next."""
TALL = 132
_NARROW = 340
"""Pixels of the narrowest picture, for the names that would be too long for it."""
_WIDE = 640
_LETTER = 6.5
"""Pixels of a letter of a label, as well as one can tell without its typeface."""
_OF_SCALE, _BESIDE_SCALE = 7, 14
"""Pixels of a letter of the scale beside columns, as the template has it, and between the two."""
_APART = 4
_TICKS = 4
_LABELS = 6
_FEWEST_SLOTS = 8
_FILLED = 0.76
"""The part of its slot that a column takes."""


@dataclass(frozen=True)
class Bar:
    """A bar with its name and the text of its figure; parts are shares of the full length.

    `mark` is where a line crosses the bar, such as the plan of a budget.
    """

    name: str
    text: str
    parts: Sequence[tuple[Decimal, str]]
    mark: Decimal | None = None


@dataclass(frozen=True)
class Point:
    """A column: its name and its short name, its height, and the text of that."""

    name: str
    label: str
    value: Decimal
    text: str
    is_marked: bool = False


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A picture: what it shows, what its figures are, the same in a sentence, and its marks.

    `form` names the macro that draws it. `keys` name the colours by their style, if there is more
    than one.
    """

    form: str
    title: str
    subtitle: str
    says: str
    marks: Marks
    keys: Mapping[str, str] = field(default_factory=dict)


def bars(title: str, rows: Sequence[Bar], *, subtitle: str = "") -> Picture | str:
    """Draw the first bars one below the other, each under its name and its figure."""
    first = [replace(row, name=guard(row.name)) for row in rows[:MOST_BARS]]
    if len(first) < FEWEST:
        return _sentence(title, [f"{shortened(row.name)}, {row.text}" for row in first])
    return Picture(
        form="bars",
        title=title,
        subtitle=subtitle,
        says="; ".join(f"{shortened(row.name)}: {row.text}" for row in first) + ".",
        marks={"height": LINE * len(first), "is_flat": False, "bars": [_bar(row) for row in first]},
    )


def beside(
    title: str, figures: Sequence[tuple[str, str, Any]], *, subtitle: str = ""
) -> Picture | str:
    """Draw the first figures as bars, each as long as it is beside the largest.

    A figure has a name, its text and its amount; a length is for the eye, no figure.
    """
    most = max((Decimal(amount) for _, _, amount in figures), default=Decimal(0))
    rows = [
        Bar(name, text, [(max(amount / most, Decimal(0)) if most else Decimal(0), "accent")])
        for name, text, amount in figures
    ]
    return bars(title, rows, subtitle=subtitle)


def whole(
    title: str, parts: Sequence[tuple[str, int, str]], *, subtitle: str = ""
) -> Picture | str:
    """Draw one bar of parts, each with its name, its count and its colour; of what is there."""
    there = [part for part in parts if part[1]]
    texts = [f"{name} {count:,}" for name, count, _ in there]
    if len(there) < FEWEST:
        return _sentence(title, texts)
    in_all = sum(count for _, count, _ in there)
    lengths = [(Decimal(count) / in_all, colour) for _, count, colour in there]
    return Picture(
        form="bars",
        title=title,
        subtitle=subtitle,
        says=f"{'; '.join(texts)}.",
        marks={"height": 8, "is_flat": True, "bars": [_bar(Bar("", "", lengths))]},
        keys={f"{name} {count:,}": colour for name, count, colour in there},
    )


def columns(
    title: str, points: Sequence[Point], *, subtitle: str = "", usual: Decimal | None = None
) -> Picture | str:
    """Draw a column for each point from left to right, the highest named; `usual` is a line.

    Points of nothing keep their places, and are no points of a picture.
    """
    there = [point for point in points if point.value]
    if len(there) < FEWEST:
        return _sentence(title, [f"{point.text} on {point.name}" for point in there])
    most = max(points, key=lambda point: point.value)
    ticks = steps(most.value)
    top = ticks[-1][0]
    gutter = max(len(text) for _, text in ticks)
    return Picture(
        form="columns",
        title=title,
        subtitle=subtitle,
        says=(
            f"From {points[0].name} to {points[-1].name}."
            f" The most, {most.text}, on {most.name}; the last, {points[-1].text}."
        ),
        marks={
            "height": TALL,
            "gutter": gutter,
            "lines": [{"y": _down(value, top), "text": text} for value, text in ticks],
            "usual": None if usual is None else _down(min(usual, top), top),
            "columns": [_column(points, place, top) for place in range(len(points))],
            "labels": _labels(points, gutter),
            "highest": _highest(points, top),
        },
    )


def line(title: str, values: Sequence[Decimal | int], text: str) -> Picture | str:
    """Draw values as a small line, the oldest on the left; `text` is the last of them."""
    if len(values) < FEWEST:
        return ""
    most = Decimal(max(*values, 1))
    points = [
        f"{_places(Decimal(place) * 100 / (len(values) - 1))},{_places(30 - 30 * value / most)}"
        for place, value in enumerate(map(Decimal, values))
    ]
    highest, least = max(values), min(values)
    return Picture(
        form="line",
        title=title,
        subtitle=f"{text} last, {least:,} to {highest:,} in all",
        says=f"{len(values)} values; the last is {text}, the most {highest:,},"
        f" the least {least:,}.",
        marks={"height": 34, "points": " ".join(points)},
    )


def pictured(*drawn: Picture | str) -> list[Picture]:
    """Return those that are pictures, for a section whose table says what a sentence would."""
    return [picture for picture in drawn if isinstance(picture, Picture)]


def _sentence(title: str, texts: Sequence[str]) -> str:
    return f"{title}: {listed(texts, otherwise='none')}." if texts else ""


def _bar(row: Bar) -> Marks:
    ends = list(accumulate(share for share, _ in row.parts))
    parts = [
        {"x": _across(end - share), "width": _across(share), "fill": colour}
        for end, (share, colour) in zip(ends, row.parts, strict=True)
        if share > 0
    ]
    room = _LETTER * (len(row.text) + 2)
    return {
        "wide": clipped(row.name, _WIDE - room),
        "narrow": clipped(row.name, _NARROW - room),
        "text": row.text,
        "parts": parts,
        "mark": None if row.mark is None else _across(min(row.mark, Decimal(1))),
    }


def _column(points: Sequence[Point], place: int, top: Decimal) -> Marks:
    point, slot = points[place], Decimal(100) / _slots(points)
    y = _down(point.value, top)
    return {
        "x": _places((place + (1 - Decimal(_FILLED)) / 2) * slot),
        "width": _places(slot * Decimal(_FILLED)),
        "y": y,
        "height": _places(TALL - Decimal(y)),
        "fill": "strong" if point.is_marked else "accent",
        "says": f"{point.name}: {point.text}",
    }


def _labels(points: Sequence[Point], gutter: int) -> list[Marks]:
    """Return the names of some columns, the first and the last among them, as many as have room."""
    width = _NARROW - gutter * _OF_SCALE - _BESIDE_SCALE
    for count in range(min(_LABELS, len(points)), 1, -1):
        labels = list(_spread(points, count))
        ends = [_ends(label, width) for label in labels]
        if all(right + _APART <= start for (_, right), (start, _) in pairwise(ends)):
            return labels
    return list(_spread(points, 1))


def _spread(points: Sequence[Point], count: int) -> Iterator[Marks]:
    gaps = max(count - 1, 1)
    for place in sorted({round(number * (len(points) - 1) / gaps) for number in range(count)}):
        is_last = place == _slots(points) - 1 and len(points) > _FEWEST_SLOTS
        yield {
            "x": "100" if is_last else _middle(points, place),
            "anchor": "end" if is_last else "middle",
            "text": points[place].label,
        }


def _ends(label: Marks, width: float) -> tuple[float, float]:
    """Return the pixels where a label begins and ends."""
    x, length = float(label["x"]) * width / 100, len(label["text"]) * _LETTER
    return (x - length, x) if label["anchor"] == "end" else (x - length / 2, x + length / 2)


def _highest(points: Sequence[Point], top: Decimal) -> Marks:
    """Return the text above the highest column, which stays inside of the picture."""
    place, most = max(enumerate(points), key=lambda item: (item[1].value, item[0]))
    x = float(_middle(points, place))
    anchor = "start" if x < 15 else "end" if x > 85 else "middle"  # noqa: PLR2004  percent
    y = _down(most.value, top)
    return {"x": _places(Decimal(x)), "y": y, "anchor": anchor, "text": most.text}


def _middle(points: Sequence[Point], place: int) -> str:
    return _places((place + Decimal("0.5")) * 100 / _slots(points))


def _slots(points: Sequence[Point]) -> int:
    """Return how many columns there is room for: a few leave some on the right."""
    return max(len(points), _FEWEST_SLOTS)


def steps(most: Decimal) -> list[tuple[Decimal, str]]:
    """Return the lines of a scale from 0 to at least `most`, each with its text: 0, 20, 40, 60."""
    top = most or Decimal(1)
    power = Decimal(1).scaleb(top.adjusted() - 1)
    sizes = [power * factor for factor in (1, 2, 5, 10, 20, 50)]
    if top == top.to_integral_value():
        sizes = [size for size in sizes if size >= 1]
    size = next(size for size in sizes if size * _TICKS >= top)
    values = [size * count for count in range(_TICKS + 1) if size * (count - 1) < top]
    return [(value, f"{value.normalize():,f}") for value in values]


def clipped(name: str, room: float) -> str:
    """Return as much of a name as fits into so many pixels, hidden characters escaped."""
    text, most = visible(name), max(int(room / _LETTER), 8)
    ends = list(accumulate(2 if east_asian_width(letter) in "WF" else 1 for letter in text))
    if not ends or ends[-1] <= most:
        return text
    return text[: bisect_right(ends, most - 1)].rstrip() + "…"


def _across(share: Decimal) -> str:
    return _places(max(min(share, Decimal(1)), Decimal(0)) * 100)


def _down(value: Decimal, top: Decimal) -> str:
    return _places(TALL * (1 - value / top))


def _places(number: Decimal) -> str:
    """Write a place as exact as an eye is."""
    return f"{round(float(number), 2) + 0:g}"  # and never -0


_DAYS, _WEEKS = 63, 430
_NOT_ADDED = {"unique_cardholders"}


def periods(rows: Rows) -> tuple[str, Sequence[Mapping[str, Any]]]:
    """Return what the rows are of (`day`, `week`, `month`), and the rows of each, the oldest first.

    Each has `first`, its first day, `label`, its name, and `currency` if the rows have; the rest is
    added up. There is a row for each currency of each period.
    """
    if not rows:
        return "day", []
    days = [day if isinstance(day := row["day"], date) else date.fromisoformat(day) for row in rows]
    span = (max(days) - min(days)).days + 1
    unit = "day" if span <= _DAYS else "week" if span <= _WEEKS else "month"

    def key(dated: tuple[date, Row]) -> tuple[date, str]:
        return _STARTS[unit](dated[0]), dated[1].get("currency") or ""

    ordered = sorted(zip(days, rows, strict=True), key=lambda pair: (*key(pair), pair[0]))
    groups = [
        _added(unit, first, [row for _, row in group])
        for (first, _), group in groupby(ordered, key=key)
    ]
    return unit, groups


def _added(unit: str, first: date, rows: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    sums = {
        name: sum(row[name] for row in rows)
        for name, value in rows[0].items()
        if isinstance(value, (int, Decimal)) and (unit == "day" or name not in _NOT_ADDED)
    }
    return {
        "first": first,
        "label": month_text(first) if unit == "month" else first.isoformat(),
        **({"currency": rows[0]["currency"]} if "currency" in rows[0] else {}),
        **sums,
    }


def drawn_by_day(
    title: str,
    rows: Rows,
    name: str,
    *,
    subtitle: str = "",
    text: Callable[[Any], str] | None = None,
) -> Picture | str:
    """Draw one value of the rows of `periods` from left to right, added up over currencies."""
    points = []
    is_long = bool(rows) and (rows[-1]["first"] - rows[0]["first"]).days > _DAYS
    for first, group in groupby(rows, key=lambda row: row["first"]):
        same = list(group)
        value = sum((Decimal(row[name]) for row in same), Decimal(0))
        label = same[0]["label"]
        is_month = not label[:1].isdigit()
        year = f" {first.year}" if is_long else ""
        points.append(
            Point(
                name=label if is_month else f"{day_text(first)}{year}",
                label=short_day_text(first).partition(" ")[2] + f" {first.year}"
                if is_month
                else f"{short_day_text(first)}{year}",
                value=max(value, Decimal(0)),
                text=text(value) if text else f"{value:,}",
            )
        )
    return columns(title, points, subtitle=subtitle)


_STARTS: dict[str, Callable[[date], date]] = {
    "day": lambda day: day,
    "week": lambda day: day - timedelta(days=day.weekday()),
    "month": lambda day: day.replace(day=1),
}


def firsts(rows: Sequence[Row]) -> list[Row]:
    """Return the first row of each currency, which may have the figures of all of it."""
    by_currency: dict[str, Row] = {}
    for row in rows:
        by_currency.setdefault(row["currency"], row)
    return list(by_currency.values())


def summed(rows: Sequence[Row], name: str) -> dict[str, Decimal]:
    """Return the sum of an amount by currency."""
    sums: dict[str, Decimal] = {}
    for row in rows:
        sums[row["currency"]] = sums.get(row["currency"], Decimal(0)) + row[name]
    return sums
