"""The parts of the screen: its look and its keys, lines, lists to choose from, and dialogs.

The look is the terminal's own colours and one accent, so that it is right on dark and on light. The
highlighted line of a list has a mark, for whoever sees no colour. What was found is one line each,
in columns that give way to the width there is.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.theme import BUILTIN_THEMES, Theme
from textual.widgets import Footer, Input, OptionList, Static

from cardoffers_cli.answers.browse.pages import Line, broken
from cardoffers_cli.kernel.words.money import money_text
from cardoffers_cli.kernel.words.visible import shortened, visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from textual import events
    from textual.app import ComposeResult
    from textual.widgets import Label

    from cardoffers_cli.answers.browse.inquiry import FoundOne


_LOOKS = {"plain": "", "title": "bold $accent", "strong": "bold", "faint": "dim"}


def content(lines: Iterable[Line], width: int) -> Content:
    """Return lines as they look, broken at a width; nothing in them is read as markup."""
    return Content("\n").join(
        Content.styled(line.text, _LOOKS[line.tone]) for line in broken(lines, max(width, 20))
    )


class Lines(Static):
    """Lines of text, broken anew when the width changes."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  textual's name
        super().__init__(id=id, markup=False)
        self._told: Sequence[Line] = ()

    def show(self, lines: Iterable[Line]) -> None:
        """Show other lines."""
        self._told = tuple(replace(line, text=visible(line.text)) for line in lines)
        self._draw()

    @property
    def text(self) -> str:
        """The words, unbroken, to be pasted elsewhere."""
        return "\n".join(line.text for line in self._told)

    def on_resize(self, _event: events.Resize) -> None:
        """Break the lines where the width is now."""
        self._draw()

    def _draw(self) -> None:
        self.update(content(self._told, self.size.width or self.app.size.width))


class Dialog(ModalScreen[str | None]):
    """A whole screen before the other, until Escape."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "Back", key_display="Esc"),
        Binding("ctrl+q", "app.quit", "Leave", key_display="^q"),
    ]


class ReadingPage(Dialog):
    """Lines to read."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("q,question_mark,m", "dismiss", show=False)]

    def __init__(self, lines: Iterable[Line]) -> None:
        super().__init__()
        self._told = tuple(lines)

    def compose(self) -> ComposeResult:
        """Lay out the page."""
        lines = Lines()
        with VerticalScroll():
            yield lines
        yield Footer(compact=True)
        lines.show(self._told)


class Chooser(Dialog):
    """Which institution to look at."""

    def __init__(self, slugs: Sequence[str]) -> None:
        super().__init__()
        self._slugs = slugs

    def compose(self) -> ComposeResult:
        """Lay out the page."""
        with VerticalScroll(can_focus=False):
            yield Static("Which institution?", markup=False)
            yield Choices()
        yield Footer(compact=True)

    def on_mount(self) -> None:
        """Offer the institutions."""
        self.query_one(Choices).offer(map(shortened, self._slugs))

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Close with the one that was chosen."""
        self.dismiss(self._slugs[event.option_index])


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


def calm(*, has_colour: bool) -> Theme:
    """Return the terminal's own colours with one accent, or with none."""
    ansi = BUILTIN_THEMES["ansi-dark"]
    accent = "ansi_cyan" if has_colour else "ansi_default"
    cursor = "ansi_black" if has_colour else "ansi_default"
    plain = {name: "ansi_default" for name in ansi.variables if not name.endswith("style")}
    return replace(
        ansi,
        name="calm",
        primary=accent,
        secondary=accent,
        accent=accent,
        warning=accent,
        error=accent,
        success=accent,
        variables={
            **ansi.variables,
            **plain,
            "block-cursor-background": accent,
            "block-cursor-foreground": cursor,
            "scrollbar": accent,
            "scrollbar-hover": accent,
            "scrollbar-active": accent,
            "scrollbar-background": "ansi_default",
            "scrollbar-background-hover": "ansi_default",
            "scrollbar-background-active": "ansi_default",
        },
    )


SEARCHING = (
    Binding("enter", "submit", "Search", key_display="⏎"),
    Binding("down", "app.focus('results')", "To the list", key_display="↓"),
    Binding("escape", "app.stop", "Stop waiting", key_display="Esc"),
    Binding("f1", "app.help", "Help", key_display="F1"),
)
"""The keys of the search box, where letters are letters."""

LOOKING = (
    Binding("slash,escape", "app.search", "Search", key_display="/"),
    Binding("question_mark,f1", "app.help", "Help", key_display="?"),
    Binding("w", "app.tab('why')", "Why", tooltip="Why it redeemed, or did not"),
    Binding("t", "app.tab('timeline')", "Timeline", tooltip="Everything that happened"),
    Binding("a", "app.tab('answer')", "Answer", tooltip="What the cardholder may be told"),
    Binding("c", "app.copy", "Copy", tooltip="Copy what the tab shows"),
    Binding("l", "app.language", "Language", tooltip="The answer in the next language"),
    Binding("i", "app.institution", "Inst.", tooltip="Another institution"),
    Binding("m", "app.merchants", "Merchants", show=False),
    Binding("q", "app.quit", "Leave", show=False),
)
"""The keys of what was found."""


class SearchBox(Input):
    """Where a person types what is looked for."""

    BINDINGS: ClassVar[list[BindingType]] = [*SEARCHING]


class Findings(Vertical):
    """What was found and the one looked at; letters are commands here."""

    BINDINGS: ClassVar[list[BindingType]] = [*LOOKING]


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
    "state": lambda row: str(row.get("story") or row["state"]).replace("_", " "),
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
        *fixed, ref, merchant = (
            max(Content(cell).cell_length for cell in cells)
            for cells in zip(COLUMNS, *self._cells, strict=True)
        )
        room = (self.scrollable_content_region.width or self.app.size.width) - len(MARK)
        room -= sum(fixed) + _GAP * len(fixed)
        both = room - _GAP
        if both < 2 * _READABLE:
            widths = [*fixed, max(room, 1), 0]
        else:
            ref = min(ref, max(both // 2, both - merchant))
            widths = [*fixed, ref, min(merchant, both - ref)]
        self._heading.update(" " * len(MARK) + _line(COLUMNS, widths))
        return [_line(cells, widths) for cells in self._cells]


def _line(cells: Iterable[str], widths: Sequence[int]) -> str:
    """Return cells in line: amounts to the right, the others to the left."""
    parts = []
    for name, cell, width in zip(COLUMNS, cells, widths, strict=True):
        content = Content(cell).truncate(width, ellipsis=True)
        space = width - content.cell_length
        parts.append(content.pad_left(space) if name == "amount" else content.pad_right(space))
    return (" " * _GAP).join(part.plain for part in parts).rstrip()
