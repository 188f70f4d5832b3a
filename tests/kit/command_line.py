"""The command line as its users meet it: words in, two streams and an exit code out."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import pytest
from typer.testing import CliRunner

from cardoffers_cli.kernel.cli import main


@dataclass(frozen=True)
class Outcome:
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


Run = Callable[..., Outcome]


@pytest.fixture
def cardoffers() -> Run:
    """Run a command line inside this process: quick, and stdout is no terminal."""

    def run(*words: object, stdin: str | None = None, **environment: str) -> Outcome:
        ended = CliRunner(env=environment).invoke(main.app, [str(word) for word in words], stdin)
        return Outcome(ended.exit_code, ended.stdout_bytes.decode(), ended.stderr)

    return run


@pytest.fixture
def process() -> Run:
    """Run a command line as a process of its own."""

    def run(*words: object, **settings: Any) -> Outcome:
        command = [sys.executable, "-m", "cardoffers_cli", *map(str, words)]
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **settings}
        ended = subprocess.run(command, check=False, text=True, **streams)
        return Outcome(ended.returncode, ended.stdout, ended.stderr)

    return run


@pytest.fixture
def probe(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], None]:
    """Put a test's own function, or group, on the front page as the command `probe`."""

    def put(command: Any) -> None:
        module = ModuleType("cardoffers_cli.probe")
        module.command = command  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, module.__name__, module)
        entry = main.Entry("Tests", "probe", "probe:command", "A test's own command.")
        monkeypatch.setattr(main, "COMMANDS", (*main.COMMANDS, entry))

    return put
