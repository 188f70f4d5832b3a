"""What was asked of a page: of whom and of which time, in words and as a command.

The command writes every row to a file, where a page has the first of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cardoffers_cli.kernel.words.moments import format_brief, format_moment
from cardoffers_cli.kernel.words.sentences import date_text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime


@dataclass(frozen=True, kw_only=True)
class ReportScope:
    """What a report is restricted to, None by nothing.

    `is_usual` says that nobody chose the window.
    """

    as_of: datetime
    institution: str | None = None
    status: str | None = None
    from_at: datetime | None = None
    to_at: datetime | None = None
    is_usual: bool = False

    def titled(self, name: str) -> str:
        """Return the title of a page."""
        return f"{name} of {self.institution}" if self.institution else name

    @property
    def time(self) -> str:
        """The window in a sentence, `in the 30 days up to 1 October 2026`; nothing without one.

        It is told in days; `said` has its moments.
        """
        if self.is_usual and self.from_at:
            days = ((self.to_at or self.as_of) - self.from_at).days
            return f"in the {days} days up to {date_text(self.to_at or self.as_of)}"
        bounds = [
            f"{word} {date_text(moment)}"
            for word, moment in (("from", self.from_at), ("up to", self.to_at))
            if moment
        ]
        return " ".join(bounds)

    @property
    def ending(self) -> str:
        """The window as the end of a sentence, with the blank before it."""
        return f" {self.time}" if self.time else ""

    def said(self, what: str) -> Iterator[str]:
        """Yield in words what the page is restricted to; `what` the window is of."""
        bounds = [
            f"{word} {format_brief(moment)}"
            for word, moment in (("from", self.from_at), ("up to", self.to_at or self.as_of))
            if moment and (self.from_at or self.to_at)
        ]
        if bounds:
            yield f"{what} {' '.join(bounds)}."
        if self.status:
            yield f"Only what is {self.status}."

    def command(
        self, report: str, *more: str, file: str, by_status: bool = True, every: str = "--all"
    ) -> str:
        """Return the command that writes every row to a file.

        A report that takes no state, or has no option for every row, is asked without it.
        """
        wanted = (
            ("-i", self.institution),
            ("--status", self.status if by_status else None),
            ("--from", self.from_at and format_moment(self.from_at)),
            ("--to", self.to_at and format_moment(self.to_at)),
        )
        options = [f"{option} {value}" for option, value in wanted if value]
        words = ("cardoffers report", report, *more, *options, every, "-o", file)
        return " ".join(filter(None, words))
