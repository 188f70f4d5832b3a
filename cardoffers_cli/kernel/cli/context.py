"""What a command works at: its settings, its clock, and the ways to speak.

A command makes one with `CommandContext.of(ctx)`, does its one call, and hands the outcome to
`show`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import typer

from cardoffers_cli.kernel.cli import exits, progress, show
from cardoffers_cli.kernel.cli.commands import Format, Options
from cardoffers_cli.kernel.cli.show import Block, Style, Text
from cardoffers_cli.kernel.sheets.exports import OWNER_ONLY
from cardoffers_cli.kernel.store.clock import real_now
from cardoffers_cli.kernel.words.errors import UsageError
from cardoffers_cli.kernel.words.moments import format_length, format_minute
from cardoffers_cli.kernel.words.visible import visible

if TYPE_CHECKING:
    from cardoffers_cli.kernel.sheets.pages import Page
    from cardoffers_cli.kernel.store.job import Job, Reading
    from cardoffers_cli.kernel.store.settings import Settings


WITH_FINDINGS = 3
FINDINGS = "There are findings (exit code 3): the output has them."


class CommandContext:
    """One command's settings, clock and ways to speak; made once, from its options."""

    def __init__(self, options: Options, environment: Mapping[str, str], command: str) -> None:
        self.options = options
        self._environment = environment
        self._command = command
        self._reading: Reading | None = None

    @classmethod
    def of(cls, ctx: typer.Context, *, engine: str | None = None) -> CommandContext:
        """Make the context of a command; refuse output that cannot be, before the work."""
        options = replace(ctx.ensure_object(Options), engine=engine)
        context = cls(options, os.environ, ctx.command_path)
        show.check(context.format, context.output)
        if context.output is not None:
            context.writes({})
        return context

    def writes(
        self, outputs: Mapping[str, Path | None], *, reads: Iterable[Path | str] = ()
    ) -> None:
        """Refuse, before any work, files to write that are the store's, are read, or are one file.

        `outputs` are by the options that name them; --output is always among them.
        """
        from cardoffers_cli.kernel.disk.outputs import refuse_taken

        outputs = {**outputs, "--output": self.output}
        if any(outputs.values()):
            refuse_taken(outputs, store=self.store_path, inputs=reads)

    @cached_property
    def settings(self) -> Settings:
        """The settings: flags, environment, configuration file, defaults."""
        from cardoffers_cli.kernel.store.settings import read_settings

        flags = {
            "store": self.options.store,
            "lock_wait_s": self.options.lock_wait,
            "engine": self.options.engine,
        }
        return read_settings(flags, self._environment, self.options.config)

    @cached_property
    def now(self) -> datetime:
        """The moment this command runs at, naive UTC: `--as-of`, else the clock, read once."""
        return self.options.as_of or real_now()

    @property
    def store_path(self) -> Path:
        """Where the store is, or is to be made."""
        return self.settings.store

    @cached_property
    def actor(self) -> str:
        """Who runs this, as logs name it."""
        from cardoffers_cli.kernel.cli.people import person

        return person(self.settings.actor)

    def institution(self, named: str | None, *, everywhere: bool) -> str | None:
        """Return which institution a question is for: as named, else as CARDOFFERS_INSTITUTION is.

        None is the only one there is or, with `everywhere`, all.
        """
        if named and everywhere:
            raise UsageError(
                "--institution and --all-institutions exclude each other.", hint="Leave one out."
            )
        if named or everywhere:
            return named
        return self._environment.get("CARDOFFERS_INSTITUTION") or None

    @property
    def job(self) -> Job:
        """What a job needs to know of this command: store, settings, clock, actor."""
        from cardoffers_cli.kernel.store.job import Job

        return Job(
            path=self.store_path,
            settings=self.settings,
            now=self.now,
            actor=self.actor,
            command=self._command,
            on_reading=self._on_reading,
        )

    def _on_reading(self, source: Reading) -> None:
        """Say what the answer is from, where it is not the store."""
        self._reading = source
        if source.snapshot_at is not None:
            reason = str(source.busy).rstrip(".")
            minute = format_minute(source.snapshot_at)
            length = self.now - source.snapshot_at
            age = f" ({format_length(length)} old)" if length >= timedelta() else ""
            self.note(f"{reason}; this is from the snapshot of {minute}{age}.")

    @property
    def is_terminal(self) -> bool:
        """Whether a person looks at stdout."""
        return self.output is None and show.is_terminal()

    @property
    def output(self) -> Path | None:
        """The file to write to; None is stdout."""
        named = self.options.output
        return None if named == Path("-") else named

    @cached_property
    def format(self) -> Format:
        """The form of the data: as asked, else by the file's suffix, else by who reads."""
        if self.options.format is not None:
            return self.options.format
        if self.output is not None:
            return show.format_of(self.output)
        return Format.table if self.is_terminal else Format.tsv

    @property
    def has_colour(self) -> bool:
        """Whether colour is wanted and understood (no-color.org)."""
        dumb = self._environment.get("TERM") == "dumb"
        return not (self.options.no_color or self._environment.get("NO_COLOR") or dumb)

    def show(
        self,
        document: Any,
        *blocks: Block,
        exit_code: int = 0,
        why: str | None = None,
        raw: bool = False,
        private: bool = False,
    ) -> None:
        """Show the outcome and end the command when the exit code is not 0.

        Why it is that of findings stands on stderr: `why`, nothing where that is empty as it was
        said before or, where it is None, the last text of the blocks if stdout does not show it.

        `document` is the JSON; the blocks are the same for readers: sheets and text. `raw` leaves
        spreadsheet formulas unguarded. What is `private` goes to a file that others cannot read.
        An object that was read says with `snapshot_at` of when it is: of now, or of a snapshot.
        """
        if self._reading and self.format is Format.json and isinstance(document, Mapping):
            document = {**document, "snapshot_at": self._reading.snapshot_at}
        style = self._style(self.format, raw=raw, private=private)
        lines = next((block.lines for block in reversed(blocks) if isinstance(block, Text)), ())
        summary = "\n".join(lines) if why is None else why
        show.show(document, blocks, style, self.output)
        is_read = self.is_terminal and self.format is Format.table and not why
        self._end(exit_code, "" if is_read else summary or FINDINGS * (why is None))

    def show_page(self, page: Page, *, exit_code: int = 0) -> None:
        """Show a page that was made for looking at, in HTML; end with the code if it is not 0."""
        page = replace(page, about=[*page.about, *self._source()])
        show.show_page(page, self.output, mode=self._mode())
        self._end(exit_code, FINDINGS)

    def _source(self) -> list[str]:
        """Return what a page says of where it is from, if that is not the store."""
        if self._reading is None or self._reading.snapshot_at is None:
            return []
        return [f"From the snapshot of {format_minute(self._reading.snapshot_at)}."]

    def write(self, content: bytes, *, exit_code: int = 0, why: str = FINDINGS) -> None:
        """Write bytes as they came, and end the command when the exit code is not 0."""
        show.write(content, self.output, mode=self._mode())
        if self.is_terminal and not content.endswith(b"\n"):
            show.write(b"\n", None)  # or the shell's prompt would stand behind them
        self._end(exit_code, why)

    @contextmanager
    def writing(self) -> Iterator[BinaryIO]:
        """Open what the data goes to, for bytes that come in pieces, and say so at the end."""
        with show.writing(self.output, mode=self._mode()) as out:
            yield out
        self._end(0)

    def _end(self, exit_code: int, why: str = "") -> None:
        """End with a code; that of findings says why, also where notes are not wanted."""
        if self.output is not None:
            self.note(f"Wrote {self.output}")
        if exit_code == WITH_FINDINGS and why:
            exits.tell(why)
        if exit_code:
            raise typer.Exit(exit_code)

    def say(self, text: str) -> None:
        """Show a text to paste elsewhere, as it is but for what acts or hides."""
        show.say(visible(text, keep="\n"))

    def page(self, markdown: str) -> None:
        """Show a page to read, in Markdown."""
        show.page(markdown, self._style(Format.md))

    def _style(self, form: Format, *, raw: bool = False, private: bool = False) -> Style:
        return Style(
            form,
            self.is_terminal,
            self.has_colour,
            raw,
            self._mode(private=private),
            title=self._command,
            as_of=self.now,
            about=tuple(self._source()),
        )

    def _mode(self, *, private: bool = False) -> int:
        """Return the mode of the file that is written, if one is: as set, or its owner's only."""
        return OWNER_ONLY if private or self.output is None else self.settings.mode

    def note(self, text: str) -> None:
        """Say something to the person at the screen, unless quiet is wanted."""
        if not self.options.quiet:
            exits.tell(text)

    def progress(
        self, description: str, total: int | None = None
    ) -> AbstractContextManager[progress.Progress]:
        """Show how far the work is: a bar on a terminal, else a line now and then."""
        return progress.progress(
            description, total, quiet=self.options.quiet, colour=self.has_colour
        )

    def confirm(self, question: str, *, yes: bool) -> None:
        """Go on only when `--yes` was given, or the person at the terminal agrees."""
        if yes:
            return
        if not sys.stdin.isatty():
            raise UsageError(f"Not confirmed: {question}", code="unconfirmed", hint="Add --yes.")
        if not self.agrees(question):
            raise typer.Abort

    def ask(self, question: str, *, yes: bool) -> None:
        """Ask as `confirm` does; where nobody is at a terminal, go on."""
        self.confirm(question, yes=yes or not sys.stdin.isatty())

    def answer(self, question: str) -> str:
        """Ask the person at the terminal and return the answer; empty where nobody is there."""
        if not sys.stdin.isatty():
            return ""
        exits.tell(question)
        return sys.stdin.readline().strip()

    def agrees(self, question: str) -> bool:
        """Ask the person at the terminal, who must be there, and return the answer."""
        exits.tell(f"{question} [y/N]")
        return sys.stdin.readline().strip().lower() in {"y", "yes"}
