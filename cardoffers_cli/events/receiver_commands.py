"""A command of the operator's that is told something on its input, in bounded time and output.

It is started without a shell, in a session of its own, with an environment that holds no secret.
When it has ended, or its time is over, what it started and left running is killed with it.
"""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_PASSED_ON = re.compile(r"PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_[A-Z]+|TZ|TMPDIR")
"""What a command gets of the environment; anything else may be a secret."""
_READ_BYTES = 64 * 1024
_GLANCE_S = 0.05
"""How often it is looked whether a command has ended whose output somebody else still has open."""


@dataclass(frozen=True, kw_only=True)
class CommandOutcome:
    """How a command ended; `error` is None where its exit code was 0.

    `output` is the beginning of what it wrote to both streams, as far as that is kept.
    """

    error: str | None
    output: str = field(default="", repr=False)


def run_command(
    words: Sequence[str],
    told: bytes,
    *,
    deadline_s: float,
    variables: Mapping[str, str],
    output_bytes: int = 4096,
) -> CommandOutcome:
    """Run a command with `told` on its input, and `variables` beside what it is passed on."""
    passed_on = {name: text for name, text in os.environ.items() if _PASSED_ON.fullmatch(name)}
    with tempfile.TemporaryFile() as given:
        given.write(told)
        given.seek(0)
        try:
            process = subprocess.Popen(  # noqa: S603 - what the operator configured, and no shell
                words,
                stdin=given,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env={**passed_on, **variables},
                start_new_session=True,
            )
        except OSError as error:
            return CommandOutcome(error=f"it cannot be started: {error.strerror}")
    with process:
        try:
            output, has_ended = _hear(process, time.monotonic() + deadline_s, output_bytes)
        finally:
            with suppress(ProcessLookupError):  # its number is its own until it is waited for
                os.killpg(process.pid, signal.SIGKILL)
            code = process.wait()
    return CommandOutcome(
        error=_error(code) if has_ended else f"it did not end within {deadline_s:g} s",
        output=output.decode(errors="replace"),
    )


def _hear(process: subprocess.Popen[bytes], deadline: float, most: int) -> tuple[bytes, bool]:
    """Return the beginning of the output, and whether the command ended in time."""
    kept, is_open, has_ended = b"", True, False
    pipe = process.stdout.fileno() if process.stdout else -1
    while (left_s := deadline - time.monotonic()) > 0:
        wait_s = 0.0 if has_ended else min(left_s, _GLANCE_S)
        if is_open and select.select([pipe], [], [], wait_s)[0]:
            data = os.read(pipe, _READ_BYTES)
            kept, is_open = kept + data[: most - len(kept)], bool(data)
            continue
        if has_ended:
            return kept, True
        if not is_open:
            time.sleep(wait_s)
        options = os.WEXITED | os.WNOHANG | os.WNOWAIT
        has_ended = os.waitid(os.P_PID, process.pid, options) is not None
    return kept, False


def _error(code: int) -> str | None:
    if code < 0:
        return f"it was killed by signal {-code}"
    return f"it ended with exit code {code}" if code else None
