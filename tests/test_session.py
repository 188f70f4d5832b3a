"""A newcomer's first session, typed and read in a real terminal of 80 x 24.

Whoever sits there makes the mistakes that people make: no store, a mistyped command, institution
and reference, a file with faults. Every answer must let them go on without guessing; the next line
they type does what the answer said. To accept a change:
`UPDATE_GOLDENS=1 pytest tests/test_session.py`, and read the difference.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cardoffers_cli.kernel.sheets.exports import copy_sample_data
from goldens import held
from sizes import at_the_gate

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.skipif(not shutil.which("tmux"), reason="needs tmux")

BOUGHT = "--as-of 2026-10-01"
ASKED = "--as-of 2026-10-09"
SESSION = f"""
cardoffers status
cardoffers init
cardoffers catalog import catalog {BOUGHT}
cardoffers validate transactions/larkmere-dirty.csv {BOUGHT} --quiet 2>/dev/null | head -n 5
cardoffers help findings amount_precison
cardoffers help findings amount_precision
cardoffers import transactions/larkmere.csv {BOUGHT}
cardoffers import transactions/larkmere.csv -i larkmeer {BOUGHT}
cardoffers import transactions/larkmere.csv -i larkmere {BOUGHT}
cardoffers mtach
cardoffers match {BOUGHT}
cardoffers settle {BOUGHT}
cardoffers find -i larkmere --merchant ostrowick --day 2026-09-17 {ASKED}
cardoffers why LAR1-Off2a95b88676d23 -i larkmere {ASKED}
cardoffers why LAR1-0ff2a95b88676d23 -i larkmere {ASKED}
cardoffers why LAR1-0ff2a95b88676d23 -i larkmere --plain --locale es {ASKED}
cardoffers timeline LAR1-0ff2a95b88676d23 -i larkmere {ASKED} | cut -f 1-4
cardoffers redemption show LAR1-8d12753ab8e2ecf3 {ASKED}
cardoffers redemption show fe7e4be7-2abf-8874-af9c-5a5b6bc4b958 {ASKED} | head -n 12
cardoffers report redemptions --by mechant {ASKED}
cardoffers report redemptions --by merchant {ASKED}
"""
PROMPT = "$"
PATIENCE_S = 60


class Terminal:
    """A terminal that somebody types into and reads."""

    def __init__(self, folder: Path) -> None:
        self._tmux = ["tmux", "-u", "-f", os.devnull, "-S", str(folder / "tmux")]
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        known = {"HOME": str(folder), "PATH": path, "PS1": f"{PROMPT} ", "LANG": "C.UTF-8"}
        self._run(
            *("new-session", "-d", "-x", "80", "-y", "24", "-c", str(folder)),
            *("env", "-i", *(f"{name}={value}" for name, value in known.items())),
            *("TERM=screen", "sh"),
        )
        self._shown = ""
        self._read()

    def types(self, line: str) -> str:
        """Type a line, and return it with what is answered, when the next one can be typed."""
        before = self._shown
        self._run("send-keys", "-l", line)
        self._run("send-keys", "Enter")
        self._read()
        return self._shown[before.rindex(PROMPT) :].removesuffix(PROMPT).rstrip("\n")

    def close(self) -> None:
        self._run("kill-server")

    def _read(self) -> None:
        """Read everything on the screen, and what has scrolled away, up to a new prompt."""
        ends = time.monotonic() + PATIENCE_S
        while time.monotonic() < ends:
            shown = self._run("capture-pane", "-p", "-S", "-").rstrip()
            if shown != self._shown and shown.split("\n")[-1] == PROMPT:
                self._shown = shown
                return
            time.sleep(0.05)
        raise AssertionError(shown)

    def _run(self, *words: str) -> str:
        ran = subprocess.run([*self._tmux, *words], check=True, capture_output=True, text=True)
        return ran.stdout


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    copy_sample_data(tmp_path)
    terminal = Terminal(tmp_path)
    yield terminal
    terminal.close()


@at_the_gate
def test_a_newcomer_can_go_on_without_guessing(terminal: Terminal) -> None:
    answers = [terminal.types(line) for line in SESSION.strip().splitlines()]
    held("session.screen", "\n\n".join(answers) + "\n")
