"""The two doors of the HTTP contract, called alike: a command line, and a server.

A door is opened on the store of a job, whose clock it has. `call` takes a path with its query as it
is sent, the name of a key as `tables.given` makes keys, or the text of one, and a body: bytes, or a
document.
"""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import time
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Protocol

from typer.testing import CliRunner

from cardoffers_cli.kernel.cli import main
from cardoffers_cli.kernel.words.moments import format_moment
from commands import command
from tables import key_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from contextlib import AbstractContextManager
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job

JSON = {"content-type": "application/json"}
EXIT_CODES = {401: 4, 403: 4, 404: 5, 409: 4}
"""How `cardoffers api` ends on what is refused, where it is not with 3 or, for 5xx, with 15."""


@dataclass(frozen=True)
class Reply:
    """What a call was answered; the names of headers are lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def document(self) -> Any:
        return json.loads(self.body, parse_float=Decimal)

    @property
    def code(self) -> str | None:
        """The code of a refusal."""
        return self.document["code"] if self.status >= 400 else None


class Door(Protocol):
    """A way into the contract."""

    def call(
        self,
        method: str,
        path: str,
        *,
        key: str | None = None,
        body: Any = None,
        headers: Mapping[str, str] = JSON,
    ) -> Reply: ...


def key_of(name: str) -> str:
    """Return the text of a key: a name stands for one, anything else for itself."""
    return key_text(name) if name.isalpha() else name


def bytes_of(body: Any) -> bytes:
    return body if isinstance(body, bytes) else json.dumps(body).encode()


class CommandDoor:
    """`cardoffers api`, inside this process."""

    def __init__(self, job: Job, settings: Mapping[str, str]) -> None:
        self._usual = ["--include", "--store", job.path, "--as-of", format_moment(job.now)]
        self._settings = settings

    def call(
        self,
        method: str,
        path: str,
        *,
        key: str | None = None,
        body: Any = None,
        headers: Mapping[str, str] = JSON,
    ) -> Reply:
        words = ["api", method, path, *self._usual]
        for name, value in headers.items():
            words += ["-H", f"{name}: {value}"]
        if body is not None:
            words += ["--body", "-"]
        environment = {**self._settings, "CARDOFFERS_KEY": key_of(key) if key else ""}
        content = None if body is None else bytes_of(body)
        ended = CliRunner(env=environment).invoke(main.app, [*map(str, words)], content)
        reply = _read(ended.stdout_bytes)
        assert _exit_code(reply.status) == ended.exit_code, ended.stderr
        return reply


def _read(output: bytes) -> Reply:
    head, _, body = output.partition(b"\n\n")
    first, *lines = head.decode().splitlines()
    headers = dict(line.split(": ", 1) for line in lines)
    return Reply(int(first.split()[1]), headers, body)


def _exit_code(status: int) -> int:
    if status < 300:
        return 0
    return 15 if status >= 500 else EXIT_CODES.get(status, 3)


class ServerDoor:
    """`cardoffers serve`, as a process that listens."""

    def __init__(self, port: int) -> None:
        self.port = port

    def call(
        self,
        method: str,
        path: str,
        *,
        key: str | None = None,
        body: Any = None,
        headers: Mapping[str, str] = JSON,
    ) -> Reply:
        sent = dict(headers)
        if key:
            sent["authorization"] = f"Bearer {key_of(key)}"
        content = None if body is None else bytes_of(body)
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, content, sent)
            answer = connection.getresponse()
            found = {name.lower(): value for name, value in answer.getheaders()}
            return Reply(answer.status, found, answer.read())
        finally:
            connection.close()


@contextmanager
def open_command(job: Job, **settings: str) -> Iterator[Door]:
    """Open the door of the command line; settings are those of the environment."""
    yield CommandDoor(job, _variables(settings))


@contextmanager
def open_server(job: Job, **settings: str) -> Iterator[ServerDoor]:
    """Serve the store of a job on a free port for the length of a `with` block.

    What the server says goes to `serve.log` beside the store.
    """
    port_file = job.path.with_name("port")
    port_file.unlink(missing_ok=True)
    words = ("serve", "--store", job.path, "--as-of", format_moment(job.now))
    with job.path.with_name("serve.log").open("ab") as log:
        server = subprocess.Popen(
            command(*words, "--port", "0", "--port-file", port_file),
            stderr=log,
            env={**os.environ, **_variables(settings)},
        )
        try:
            yield ServerDoor(_port(port_file, server))
        finally:
            server.terminate()
            server.wait(timeout=30)


def _variables(settings: Mapping[str, str]) -> Mapping[str, str]:
    return {f"CARDOFFERS_{name.upper()}": value for name, value in settings.items()}


def _port(port_file: Path, server: subprocess.Popen[bytes]) -> int:
    deadline = time.monotonic() + 30
    while not port_file.exists():
        assert server.poll() is None, "the server has ended"
        assert time.monotonic() < deadline, "the server does not listen"
        time.sleep(0.02)
    return int(port_file.read_text())


DOORS: Mapping[str, Any] = {"command": open_command, "server": open_server}


def open_door(kind: str, job: Job, **settings: str) -> AbstractContextManager[Door]:
    """Open a door by its kind (`DOORS`); calls are not limited if not said otherwise."""
    unlimited = {"reporting_calls_per_minute": "1000000", "serve_wrong_keys_per_minute": "1000000"}
    return DOORS[kind](job, **{**unlimited, **settings})
