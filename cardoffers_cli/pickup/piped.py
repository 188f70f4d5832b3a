"""A program whose standard input and output are ours, for as long as a deadline allows.

It has no terminal, and so asks nobody anything, and its own session: what ends it ends what it has
started. What it says on stderr is kept for judging and never shown: a server may write there.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self

from cardoffers_cli.kernel.words.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cardoffers_cli.pickup.remote import Deadline

_BLOCK = 1 << 16
_KEPT = 8 << 10
_GRACE_S = 2.0
ENVIRONMENT = {"PATH": os.defpath, "LC_ALL": "C"}
"""All that a program is told: no agent to ask, no display, no settings of the user."""


class ProgramEnded(Exception):
    """The program ended, or closed its output."""


def start(words: Sequence[str], **streams: Any) -> subprocess.Popen[bytes]:
    """Start a program; raise `ConfigurationError` where it is not installed."""
    paths = os.environ.get("PATH", os.defpath)
    try:
        process: subprocess.Popen[bytes] = subprocess.Popen(  # noqa: S603  no shell, and the words are ours
            words, env={**ENVIRONMENT, "PATH": paths}, start_new_session=True, **streams
        )
    except FileNotFoundError:
        package = {"ssh": "openssh-client", "gpg": "gnupg"}.get(words[0], words[0])
        raise ConfigurationError.from_table(
            "pickup", "program_missing", program=words[0], package=package
        ) from None
    return process


def end(process: subprocess.Popen[bytes]) -> None:
    """End a program, with what it has started, and close what leads to it."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            with suppress(OSError):
                stream.close()


class Piped:
    """A program that is spoken with."""

    def __init__(self, words: Sequence[str], deadline: Deadline) -> None:
        pipe = subprocess.PIPE
        self._process = start(words, stdin=pipe, stdout=pipe, stderr=pipe)
        streams = (self._process.stdin, self._process.stdout, self._process.stderr)
        self._in, self._out, self._err = (stream.fileno() for stream in streams if stream)
        for descriptor in (self._in, self._out, self._err):
            os.set_blocking(descriptor, False)
        self._deadline = deadline
        self._read = bytearray()
        self._said = b""

    @property
    def said(self) -> str:
        """What it wrote to stderr last; for judging only."""
        return self._said.decode("ascii", "replace")

    def send(self, data: bytes) -> None:
        """Send all of it; raise `Slow`, or `ProgramEnded`."""
        view = memoryview(data)
        while view:
            self._wait([self._in], [])
            try:
                view = view[os.write(self._in, view) :]
            except BlockingIOError:
                continue
            except BrokenPipeError:
                raise self._ended() from None

    def receive(self, size: int) -> bytes:
        """Return so many bytes; raise `Slow`, or `ProgramEnded` where there are fewer."""
        while len(self._read) < size:
            if self._out in self._wait([], [self._out]):
                block = _block(self._out)
                if block == b"":
                    raise self._ended()
                self._read += block or b""
        content = bytes(self._read[:size])
        del self._read[:size]
        return content

    def _wait(self, writing: list[int], reading: list[int]) -> list[int]:
        """Wait until one of these can be used, and hear what is said meanwhile."""
        errors = [] if self._err < 0 else [self._err]
        readable, _, _ = select.select([*reading, *errors], writing, [], self._deadline.left())
        if self._err in readable:
            self._hear()
        return readable

    def _hear(self) -> None:
        block = _block(self._err)
        if block == b"":
            self._err = -1
        self._said = (self._said + (block or b""))[-_KEPT:]

    def _ended(self) -> ProgramEnded:
        """Hear what it says to the end, for a moment."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_GRACE_S)
        while self._err >= 0 and select.select([self._err], [], [], 0)[0]:
            self._deadline.left()
            self._hear()
        return ProgramEnded()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        end(self._process)


def _block(descriptor: int) -> bytes | None:
    """Read what there is; None where there is nothing yet, and nothing at the end."""
    try:
        return os.read(descriptor, _BLOCK)
    except BlockingIOError:
        return None
