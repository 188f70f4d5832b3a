"""`cardoffers browse` as a command: plain lines in a pipe, and the screen in a real terminal.

What is said is held against a golden. To accept a change:
`UPDATE_GOLDENS=1 pytest tests/answers/test_browse.py`, and read the difference.
"""

from __future__ import annotations

import os
import pty
import shlex
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cardoffers_cli.answers.find_commands import EXTRA
from cardoffers_cli.copies.work import publish
from cardoffers_cli.kernel.store.layout import lock_path
from commands import Ended, command, in_a_pipe, on_a_screen
from complaints import ANN, complaints
from grinding import DERIVING, ENDLESS, grind
from hostile import ACTS, NAMES, hostile_store, offer_of
from sizes import slow
from work import held, job

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cardoffers_cli.kernel.store.job import Job

GOLDENS = Path(__file__).parents[1] / "goldens"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Job:
    """A job on the scene of `complaints`, which these tests only look at."""
    return complaints(tmp_path_factory.mktemp("complaints"))


def words(made: Job, *more: str) -> list[str]:
    usual = ["browse", "--store", str(made.path), "--as-of", f"{made.now.isoformat()}Z"]
    return [*usual, "-i", "alder", *more]


def talk(made: Job, *lines: str, exit_code: int = 0) -> Ended:
    """Send lines to the conversation through a pipe."""
    ended = in_a_pipe(words(made), stdin="".join(f"{line}\n" for line in lines))
    assert exit_code == ended.exit_code, ended
    return ended


@slow
def test_a_conversation_goes_through_a_pipe(made: Job) -> None:
    lines = [
        "s*",
        "2",
        "t",
        "a",
        "a es",
        "h",
        "tx-oo1o",
        "zebra",
        "i brook",
        "theirs",
        "w",
        "i",
        "1",
    ]
    shown = talk(made, *lines).stdout
    golden = GOLDENS / "browse.txt"
    if os.environ.get("UPDATE_GOLDENS"):
        golden.write_text(shown)
    assert golden.read_text() == shown
    assert [] == ACTS.findall(shown)


@slow
def test_what_is_asked_is_a_note(made: Job) -> None:
    ended = talk(made, "won", "q", "s*")
    assert 2 == ended.stderr.count("q to leave")
    assert "won" in ended.stdout
    assert "stranger" not in ended.stdout


def test_a_query_is_looked_for_first(made: Job) -> None:
    assert "1 found as a reference" in in_a_pipe(words(made, "--text", "small")).stdout


def test_a_search_that_failed_is_a_finding(made: Job) -> None:
    ended = talk(made, "amount:much", "won", exit_code=3)
    assert "Error: That is no amount.\nHint: Write 12.50, or amount:20~1.\n" in ended.stdout
    assert "2 found as a reference" in ended.stdout


def test_no_full_token_is_said(made: Job) -> None:
    ended = talk(made, ANN, "1", "t", "a", f"cardholder:{ANN}")
    assert ANN not in ended.stdout + ended.stderr
    assert "3 found as a token" in ended.stdout


def test_a_number_that_is_no_choice_is_looked_for(made: Job) -> None:
    assert "Nothing found" in talk(made, "won", "99").stdout


def test_what_is_held_is_said(tmp_path: Path) -> None:
    scene = complaints(tmp_path)
    publish(replace(scene, now=scene.now - timedelta(hours=3)))
    with held(scene.path):
        shown = talk(scene, "won").stdout
    assert "as of 2026-06-03 10:00 UTC\nSNAPSHOT of 2026-06-03 10:00 UTC, 3 h old. The" in shown


@slow
def test_nothing_acts_in_the_conversation(tmp_path: Path) -> None:
    scene = hostile_store(tmp_path)
    refs = [offer_of(NAMES[name]) for name in ("a cleared screen", "two lines")]
    shown = talk(scene, *(line for ref in refs for line in (ref, "1", "t", "a"))).stdout
    assert [] == ACTS.findall(shown)
    assert "\\x1b[2J" in shown


def test_a_dumb_terminal_is_told_in_lines(made: Job) -> None:
    ended = on_a_screen(words(made, "won"), stdin="q\n", TERM="dumb")
    assert "\x1b" not in ended.stdout
    assert "This terminal shows no screen, so here it is in plain lines." in ended.stderr
    assert "2 found as a reference" in ended.stdout


def test_a_missing_store_is_told(tmp_path: Path) -> None:
    ended = talk(job(tmp_path / "none.duckdb"), "won", exit_code=3)
    assert "Error: There is no store at" in ended.stdout


@slow
@pytest.mark.parametrize("package", sorted(EXTRA))
def test_a_missing_extra_is_named(made: Job, package: str) -> None:
    lost = f"import sys; sys.modules[{package!r}] = None;"
    code = f"{lost} from cardoffers_cli.__main__ import main; main()"
    ours, theirs = pty.openpty()
    streams = {"stdin": theirs, "stdout": theirs, "stderr": subprocess.PIPE}
    line = [sys.executable, "-c", code, *words(made)]
    ended = subprocess.run(line, check=False, text=True, **streams)
    os.close(theirs)
    os.close(ours)
    assert (
        "Error: The screen needs the extra browse.\nHint: pip install 'cardoffers-cli[browse]'\n"
    ) == ended.stderr
    assert 2 == ended.returncode


def test_the_conversation_needs_no_extra() -> None:
    code = "import sys; sys.modules['textual'] = None; import cardoffers_cli.answers.browse.plain"
    subprocess.run([sys.executable, "-c", code], check=True)


# In a real terminal


class Terminal:
    """A terminal of 80 columns and 24 lines, with a shell in it."""

    def __init__(self, folder: Path) -> None:
        self._tmux = ["tmux", "-u", "-S", str(folder / "tmux"), "-f", "/dev/null"]
        variables = {"PS1": "$ ", "TERM": "screen-256color", "NO_COLOR": ""}
        set_variables = [word for each in variables.items() for word in ("-e", "=".join(each))]
        size = ("-x", "80", "-y", "24")
        self.call("new-session", "-d", *size, *set_variables, "/bin/sh")

    def call(self, *arguments: str) -> str:
        # Libraries tell children of a size by COLUMNS and LINES, which no terminal could change.
        known = {key: text for key, text in os.environ.items() if key not in {"COLUMNS", "LINES"}}
        ended = subprocess.run(
            [*self._tmux, *arguments], check=True, text=True, capture_output=True, env=known
        )
        return ended.stdout

    def types(self, *keys: str) -> None:
        self.call("send-keys", *keys)

    def shows(self, text: str) -> str:
        """Wait until a text is seen, and return the screen."""
        return self._waits(lambda screen: text in screen, f"{text!r} is not seen")

    def hides(self, text: str) -> str:
        """Wait until a text is seen no longer, and return the screen."""
        return self._waits(lambda screen: text not in screen, f"{text!r} is still seen")

    def _waits(self, has_come: Callable[[str], bool], problem: str) -> str:
        deadline = time.monotonic() + 60
        while not has_come(screen := self.call("capture-pane", "-p")):
            assert time.monotonic() < deadline, f"{problem}:\n{screen}"
            time.sleep(0.1)
        return screen


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    if shutil.which("tmux") is None:
        pytest.skip("tmux is not installed")
    opened = Terminal(tmp_path)
    yield opened
    opened.call("kill-server")


def test_a_person_works_at_a_real_terminal(made: Job, terminal: Terminal) -> None:
    terminal.types(shlex.join(command(*words(made))), "Enter")
    terminal.shows("Write what you know of the purchase")
    terminal.types("won", "Enter")
    terminal.shows("yes  enrolled")
    terminal.types("t")
    terminal.shows("2026-06-01 08:00  bought")
    terminal.types("l")
    terminal.shows("Your purchase of GBP 20.00")
    terminal.call("resize-window", "-x", "60", "-y", "20")
    terminal.shows("Money    GBP 3.00 settled 2026-06-03 12:00 UTC (merchant\n")
    terminal.types("q")
    terminal.hides("Timeline")
    assert "echo ended" in ending(terminal, 0)


def test_a_conversation_at_a_terminal_is_broken_between_words(
    made: Job, terminal: Terminal
) -> None:
    terminal.types(shlex.join(command(*words(made, "--text", "stranger"))), "Enter")
    terminal.shows("search again:\n")
    terminal.types("1", "Enter")
    screen = terminal.shows("best offer   not reached\n")
    assert "It redeemed nothing: the cardholder had not added the offer (A at bakery).\n" in screen
    terminal.types("a", "Enter")
    terminal.shows(
        "offer “Bread!” had not been added. An offer counts for purchases made after it\n"
    )
    terminal.types("C-c")
    terminal.shows("Error: Interrupted.")
    assert "echo ended" in ending(terminal, 130)


def test_ctrl_c_breaks_off_a_question_of_the_conversation(
    tmp_path: Path, terminal: Terminal
) -> None:
    scene = grind(complaints(tmp_path), DERIVING)
    terminal.types(shlex.join(command(*words(scene, "--text"))), "Enter")
    terminal.shows("to leave:")
    terminal.types(ENDLESS, "Enter")
    is_read(scene)
    terminal.types("C-c")
    terminal.shows("Stopped.")
    with held(scene.path):
        pass
    terminal.types("won", "Enter")
    terminal.shows("2 found as a reference")
    terminal.types("C-c")
    assert "echo ended" in ending(terminal, 130)


@slow
def test_a_signal_ends_the_conversation_within_a_question(tmp_path: Path) -> None:
    scene = grind(complaints(tmp_path), DERIVING)
    line = command(*words(scene, "--text", ENDLESS))
    with subprocess.Popen(line, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as talking:
        is_read(scene)
        talking.terminate()
        assert 143 == talking.wait(60)


def is_read(made: Job) -> None:
    """Wait until somebody has the store open."""
    deadline = time.monotonic() + 60
    while not lock_path(made.path).read_text():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("how", "exit_code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)], ids=["term", "int"]
)
def test_a_signal_leaves_the_terminal_as_it_was(
    made: Job, terminal: Terminal, how: signal.Signals, exit_code: int
) -> None:
    line = shlex.join(command(*words(made)))
    terminal.types(f"sh -c 'echo $$ > {made.path}.pid; exec \"$@\"' - {line}", "Enter")
    terminal.shows("Write what you know of the purchase")
    os.kill(int(Path(f"{made.path}.pid").read_text()), how)
    terminal.shows("Error: ")
    assert "echo ended" in ending(terminal, exit_code)


def ending(terminal: Terminal, exit_code: int) -> str:
    """Ask the shell how the command ended; return the screen, with what was typed if it echoes."""
    terminal.types("echo ended with $?", "Enter")
    return terminal.shows(f"ended with {exit_code}\n")
