"""A list to choose from, whose highlighted line has a mark, for whoever sees no colour."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content
from textual.widgets import OptionList

if TYPE_CHECKING:
    from collections.abc import Iterable

MARK = "▸ "


class Choices(OptionList):
    """Lines of text, one of them highlighted; nothing in them is read as markup."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - textual's name
        super().__init__(id=id, markup=False, compact=True)
        self._texts: list[Content] = []

    def offer(self, lines: Iterable[str]) -> None:
        """Offer other lines, the first of them highlighted."""
        self._texts = []  # whatever is marked meanwhile is not there any more
        self.clear_options()
        self._texts = [Content(line) for line in lines]
        self.add_options(self._texts)
        self.highlighted = 0 if self._texts else None

    def rewrite(self, lines: Iterable[str]) -> None:
        """Write the same choices in other words, and leave the highlight where it is."""
        self._texts = [Content(line) for line in lines]
        self._mark()

    def watch_highlighted(self, highlighted: int | None) -> None:
        """Move the mark along."""
        self._mark()
        super().watch_highlighted(highlighted)

    def _mark(self) -> None:
        for position, text in enumerate(self._texts):
            mark = MARK if position == self.highlighted else " " * len(MARK)
            self.replace_option_prompt_at_index(position, mark + text)
