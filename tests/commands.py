"""The command line as a process of its own: words in, two streams and an exit code out."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from typing import Any


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
