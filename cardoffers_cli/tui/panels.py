"""The parts of the screen that show lines, and the dialogs before it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Footer, OptionList, Static

from cardoffers_cli.domain.visible import shortened, visible
from cardoffers_cli.tui.choices import Choices
from cardoffers_cli.tui.lines import EMPTY, Line, broken, pair
from cardoffers_cli.tui.summaries import examples

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from textual import events
    from textual.app import ComposeResult

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


class Help(Dialog):
    """What can be typed, and every key."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("q,question_mark", "dismiss", show=False)]

    def __init__(self, keys: Sequence[tuple[str, str]]) -> None:
        super().__init__()
        self._keys = keys

    def compose(self) -> ComposeResult:
        """Lay out the page."""
        lines = Lines()
        with VerticalScroll():
            yield lines
        yield Footer(compact=True)
        lines.show(self._page())

    def _page(self) -> Iterable[Line]:
        yield from examples()
        yield EMPTY
        yield Line("Keys", "title")
        yield from (pair(key, meaning, 10) for key, meaning in self._keys)
        yield EMPTY
        yield Line("Nothing here changes anything. The store is open only while a question is")
        yield Line("answered; while somebody else holds it, the snapshot is read, and says so.")


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
