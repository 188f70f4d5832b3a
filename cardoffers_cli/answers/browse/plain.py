"""The same without a screen: a conversation in plain lines, for ears, pipes and dumb terminals.

Nothing moves, nothing is coloured or boxed: what was found is numbered, and a word brings the next
answer. What is read may be typed or sent; the end of it ends the conversation. A thread of its own
asks, so that Ctrl-C is heard at once: it breaks off a question, and else ends the conversation.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Any

from cardoffers_cli.answers.browse import pages
from cardoffers_cli.answers.browse import pages as summaries
from cardoffers_cli.answers.browse.inquiry import Asking
from cardoffers_cli.answers.browse.pages import Line, broken
from cardoffers_cli.kernel.words.errors import CardoffersError, Interrupted
from cardoffers_cli.kernel.words.texts import LOCALES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from contextlib import AbstractContextManager

    from cardoffers_cli.answers.browse.inquiry import Case, Inquiry

HELP = (
    Line("Write what is looked for, and then:"),
    Line("a number  looks at what has it"),
    Line("w         tells why it redeemed, or did not"),
    Line("t         tells everything that happened"),
    Line("a         tells what the cardholder may be told; a es names the offer in Spanish"),
    Line("m         tells which merchants unknown identifiers may be of"),
    Line("i         asks for another institution; i SLUG takes it"),
    Line("h         says this"),
    Line("q         leaves"),
)

_HEARD_S = 0.1
"""How long Ctrl-C may go unheard."""

_FIRST = "Search, or h for help, q to leave:"
_NEXT = "A number, w why, t timeline, a answer, q to leave, or search again:"


class Talk:
    """One conversation: `read` gives the next line or None at the end, `say` and `ask` tell.

    `on_ctrl_c` makes Ctrl-C, in a block, call what it is given. With a `width` lines are broken
    between words, as a terminal would not.
    """

    def __init__(
        self,
        inquiry: Inquiry,
        read: Callable[[], str | None],
        say: Callable[[str], None],
        ask: Callable[[str], None],
        *,
        on_ctrl_c: Callable[[Callable[[], None]], AbstractContextManager[None]],
        width: int | None = None,
    ) -> None:
        self._width = width
        self._inquiry = inquiry
        self._read = read
        self._say = say
        self._ask = ask
        self._on_ctrl_c = on_ctrl_c
        self._thread = ThreadPoolExecutor(1, "asking")
        self._cases: list[Case] = []
        self._case: Case | None = None
        self.failures = 0

    def run(self, query: str = "") -> None:
        """Talk until somebody leaves; `query` is searched first."""
        with self._thread:
            self._run(query)

    def _run(self, query: str) -> None:
        if not self._inquiry.institution:
            self._answer("i")
        if query:
            self._answer(query)
        while (line := self._heard(_NEXT if self._cases else _FIRST)) is not None:
            if line == "q":
                return
            if line:
                self._answer(line)

    def _heard(self, prompt: str) -> str | None:
        self._ask(prompt)
        line = self._read()
        return None if line is None else line.strip()

    def _answer(self, line: str) -> None:
        """Say the answer to a line, or what is wrong."""
        word, _, slug = line.partition(" ")
        try:
            if word == "i":
                named = slug.strip()
                slugs = self._asked(self._inquiry.institutions)
                if not named and len(slugs) > 1:
                    self._tell(Line(f"{number}. {slug}") for number, slug in enumerate(slugs, 1))
                    named = self._heard("Institution, by its number or its slug:") or ""
                if named.isdecimal() and 0 < int(named) <= len(slugs):
                    named = slugs[int(named) - 1]
                self._inquiry.choose(named or next(iter(slugs), ""))
                self._tell([Line(f"Institution: {self._inquiry.institution or 'none yet'}")])
            else:
                self._tell(self._asked(self._told, line))
        except Interrupted:
            self._tell([Line("Stopped.")])
        except CardoffersError as error:
            self.failures += 1
            self._tell([Line(f"Error: {error.message}")])
            self._tell([Line(f"Hint: {error.hint}")] if error.hint else [])

    def _asked(self, question: Callable[..., Any], *words: Any) -> Any:
        """Return an answer of the thread that asks; raise `Interrupted` after Ctrl-C."""
        asking = Asking()
        try:
            with self._on_ctrl_c(asking.stop):
                answer = self._inquiry.answer
                future = self._thread.submit(answer, asking, question, *words)
                while not future.done():  # one long wait may sleep through a signal
                    wait([future], timeout=_HEARD_S)
                return future.result()
        finally:
            asking.stop()  # it goes on where a signal ends the conversation

    def _tell(self, lines: Iterable[Line]) -> None:
        for line in lines if self._width is None else broken(lines, self._width):
            self._say(line.text)

    def _told(self, line: str) -> list[Line]:
        word, _, locale = line.partition(" ")
        if word in {"h", "?"}:
            return [*HELP, *summaries.examples()]
        if line == "m":
            return [*pages.merchants_page(self._inquiry.merchants())]
        if line.isdecimal() and 0 < int(line) <= len(self._cases):
            self._case = self._cases[int(line) - 1]
            return [*self._page("w", None, pages.glance(self._case))]
        if line in {"w", "t"} or (word == "a" and (not locale or locale in LOCALES)):
            return [*self._page(word, locale or None)]
        return [*self._search(line)]

    def _page(self, name: str, locale: str | None, before: Iterable[Line] = ()) -> Iterator[Line]:
        if self._case is None:
            yield Line("Search first, then write the number of what is to be looked at.")
            return
        yield from before
        match name:
            case "w":
                yield from pages.why_page(self._case)
            case "t":
                yield from pages.timeline_page(self._case)
            case _:
                yield from pages.answer_page(self._case, locale)
        yield from summaries.age(self._inquiry.source)

    def _search(self, text: str) -> Iterator[Line]:
        hits = self._inquiry.search(text)
        self._cases = [self._inquiry.case(row) for row in hits.rows]
        self._case = self._cases[0] if len(self._cases) == 1 else None
        yield from summaries.summary(hits)
        yield Line(summaries.moment(self._inquiry.source))
        yield from summaries.age(self._inquiry.source)
        for number, row in enumerate(hits.rows, 1):
            yield Line(f"{number}. {summaries.item(row)}")
