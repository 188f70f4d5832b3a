"""How far the work is, on stderr: a bar for a person, a plain line now and then for a log."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from cardoffers_cli.kernel.cli import exits

EVERY_S = 10.0
"""Seconds between two plain lines, at least."""


class Progress:
    """What a command tells about its work, in the work's own unit; here nobody hears of it."""

    def advance(self, steps: int = 1) -> None:
        """Add steps that were done."""

    def update(self, count: int, total: int | None = None) -> None:
        """Set what is done so far, and the total where it is known by now."""

    def describe(self, description: str) -> None:
        """Say something else of the work from now on."""


class Plain(Progress):
    """At most one line in ten seconds."""

    def __init__(
        self, description: str, total: int | None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._description = description
        self._done = 0
        self._total = total
        self._clock = clock
        self._next = clock() + EVERY_S

    def advance(self, steps: int = 1) -> None:
        """Add steps, and say so when it is time."""
        self.update(self._done + steps)

    def update(self, count: int, total: int | None = None) -> None:
        """Set what is done, and say so when it is time."""
        self._done = count
        self._total = total or self._total
        if self._clock() >= self._next:
            self._next = self._clock() + EVERY_S
            exits.tell(f"{self._description}: {self._amount()}")

    def describe(self, description: str) -> None:
        """Say something else in the lines to come."""
        self._description = description

    def _amount(self) -> str:
        if not self._total:
            return f"{self._done:,}"
        return f"{self._done:,} of {self._total:,} ({100 * self._done // self._total} %)"


@contextmanager
def progress(
    description: str, total: int | None = None, *, quiet: bool = False, colour: bool = True
) -> Iterator[Progress]:
    """Show progress while the block runs, in the way that suits stderr.

    A bar takes what colours take: a terminal that understands escape sequences, and a person who
    wants them.
    """
    if quiet:
        yield Progress()
    elif colour and sys.stderr.isatty():
        with _bar(description, total) as bar:
            yield bar
    else:
        yield Plain(description, total)


@contextmanager
def _bar(description: str, total: int | None) -> Iterator[Progress]:
    from rich.console import Console  # heavy, and for terminals only
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as RichProgress

    class ProgressBar(Progress):
        def advance(self, steps: int = 1) -> None:
            bars.advance(task, steps)

        def update(self, count: int, total: int | None = None) -> None:
            bars.update(task, completed=count, total=total)

        def describe(self, description: str) -> None:
            bars.update(task, description=description)

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
    )
    console = Console(stderr=True, highlight=False)
    with RichProgress(*columns, console=console, transient=True) as bars:
        task = bars.add_task(description, total=total)
        yield ProgressBar()
