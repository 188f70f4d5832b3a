"""The list of what was found: one line each, in columns that give way to the width there is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from cardoffers_cli.answers.browse.panels import MARK, Choices
from cardoffers_cli.kernel.words.money import money_text
from cardoffers_cli.kernel.words.visible import shortened

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from textual import events
    from textual.widgets import Label

    from cardoffers_cli.answers.browse.inquiry import FoundOne

_GAP = 2
"""Letters between two columns."""
_MOST = 64
"""Letters of a cell that the widest screen has room for."""


def _day(row: FoundOne) -> str:
    moment = row.get("transacted_at") or row.get("received_at")
    return f"{moment:%Y-%m-%d}" if moment else ""


def _amount(row: FoundOne) -> str:
    return money_text(row["amount"], row["currency"]) if row.get("amount") is not None else ""


COLUMNS: dict[str, Callable[[FoundOne], str]] = {
    "day": _day,
    "amount": _amount,
    "state": lambda row: str(row["state"]).replace("_", " "),
    "reference": lambda row: row.get("transaction_ref") or row.get("id") or "(none)",
    "merchant": lambda row: (
        row.get("merchant_name")
        or row.get("merchant_descriptor")
        or row.get("merchant_identifier")
        or (row.get("code") or "").replace("_", " ")
    ),
}
"""The columns, and the text of each of a row."""
_READABLE = 8
"""Letters a reference and a merchant are cut to, before the merchant is left out."""


class Results(Choices):
    """What was found; the highlighted one is shown below it."""

    def __init__(self, heading: Label) -> None:
        super().__init__(id="results")
        self._heading = heading
        self._cells: list[list[str]] = []

    def show(self, rows: Sequence[FoundOne]) -> None:
        """Show other rows, and the names of the columns over them."""
        self._cells = [
            [shortened(column(row), _MOST) for column in COLUMNS.values()] for row in rows
        ]
        self.offer(self._laid_out())

    def on_resize(self, _event: events.Resize) -> None:
        """Give the columns the room there is now."""
        self.rewrite(self._laid_out())

    def _laid_out(self) -> list[str]:
        """Return the lines, and write their heading."""
        widths = self._widths()
        self._heading.update(" " * len(MARK) + _line(COLUMNS, widths))
        return [_line(cells, widths) for cells in self._cells]

    def _widths(self) -> list[int]:
        """Return the widths of the columns; one of 0 is left out."""
        *fixed, ref, merchant = (
            max(Content(cell).cell_length for cell in cells)
            for cells in zip(COLUMNS, *self._cells, strict=True)
        )
        room = (self.scrollable_content_region.width or self.app.size.width) - len(MARK)
        room -= sum(fixed) + _GAP * len(fixed)
        both = room - _GAP
        if both < 2 * _READABLE:
            return [*fixed, max(room, 1), 0]
        ref = min(ref, max(both // 2, both - merchant))
        return [*fixed, ref, min(merchant, both - ref)]


def _line(cells: Iterable[str], widths: Sequence[int]) -> str:
    """Return cells in line: amounts to the right, the others to the left."""
    parts = []
    for name, cell, width in zip(COLUMNS, cells, widths, strict=True):
        content = Content(cell).truncate(width, ellipsis=True)
        space = width - content.cell_length
        parts.append(content.pad_left(space) if name == "amount" else content.pad_right(space))
    return (" " * _GAP).join(part.plain for part in parts).rstrip()
