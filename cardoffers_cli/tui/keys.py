"""The keys, and the two parts of the screen that they are of."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Input

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
    Binding("q", "app.quit", "Leave", show=False),
)
"""The keys of what was found."""


class SearchBox(Input):
    """Where a person types what is looked for."""

    BINDINGS: ClassVar[list[BindingType]] = [*SEARCHING]


class Findings(Vertical):
    """What was found and the one looked at; letters are commands here."""

    BINDINGS: ClassVar[list[BindingType]] = [*LOOKING]
