"""The command line as a process of its own: words in, two streams and an exit code out."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator


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
