"""Servers of Spark Connect, each in processes of its own: pysail, and Apache Spark itself.

Apache Spark is tried where `CARDOFFERS_SPARK_TESTS=1`: it needs Java 17, and takes the server from
`SPARK_HOME`, or else from the package pyspark, which is fetched once.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

SAIL = """
import sys
from pysail.spark import SparkConnectServer
server = SparkConnectServer("127.0.0.1", int(sys.argv[1]))
server.start(background=True)
print(server.listening_address[1], flush=True)
sys.stdin.read()
"""
"""Ends with whoever started it, as its standard input does."""

MASTERS = ("local[2]", "local-cluster[2,1,1024]")
SERVERS = ("pysail", *(MASTERS if os.environ.get("CARDOFFERS_SPARK_TESTS") == "1" else ()))
QUICK = "-XX:TieredStopAtLevel=1"  # a test is over before a better compiler pays
_START_S = 120


@dataclass(frozen=True)
class Spark:
    """A server that runs."""

    process: subprocess.Popen[str]
    port: int

    @property
    def url(self) -> str:
        return f"sc://127.0.0.1:{self.port}"

    def kill(self) -> None:
        """End it and its workers at once, as a crash does."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


@contextmanager
def running(server: str, folder: Path) -> Iterator[Spark]:
    """Run one of `SERVERS`, with its log in a folder, for the length of a `with` block."""
    with sail() if server == "pysail" else apache(server, folder) as spark:
        yield spark


@contextmanager
def sail(port: int = 0, **environment: str) -> Iterator[Spark]:
    """Run pysail, on a port or on a free one, with something more in its environment."""
    words = [sys.executable, "-c", SAIL, str(port)]
    known = {**os.environ, **environment}
    with _process(words, subprocess.DEVNULL, known) as process:
        assert process.stdout is not None
        yield Spark(process, int(process.stdout.readline()))


@contextmanager
def apache(master: str, folder: Path) -> Iterator[Spark]:
    """Run Apache Spark with one of `MASTERS`, on a free port."""
    home = spark_home()
    port = free_port()
    options = {
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": port,
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "2g",
        "spark.driver.extraJavaOptions": QUICK,
        "spark.executor.extraJavaOptions": QUICK,
        "spark.sql.shuffle.partitions": 4,
        "spark.ui.enabled": "false",
    }
    settings = [word for name, value in options.items() for word in ("--conf", f"{name}={value}")]
    server = "org.apache.spark.sql.connect.service.SparkConnectServer"
    submit = f"{home}/bin/spark-submit"
    command = [submit, "--master", master, *settings, "--class", server, "spark-internal"]
    environment = {**os.environ, "SPARK_HOME": home}
    with (
        (folder / "spark.log").open("w") as log,
        _process(command, log, environment, folder) as process,
    ):
        _await(port, process)
        yield Spark(process, port)


def spark_home() -> str:
    """Return where Apache Spark is; without SPARK_HOME fetch it once, of the client's version."""
    if home := os.environ.get("SPARK_HOME"):
        return home
    wanted = f"pyspark=={version('pyspark-client')}"
    folder = Path(tempfile.gettempdir()) / f"cardoffers-{wanted}"
    if not folder.exists():
        half = tempfile.mkdtemp(dir=folder.parent)
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", half]
        subprocess.run([*pip, wanted], check=True)
        with suppress(OSError):  # somebody else was first
            Path(half).rename(folder)
    return str(folder / "pyspark")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def _process(
    command: list[str],
    errors: object,
    environment: dict[str, str] | None = None,
    folder: Path | None = None,
) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=errors,  # type: ignore[call-overload]
        env=environment,
        cwd=folder,
        text=True,
        start_new_session=True,
    )
    with process:
        try:
            yield process
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def _await(port: int, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + _START_S
    while time.monotonic() < deadline and process.poll() is None:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.1)
    raise AssertionError(f"{process.args!r} did not start: {process.poll()}")
