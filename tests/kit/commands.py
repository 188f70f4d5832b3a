"""The command line as its users have it: words in, two streams and an exit code out."""

from __future__ import annotations

import io
import json
import os
import pty
import subprocess
import sys
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from threading import Thread
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from typer.main import get_command
from typer.testing import CliRunner

from cardoffers_cli.kernel.cli import main

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def processes_per_core() -> float:
    """Return how many processes want each core, at least one, for limits of an idle machine."""
    return max(1, os.getloadavg()[0] / (os.cpu_count() or 1))


@dataclass(frozen=True)
class Ended:
    """How a command ended and what it said."""

    exit_code: int
    stdout: str
    stderr: str

    @property
    def document(self) -> Any:
        return json.loads(self.stdout)

    @property
    def error(self) -> Any:
        """The JSON error, which stands on the last line."""
        return json.loads(self.stderr.splitlines()[-1])["error"]


def command(*words: object) -> list[str]:
    """Return the command line that runs `cardoffers` with these words."""
    return [sys.executable, "-m", "cardoffers_cli", *map(str, words)]


def every_command(group: Any, *path: str) -> Iterator[str]:
    """Yield the name of each command that is no group, or one that does work of its own."""
    if not hasattr(group, "commands"):
        yield " ".join(path)
        return
    if path and group.invoke_without_command:
        yield " ".join(path)
    for name in group.commands:
        yield from every_command(group.commands[name], *path, name)


def cardoffers(*words: object, exit_code: int | None = 0, **options: Any) -> Ended:
    """Run a command and expect how it ends; None expects nothing."""
    done = subprocess.run(command(*words), check=False, text=True, capture_output=True, **options)
    ended = Ended(done.returncode, done.stdout, done.stderr)
    assert exit_code in {None, ended.exit_code}, ended
    return ended


def seen(*words: object, columns: int = 80, **environment: Any) -> str:
    """Run a command on a terminal and return what is seen there, whatever is asked of its looks."""
    ours, theirs = pty.openpty()
    known = {**os.environ, "COLUMNS": str(columns), "TERM": "xterm", **environment}
    with subprocess.Popen(command(*words), env=known, stdin=theirs, stdout=theirs) as running:
        os.close(theirs)
        shown = b"".join(read_all(ours))
    os.close(ours)
    assert 0 == running.returncode, shown
    return shown.decode().replace("\r\n", "\n")


def read_all(terminal: int) -> Iterator[bytes]:
    """Yield what is written to a terminal, up to its end."""
    while True:
        try:
            part = os.read(terminal, 65_536)
        except OSError:  # how Linux says that nobody has the other end open any more
            return
        if not part:
            return
        yield part


def in_a_pipe(words: Sequence[object], *, stdin: str = "", **environment: str) -> Ended:
    """Run a command in this process, its stdout a pipe; quicker than one of its own."""
    ended = CliRunner(env=environment).invoke(main.app, [str(word) for word in words], stdin)
    return Ended(ended.exit_code, ended.stdout_bytes.decode(), ended.stderr)


def on_a_screen(
    words: Sequence[object], *, columns: int = 80, stdin: str = "", **environment: str
) -> Ended:
    """Run a command in this process, its stdout a terminal; quicker than one of its own."""
    known = {"COLUMNS": str(columns), "TERM": "xterm", "NO_COLOR": "", **environment}
    notes, typed = io.StringIO(), io.TextIOWrapper(io.BytesIO(stdin.encode()))
    with (
        patch.dict(os.environ, known),
        patch.object(sys, "stdin", typed),
        redirect_stderr(notes),
        screen() as shown,
    ):
        exit_code = _ended(words)
    return Ended(exit_code, b"".join(shown).decode().replace("\r\n", "\n"), notes.getvalue())


def _ended(words: Sequence[object]) -> int:
    try:
        get_command(main.app).main([str(word) for word in words])
    except SystemExit as end:
        return int(end.code or 0)
    raise AssertionError(words)


@contextmanager
def screen() -> Iterator[list[bytes]]:
    """Let stdout be a terminal, and keep what is written there."""
    ours, theirs = pty.openpty()
    shown: list[bytes] = []
    reader = Thread(target=lambda: shown.extend(read_all(ours)))
    reader.start()
    try:
        with os.fdopen(theirs, "w") as out, redirect_stdout(out):
            yield shown
    finally:
        reader.join()
        os.close(ours)
