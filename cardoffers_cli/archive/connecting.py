"""A session of Spark: of Spark Connect, answered within seconds or given up, or of spark-submit.

Left alone the client tries for ten minutes to reach a server, and for ever one that accepts a
connection and says nothing. What it raises becomes one of our errors: its own texts may quote data,
and are not passed on.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import warnings
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import file_digest
from typing import TYPE_CHECKING, Any, cast

from cardoffers_cli.kernel.disk.folders import make_folder, sync_folder_if_possible
from cardoffers_cli.kernel.words.errors import EngineFailed, NoSpace, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    import duckdb
    from pyspark.sql import SparkSession
    from pyspark.sql.connect.client import DefaultChannelBuilder


HERE = "session"
"""Named in the place of an address: the session of the process itself."""
UNREACHABLE = "engine_unreachable"
_THEIRS = {"grpc", "py4j", "pyspark"}
_GONE = {"UNAVAILABLE", "DEADLINE_EXCEEDED"}
_EXTRA = {"google", "grpc", "grpc_status", "numpy", "pandas", "pyspark"}
_ANSWER_S = 10
_RETRIES: Mapping[str, Any] = {  # five seconds in all: a server that restarts has lost the session
    "max_retries": 6,
    "initial_backoff": 100,
    "backoff_multiplier": 2.0,
    "max_backoff": 2000,
    "jitter": 100,
}
_CHANNEL = [
    # Says that a server is gone which never closed the connection. Servers turn away who asks more
    # often than every five minutes.
    ("grpc.keepalive_time_ms", 300_000),
    ("grpc.keepalive_timeout_ms", 20_000),
]


def connect(url: str) -> tuple[SparkSession, str]:
    """Return a session at `sc://host:port`, and its endpoint as it may be shown.

    Raises `EngineFailed` where nobody answers, and `UsageError` for an address that is none.
    """
    builder = _builder(url)
    endpoint = f"sc://{builder.endpoint}"
    from pyspark.sql.connect import session as connect_session  # noqa: PLC0415 - heavy, and an extra
    from pyspark.sql.connect.client.retries import DefaultPolicy  # noqa: PLC0415 - the same

    with guarded(endpoint):
        import grpc  # noqa: PLC0415 - heavy, and an extra

        channel = builder.toChannel()
        try:
            grpc.channel_ready_future(channel).result(timeout=_ANSWER_S)
        except grpc.FutureTimeoutError:
            raise _unreachable(endpoint) from None
        finally:
            channel.close()
        session = connect_session.SparkSession(builder)
        session.client.set_retry_policies([DefaultPolicy(**_RETRIES)])
        return cast("SparkSession", session), endpoint  # the same methods, by a class of its own


def session_here() -> SparkSession:
    """Return the session of this process, as spark-submit or a notebook made it."""
    with _extra_named():
        from pyspark.sql import SparkSession  # noqa: PLC0415 - heavy, and an extra
    with guarded(HERE):
        return SparkSession.builder.getOrCreate()


@contextmanager
def guarded(endpoint: str) -> Iterator[None]:
    """Raise what the client of an engine raises as `EngineFailed`, named by the endpoint."""
    try:
        with warnings.catch_warnings(action="ignore"):  # what matters of them is raised in the end
            yield
    except Exception as error:
        if type(error).__module__.partition(".")[0] not in _THEIRS:
            raise
        raise _ours(endpoint, error) from error


def _ours(endpoint: str, error: Exception) -> EngineFailed:
    """Return what an exception of a client means."""
    status = getattr(error, "getGrpcStatusCode", None) or getattr(error, "code", None)
    if callable(status) and status().name in _GONE:
        return _unreachable(endpoint)
    condition = getattr(error, "getCondition", lambda: None)()
    return EngineFailed(
        f"The engine at {endpoint} failed ({condition or type(error).__name__}).",
        hint="Nothing of this was kept: look into the engine's log, then run it again.",
        endpoint=endpoint,
    )


def _unreachable(endpoint: str) -> EngineFailed:
    """Return the error of an engine that nothing is heard of."""
    return EngineFailed(
        f"The engine at {endpoint} cannot be reached.",
        code=UNREACHABLE,
        hint="Look whether it runs and lets this machine in, then run it again.",
        endpoint=endpoint,
    )


def _builder(url: str) -> DefaultChannelBuilder:
    with _extra_named():
        from pyspark.errors import PySparkValueError  # noqa: PLC0415 - heavy, and an extra
        from pyspark.sql.connect.client import DefaultChannelBuilder  # noqa: PLC0415 - the same
    try:
        return DefaultChannelBuilder(url, _CHANNEL)
    except (PySparkValueError, ValueError):
        # The address itself is not repeated: it may hold a token.
        raise UsageError(
            "This is no address of an engine.", hint="Give it as sc://host:port."
        ) from None


@contextmanager
def _extra_named() -> Iterator[None]:
    """Say which extra is missing, where one of its packages is."""
    try:
        with warnings.catch_warnings(action="ignore"):  # of newer versions of its own packages
            yield
    except ImportError as missing:
        if missing.name and missing.name.partition(".")[0] not in _EXTRA:
            raise
        raise UsageError(
            "An engine needs the extra spark.",
            code="extra_missing",
            hint="pip install 'cardoffers-cli[spark]'",
        ) from None


# Where an archive is: in a folder of this machine; `buckets.py` has what is below a URL.
#
# A `Place` is either, with the same methods; its text is how DuckDB names it, and two of the same
# text are equal.


_DIGESTS = "_digests"
"""Where the digests of the files of a folder are: a name that every engine leaves alone."""


@dataclass(frozen=True)
class Folder:
    """A folder of this machine."""

    path: Path

    def __str__(self) -> str:
        return str(self.path)

    def __truediv__(self, name: str) -> Folder:
        return Folder(self.path / name)

    def ready(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Let a connection that was just opened read and write below."""

    def names(self) -> list[str]:
        """Return what is in it, by name; nothing where it is not there."""
        return sorted(entry.name for entry in self.path.glob("*"))

    def files(self) -> dict[str, list[str]]:
        """Return the Parquet files in it and in its folders, by the folder that they are in."""
        files: dict[str, list[str]] = {}
        for pattern in ("*.parquet", "*/*.parquet"):  # which follow links, as ** does not
            for file in sorted(self.path.glob(pattern)):
                files.setdefault(str(file.parent), []).append(str(file))
        return files

    def make(self) -> None:
        """Make it, with those that it is in, whose names are then on the disk."""
        make_folder(self.path)

    def settle(self) -> None:
        """Sync its files, itself and the two that it is in: they must outlive a loss of power.

        What it holds is then never changed, and noted so that `damaged` can tell.
        """
        digests = {}
        for file in sorted(self.path.iterdir()):
            if file.name != _DIGESTS:
                with file.open("rb") as written:
                    digests[file.name] = file_digest(written, "sha256").hexdigest()
                    os.fsync(written.fileno())
        with no_space_said(str(self)), (self.path / _DIGESTS).open("w", encoding="utf-8") as out:
            json.dump(digests, out)
            out.flush()
            os.fsync(out.fileno())
        for folder in (self.path, *self.path.parents[:2]):
            sync_folder_if_possible(folder)

    def damaged(self) -> list[str]:
        """Return its files whose digest is another; one that was settled without them has none."""
        try:
            digests = json.loads((self.path / _DIGESTS).read_bytes())
            return [name for name in digests if _digest(self.path / name) != digests[name]]
        except FileNotFoundError:
            return []
        except (ValueError, TypeError):
            return [_DIGESTS]

    def remove(self) -> None:
        """Remove it with everything in it, as far as that can be; never raises."""
        shutil.rmtree(self.path, ignore_errors=True)


def _digest(file: Path) -> str | None:
    """Return the SHA-256 of a file, in hex, or None where it is gone."""
    try:
        with file.open("rb") as content:
            return file_digest(content, "sha256").hexdigest()
    except FileNotFoundError:
        return None


@contextmanager
def no_space_said(folder: str) -> Iterator[None]:
    """Say which disk is full, where one is."""
    try:
        yield
    except (NoSpace, OSError) as error:
        if isinstance(error, OSError) and error.errno not in {errno.ENOSPC, errno.EDQUOT}:
            raise
        raise NoSpace(
            f"The disk that holds {folder} is full.",
            hint="Free some space there and run it again: the history is as it was.",
        ) from None
