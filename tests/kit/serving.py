"""A server as a process of its own, on a free port, and what it wrote into its log."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from commands import command

if TYPE_CHECKING:
    from collections.abc import Iterator

LIMITED = """
import json, sys
from pathlib import Path
path, limits, settings, port_file, tests, *tls = sys.argv[1:]
sys.path.insert(0, tests)
from cardoffers_cli.kernel.cli.exits import write_line
from cardoffers_cli.http.listening import ServerLimits
from cardoffers_cli.http.listening import ListeningPlace
from cardoffers_cli.http.server import serve
from tables import NOON
from work import job
serve(
    job(path, **json.loads(settings)),
    ListeningPlace(host="127.0.0.1", port=0, **dict(zip(("tls_cert", "tls_key"), map(Path, tls)))),
    clock=lambda: NOON,
    log=write_line,
    ready=lambda url, port: Path(port_file).write_text(str(port)),
    limits=ServerLimits(**json.loads(limits)),
)
"""


@dataclass(frozen=True)
class Served:
    """A server that runs: its process, its port and the file of its log."""

    process: subprocess.Popen[bytes]
    port: int
    log: Path

    def lines(self) -> list[dict[str, Any]]:
        """Return the lines of requests written so far."""
        told = self.log.read_text("utf-8").splitlines()
        return [json.loads(line) for line in told if line.startswith("{")]

    def line(self, request_id: str) -> dict[str, Any]:
        """Return the line of one request, which is written when its answer is on its way."""
        deadline = time.monotonic() + 10
        while not (found := [each for each in self.lines() if each["request_id"] == request_id]):
            assert time.monotonic() < deadline
            time.sleep(0.02)
        return found[0]

    def connect(self, timeout_s: float = 20) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout_s)

    def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        headers: dict[str, str] | None = None,
        timeout_s: float = 30,
    ) -> Heard:
        """Make one call on a connection of its own."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=timeout_s)
        try:
            connection.request(method, path, body, headers or {})
            return heard(connection.getresponse())
        finally:
            connection.close()


@dataclass(frozen=True)
class Heard:
    """An answer as a client hears it; names of headers are lower case."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def document(self) -> Any:
        return json.loads(self.body)


def heard(response: HTTPResponse) -> Heard:
    body = response.read()
    headers = {name.lower(): value for name, value in response.getheaders()}
    return Heard(response.status, headers, body)


def said(served: Served, *parts: bytes) -> list[Heard]:
    """Send bytes on one connection, and return the answers until the server closes it."""
    with served.connect() as client:
        for part in parts:
            client.sendall(part)
        return answers(client)


def answers(client: socket.socket) -> list[Heard]:
    """Return the answers on a connection until the server closes it."""
    found = []
    with client.makefile("rb") as stream:
        while stream.peek(1):
            response = HTTPResponse(_Reread(stream))  # type: ignore[arg-type]
            response.begin()
            found.append(heard(response))
    return found


class _Reread:
    """A connection whose one stream several answers are read from."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def makefile(self, _mode: str) -> Any:
        return _Open(self._stream)


class _Open:
    """A stream that stays open when one answer is at its end."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def close(self) -> None:
        pass


@contextmanager
def serving(
    store: Path, *words: object, environment: dict[str, str] | None = None
) -> Iterator[Served]:
    """Run `cardoffers serve` on a store and stop it at the end."""
    port_file = store.with_name("port")
    line = command("serve", "--store", store, "--port", 0, "--port-file", port_file, *words)
    with _started(line, port_file, environment) as served:
        yield served


@contextmanager
def serving_within(
    store: Path,
    settings: dict[str, Any] | None = None,
    *,
    tls: tuple[Path, Path] | None = None,
    **limits: Any,
) -> Iterator[Served]:
    """Run a server with limits that a test can reach; `tls` is a certificate chain and its key."""
    port_file = store.with_name("port")
    words = [str(store), json.dumps(limits), json.dumps(settings or {}), str(port_file)]
    files = map(str, tls or ())
    line = [sys.executable, "-c", LIMITED, *words, str(Path(__file__).parent), *files]
    with _started(line, port_file, None) as served:
        yield served


@contextmanager
def _started(
    line: list[str], port_file: Path, environment: dict[str, str] | None
) -> Iterator[Served]:
    log = port_file.with_name("served.log")
    with (
        log.open("ab") as out,
        subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=out, env=environment) as process,
    ):
        try:
            yield Served(process, _port(process, port_file, log), log)
        finally:
            port_file.unlink(missing_ok=True)
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                raise


def _port(process: subprocess.Popen[bytes], port_file: Path, log: Path) -> int:
    deadline = time.monotonic() + 30
    while not (port_file.exists() and port_file.read_text()):
        assert process.poll() is None, log.read_text()
        assert time.monotonic() < deadline, log.read_text()
        time.sleep(0.02)
    return int(port_file.read_text())
