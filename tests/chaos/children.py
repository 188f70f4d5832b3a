"""Runs one command in a process of its own, and kills it there at a moment or at a change.

The process is forked from one that has the program loaded already, so that a kill hits the work
and not the start of Python. Where there is a compiler, that one runs on `recorder.c`, which counts
and notes what a command changes on its disk.
"""

from __future__ import annotations

import ctypes
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from types import TracebackType

KILLED = -signal.SIGKILL
LONGEST_S = 120
"""No command takes as long: one that does hangs, and is killed."""
HANGS = -1000
"""The exit code of one that did."""
ENVIRONMENT = {
    "CARDOFFERS_THREADS": "1",
    "CARDOFFERS_MEMORY_LIMIT": "512MiB",
    "CARDOFFERS_ALLOW_INSECURE_WEBHOOKS": "1",
    "CARDOFFERS_STORE": "store.duckdb",
}
_LOADED = (
    *(
        "cardoffers_cli.kernel.cli.main",
        "cardoffers_cli.kernel.cli.context",
        "cardoffers_cli.kernel.store.settings",
    ),
    *("cardoffers_cli.night.run", "cardoffers_cli.events.sending"),
    "cardoffers_cli.demo.work",
    *("cardoffers_cli.http.contract.service", "cardoffers_cli.night.screen", "pyarrow", "polars"),
)


@dataclass(frozen=True, kw_only=True)
class Run:
    """One command to run in a folder, and what is to happen to it.

    `kill_after_s` counts from the fork. `kill_at` is the number of the change on the disk in whose
    place it is killed; `log` is where every change is noted.
    """

    folder: str
    words: list[str]
    stdin: str | None = None
    kill_after_s: float | None = None
    kill_at: int | None = None
    log: str | None = None


@dataclass(frozen=True, kw_only=True)
class Ended:
    """How a command ended, after how long, and what it said."""

    exit_code: int
    seconds: float = field(compare=False)
    stdout: str
    stderr: str

    @property
    def document(self) -> Any:
        """What it printed, as JSON."""
        return json.loads(self.stdout)


@cache
def recorder() -> Path | None:
    """Return the recorder, compiled; None where there is no compiler for it."""
    source = Path(__file__).with_name("recorder.c")
    made = Path(tempfile.mkdtemp(prefix="recorder")) / "recorder.so"
    words = ["gcc", "-O2", "-shared", "-fPIC", "-o", str(made), str(source), "-ldl", "-pthread"]
    try:
        subprocess.run(words, check=True, capture_output=True)
    except (FileNotFoundError, subprocess.CalledProcessError):
        return None
    return made


@dataclass
class Children:
    """The process that others are forked from; one command at a time."""

    _server: subprocess.Popen[str] = field(init=False)
    _said: Path = field(init=False)

    def __enter__(self) -> Self:
        self._said = Path(tempfile.mkdtemp(prefix="said"))
        preloaded = {"LD_PRELOAD": str(made)} if (made := recorder()) else {}
        self._server = subprocess.Popen(
            [sys.executable, __file__, str(self._said), str(recorder() or "")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **ENVIRONMENT, **preloaded},
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.communicate()

    def run(self, order: Run) -> Ended:
        """Run a command and return how it ended."""
        assert self._server.stdin
        assert self._server.stdout
        self._server.stdin.write(json.dumps(asdict(order)) + "\n")
        self._server.stdin.flush()
        exit_code, seconds = json.loads(self._server.stdout.readline())
        stdout, stderr = ((self._said / name).read_text() for name in ("stdout", "stderr"))
        return Ended(exit_code=exit_code, seconds=seconds, stdout=stdout, stderr=stderr)


def _serve(said: Path, library: str) -> None:
    """Fork a process for each order that comes in, and tell how it ended."""
    from importlib import import_module  # noqa: PLC0415

    os.environ.pop("LD_PRELOAD", None)  # what it did is done: programs started get their own
    for name in _LOADED:
        import_module(name)
    for line in sys.stdin:
        order = Run(**json.loads(line))
        began = time.monotonic()
        if (process := os.fork()) == 0:
            _be_the_command(order, said, library)
        exit_code = _ended(process, order.kill_after_s)
        print(json.dumps([exit_code, time.monotonic() - began]), flush=True)  # noqa: T201


def _ended(process: int, kill_after_s: float | None) -> int:
    """Wait for the end of a process, or make it; return its exit code."""
    watched = os.pidfd_open(process)
    try:
        within_s = LONGEST_S if kill_after_s is None else kill_after_s
        is_late = not select.select([watched], [], [], within_s)[0]
    finally:
        os.close(watched)
    if is_late:
        os.kill(process, signal.SIGKILL)
    exit_code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    return HANGS if is_late and kill_after_s is None else exit_code


def _be_the_command(order: Run, said: Path, library: str) -> None:
    """Be the command line in this process, and end it."""
    exit_code = 1
    try:
        os.chdir(order.folder)
        made = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        os.dup2(os.open(order.stdin or os.devnull, os.O_RDONLY), 0)
        os.dup2(os.open(said / "stdout", made), 1)
        os.dup2(os.open(said / "stderr", made), 2)
        sys.argv = ["cardoffers", *order.words]
        if library:
            _watch(order, library)
        from cardoffers_cli.kernel.cli.main import main  # noqa: PLC0415

        main()
    except SystemExit as end:
        exit_code = int(end.code or 0)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(exit_code)


def _watch(order: Run, library: str) -> None:
    """Let the recorder note, and count, what is done below the folder from here on."""
    begin = ctypes.CDLL(library).chaos_begin
    begin.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_long]
    begin(os.path.realpath(order.folder).encode(), (order.log or "").encode(), order.kill_at or -1)


if __name__ == "__main__":
    _serve(Path(sys.argv[1]), sys.argv[2])
