"""The screen: a search box, what was found, and one of it looked at.

A thread of its own asks one question after the other, so that the screen never waits; a newer one
breaks off the one before it, which is not even asked if it has not been yet. Whatever goes wrong is
said where the summary stands.
"""

from __future__ import annotations

import asyncio
import signal
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on, work
from textual.app import App
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widgets import Footer, Input, Label, OptionList, Tab, Tabs

from cardoffers_cli.answers.browse import pages, panels
from cardoffers_cli.answers.browse import pages as summaries
from cardoffers_cli.answers.browse.inquiry import Asking
from cardoffers_cli.answers.browse.pages import Line
from cardoffers_cli.answers.browse.panels import Results
from cardoffers_cli.kernel.words.errors import CardoffersError
from cardoffers_cli.kernel.words.ids import mask
from cardoffers_cli.kernel.words.texts import LOCALES
from cardoffers_cli.kernel.words.visible import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from textual.app import ComposeResult

    from cardoffers_cli.answers.browse.inquiry import Case, Hits, Inquiry

_TABS = {"why": "Why", "timeline": "Timeline", "answer": "Answer"}
_SEARCHES, _LOOKS = "searches", "looks"
"""The two kinds of questions: of each only the newest is answered."""
_SLOW_S = 0.3
"""How long a question may take before it is said that it is being asked."""
_SETTLED_S = 0.1
"""How long a row stays highlighted before it is looked at: who scrolls passes many."""


class Browser(App[int]):
    """The screen of one support person; returns the number of the signal that ended it, if any."""

    CSS_PATH = "browse.tcss"
    ENABLE_COMMAND_PALETTE = False
    TITLE = "cardoffers"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+q", "quit", "Leave", priority=True, key_display="^q")
    ]
    VERTICAL_BREAKPOINTS = [(0, "-short"), (30, "-tall")]  # noqa: RUF012 - as textual declares it

    def __init__(self, inquiry: Inquiry, query: str = "", *, has_colour: bool = True) -> None:
        super().__init__(ansi_color=True)
        self.inquiry = inquiry
        self._query = query
        self._cases: list[Case] = []
        self._locale: str | None = None
        self._is_slow = False
        self._thread = ThreadPoolExecutor(1, "asking")
        self.fault: Exception | None = None
        """What ended the screen, if nobody foresaw it."""
        theme = panels.calm(has_colour=has_colour)
        self.register_theme(theme)
        self.theme = theme.name

    def compose(self) -> ComposeResult:
        """Lay out the parts, from the top to the bottom."""
        with Horizontal(id="where"):
            yield panels.Lines(id="name")
            yield Label(id="moment", markup=False)
        with Horizontal(id="search"):
            yield Label("Search")
            yield panels.SearchBox(
                self._query, placeholder="a reference, token, merchant, amount, day"
            )
        yield panels.Lines(id="held")
        yield panels.Lines(id="said")
        yield panels.Lines(id="examples")
        with panels.Findings():
            heading = Label(id="columns", markup=False)
            yield heading
            yield Results(heading)
            with Vertical(id="case"):
                yield panels.Lines(id="glance")
                yield Tabs(*(Tab(title, id=name) for name, title in _TABS.items()), id="tabs")
                with VerticalScroll(id="page"):
                    yield panels.Lines(id="text")
        yield Footer(compact=True)

    def on_mount(self) -> None:
        """Begin where there is something to do."""
        if not self.is_headless:
            # A signal ends the screen in good order, so that the terminal is left as it was.
            loop = asyncio.get_running_loop()
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                loop.add_signal_handler(number, self.exit, int(number))
        self.query_one(Tabs).can_focus = False
        self.query_one(panels.SearchBox).focus()
        self._place()
        self._say([Line("Write what you know of the purchase, and press Enter.")])
        self.query_one("#examples", panels.Lines).show(summaries.examples())
        if not self.inquiry.institution:
            self._choose(only_if_many=True)
        elif self._query:
            self._search(self._query)

    def on_unmount(self) -> None:
        """Ask nothing more; what is being asked was stopped with the workers."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _handle_exception(self, error: Exception) -> None:
        """End, without textual's traceback: it shows the values of variables, tokens too."""
        self.fault = self.fault or error
        super()._handle_exception(error)
        self._exit_renderables.clear()

    # Questions

    async def _ask(self, question: Callable[..., Any], *words: Any) -> Any:
        """Return an answer of the one thread that asks, or None where an error was said."""
        loop = asyncio.get_running_loop()
        slow = self.set_timer(_SLOW_S, self._working)
        asking = Asking()
        answer = partial(self.inquiry.answer, asking, question, *words)
        try:
            return await loop.run_in_executor(self._thread, answer)
        except CardoffersError as error:
            self._say([Line(error.message, "strong"), Line(error.hint or "")])
        except Exception as error:  # noqa: BLE001  the screen lives on
            name = type(error).__name__
            self._say([Line(f"Unexpected error ({name}).", "strong"), Line("Try it again.")])
        finally:
            asking.stop()  # it goes on where the answer is waited for no longer
            slow.stop()
            self._is_slow = False
            if self.is_running:  # else it was the person who left
                self._place()
        return None

    @work(exclusive=True, group=_SEARCHES)
    async def _search(self, text: str) -> None:
        self.workers.cancel_group(self, _LOOKS)  # the list that is looked at will be another
        hits: Hits | None = await self._ask(self.inquiry.search, text)
        if hits is None:
            self.changed()
            return
        self._say(summaries.summary(hits))
        # No full token is left in the search box.
        token = hits.attempt.token
        if token is not None:
            self.query_one(panels.SearchBox).value = text.replace(token, mask(token))
        self._cases = [self.inquiry.case(row) for row in hits.rows]
        self.refresh_bindings()
        results = self.query_one(Results)
        results.show(hits.rows)
        self.screen.set_class(bool(hits.rows), "-found")
        (results if hits.rows else self.query_one(panels.SearchBox)).focus()

    @work(exclusive=True, group=_LOOKS)
    async def _look(self) -> None:
        """Show the highlighted row, the tab that is in front of it."""
        position = self.query_one(Results).highlighted
        if position is None or position >= len(self._cases):
            return
        await asyncio.sleep(_SETTLED_S)
        tab = self.query_one(Tabs).active or "why"
        texts = await self._ask(_told, self._cases[position], tab, self._locale)
        if texts is not None:
            glance, page = texts
            self.query_one("#glance", panels.Lines).show(glance)
            self.query_one("#text", panels.Lines).show(page)
            self.query_one("#page").scroll_home(animate=False)

    @work(exclusive=True, group=_SEARCHES)
    async def _choose(self, *, only_if_many: bool = False) -> None:
        """Let the person choose an institution."""
        slugs: list[str] | None = await self._ask(self.inquiry.institutions)
        if not slugs:
            if slugs is not None:
                hint = "`cardoffers catalog import DIR` brings them."
                self._say([Line("There is no institution yet.", "strong"), Line(hint)])
            return
        if only_if_many and len(slugs) == 1:
            self._chosen(slugs[0])
        else:
            self.push_screen(panels.Chooser(slugs), self._chosen)

    @work(exclusive=True, group=_SEARCHES)
    async def _merchants(self) -> None:
        suggested = await self._ask(self.inquiry.merchants)
        if suggested is not None:
            self.push_screen(panels.ReadingPage(pages.merchants_page(suggested)))

    def _chosen(self, slug: str | None) -> None:
        if slug is None:
            return
        self.inquiry.choose(slug)
        self._place()
        if text := self.query_one(panels.SearchBox).value:
            self._search(text)

    # What is typed and pressed

    @on(Input.Submitted)
    def submitted(self, event: Input.Submitted) -> None:
        """Search for what was typed, once it is known where."""
        if self.inquiry.institution:
            self._search(event.value)
        else:
            self._choose()

    @on(OptionList.OptionHighlighted, "#results")
    @on(Tabs.TabActivated)
    def changed(self) -> None:
        """Look at another row, or at another side of it."""
        if self._cases:
            self._look()

    @on(OptionList.OptionSelected, "#results")
    def selected(self) -> None:
        """Go on to the page of the row."""
        self.query_one("#page").focus()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer only what there is something to do for."""
        match action:
            case "stop":
                return self._is_slow
            case "focus":
                return bool(self._cases)
            case _:
                return super().check_action(action, parameters)

    def action_tab(self, name: str) -> None:
        """Bring a tab to the front."""
        self.query_one(Tabs).active = name

    def action_language(self) -> None:
        """Show the answer in the next language."""
        last = self._locale or LOCALES[-1]
        self._locale = LOCALES[(LOCALES.index(last) + 1) % len(LOCALES)]
        self.action_tab("answer")
        self._look()

    def action_copy(self) -> None:
        """Put what the tab shows into the terminal's clipboard."""
        self.copy_to_clipboard(self.query_one("#text", panels.Lines).text)
        self.notify("Copied, if your terminal allows it.", timeout=2)

    def action_stop(self) -> None:
        """Wait no longer for an answer."""
        for group in (_SEARCHES, _LOOKS):
            self.workers.cancel_group(self, group)
        if self._is_slow:
            self._say([Line("Stopped waiting.")])

    def action_search(self) -> None:
        """Go back to the search box."""
        self.action_stop()
        self.query_one(panels.SearchBox).focus()

    def action_institution(self) -> None:
        """Choose another institution."""
        self._choose()

    def action_help(self) -> None:
        """Tell every key."""
        bound = [item for item in (*panels.SEARCHING, *panels.LOOKING) if item.show]
        keys = [(item.key_display or item.key, item.tooltip or item.description) for item in bound]
        more = [("m", "Unknown merchants, and which they may be"), ("q, ^q", "Leave")]
        lines = [
            *pages.examples(),
            pages.EMPTY,
            Line("Keys", "title"),
            *(pages.pair(key, meaning, 10) for key, meaning in [*keys, *more]),
            pages.EMPTY,
            Line("Nothing here changes anything. The store is open only while a question is"),
            Line("answered; while somebody else holds it, the snapshot is read, and says so."),
        ]
        self.push_screen(panels.ReadingPage(lines))

    def action_merchants(self) -> None:
        """Show which merchants unknown identifiers may be of."""
        self._merchants()

    # What is shown

    def _say(self, lines: Iterable[Line]) -> None:
        self.query_one("#said", panels.Lines).show(lines)

    def _working(self) -> None:
        self._is_slow = True
        self.query_one("#moment", Label).update("looking…")
        self.refresh_bindings()

    def _place(self) -> None:
        """Say where we are, and of when the answers are."""
        source = self.inquiry.source
        slug = visible(self.inquiry.institution)
        self.query_one("#name", panels.Lines).show([Line(f"cardoffers  {slug}")])
        self.query_one("#moment", Label).update(summaries.moment(source))
        self.refresh_bindings()
        label = self.query_one("#held", panels.Lines)
        label.display = source.snapshot_at is not None
        label.show(summaries.age(source))


def _told(case: Case, tab: str, locale: str | None) -> tuple[list[Line], list[Line]]:
    """Return what is told of a case at a glance, and on one of its tabs."""
    by_tab = {"timeline": pages.timeline_page(case), "answer": pages.answer_page(case, locale)}
    return list(pages.glance(case)), list(by_tab.get(tab) or pages.why_page(case))
